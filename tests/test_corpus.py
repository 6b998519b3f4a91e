"""The offline encyclopedia finds pages in English and Chinese, and says what is close where it finds none."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tools.arguments import coerce
from tools.corpus import Article, Corpus, corpus_tools, shipped
from tools.observation import ToolFailure
from tools.pages import first_sentences, lookup, sentences
from tools.toolbox import Toolbox

CORPUS = Corpus()
TOOLBOX = Toolbox(corpus_tools(CORPUS))
ARTICLES = [
    Article("Lake Sample", "Lake Sample is a lake. It is deep. It is cold. Fish live in it. Nobody swims. Sixth line."),
    Article("示例湖", "示例湖是一个湖。湖里有鱼。", "zh"),
]


def run(name: str, **args: Any) -> str:
    tool = TOOLBOX[name]
    assert tool.function is not None
    return str(tool.function(**coerce(tool, args)))


def test_the_shipped_articles_are_whole() -> None:
    articles = shipped()
    assert len(articles) >= 40
    assert len({article.title.casefold() for article in articles}) == len(articles)
    assert {article.language for article in articles} == {"en", "zh"}
    assert all(2 <= len(sentences(article.text)) <= 12 for article in articles)


def test_a_search_gives_the_first_five_sentences() -> None:
    search = corpus_tools(Corpus(ARTICLES))[0].function
    assert search is not None
    assert search("Lake Sample") == "Lake Sample is a lake. It is deep. It is cold. Fish live in it. Nobody swims."
    assert search("示例湖") == "示例湖是一个湖。湖里有鱼。"


@pytest.mark.parametrize("article", shipped(), ids=lambda article: article.title)
def test_every_article_is_found_by_its_title(article: Article) -> None:
    assert run("search", query=article.title.upper()) == first_sentences(article.text)


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("Einstein", "Albert Einstein"),
        ("Who designed the Statue of Liberty?", "Statue of Liberty"),
        ("capital of Australia", "Canberra"),
        ("《西游记》", "西游记"),
        ("京", "北京"),
        ("熊猫", "大熊猫"),
        ("奥运", "奥运会"),
        ("青蒿素", "屠呦呦"),
        ("退货", "退货政策"),
        ("ＤＮＡ", "DNA"),
        ('"Mona" OR (Lisa*)', "Mona Lisa"),
        ('title: "Atlantis" NOT *', None),
    ],
)
def test_a_page_is_found_by_words_of_it(query: str, title: str | None) -> None:
    found = Corpus().find(query)
    assert (found and found.title) == title


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("Albert Einstien", "Could not find Albert Einstien. Similar: [Albert Einstein]."),
        ("Atlantis", "Could not find Atlantis. Similar: []."),
        ("圆周率是谁算出来的", "Could not find 圆周率是谁算出来的. Similar: [祖冲之]."),
    ],
)
def test_what_is_not_there_is_answered_by_what_is_close(query: str, told: str) -> None:
    assert run("search", query=query) == told


def test_at_most_five_are_similar() -> None:
    assert len(Corpus().similar("the river in China that the French mathematician of 1889 saw")) == 5


def test_lookup_goes_through_the_sentences_with_a_word() -> None:
    def look(number: int) -> str:
        return run("lookup", keyword="NOBEL", page="Marie Curie", number=number)

    assert look(1).startswith("(Result 1 / 2) She shared the Nobel Prize in Physics of 1903")
    assert look(2).startswith("(Result 2 / 2) She received the Nobel Prize in Chemistry")
    assert look(3) == "No more results."
    assert look(1) == run("lookup", keyword="Nobel", page="Marie Curie")


def test_lookup_says_when_there_is_no_such_page() -> None:
    assert run("lookup", keyword="x", page="Eifel Tower").startswith(
        "Could not find Eifel Tower. Similar: [Eiffel Tower"
    )


def test_lookup_of_what_no_sentence_has() -> None:
    assert run("lookup", keyword="banana", page="Mars") == "No more results."
    assert run("lookup", keyword=" ", page="Mars") == "No more results."


def test_an_empty_query_is_refused() -> None:
    with pytest.raises(ToolFailure, match="empty"):
        run("search", query="  ")


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Dr. Who came. He left.", ["Dr. Who came.", "He left."]),
        ("It is 3.5 m long. True.", ["It is 3.5 m long.", "True."]),
        ("I. M. Pei built it. In 1989.", ["I. M. Pei built it.", "In 1989."]),
        ("Really?! Yes.", ["Really?!", "Yes."]),
        ("湖。“深吗？”深。", ["湖。", "“深吗？”", "深。"]),
        ("one line\nanother", ["one line", "another"]),
        ("", []),
    ],
)
def test_sentences(text: str, pieces: list[str]) -> None:
    assert sentences(text) == pieces


def test_paging_never_shows_less_than_one() -> None:
    assert lookup("A lake. A sea.", "a", 0) == lookup("A lake. A sea.", "a", -3) == "(Result 1 / 2) A lake."


def test_many_threads_ask_at_once() -> None:
    corpus = Corpus()
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda i: corpus.find(("Paris", "长江")[i % 2]), range(200)))
    assert [article.title if article else "" for article in found] == ["Paris", "长江"] * 100


def test_the_index_is_built_again_after_closing() -> None:
    corpus = Corpus(ARTICLES)
    assert corpus.find("lake")
    corpus.close()
    assert corpus.find("湖")


def test_the_index_is_built_quickly() -> None:
    began = time.process_time()
    assert Corpus().find("Paris")
    assert time.process_time() - began < 0.5


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=80))
def test_no_query_is_syntax(query: str) -> None:
    CORPUS.find(query)
    assert len(CORPUS.similar(query)) <= 5


@pytest.mark.parametrize(
    "make", [lambda: "a" * 100_000, lambda: "湖" * 100_000, lambda: '" ' * 50_000, lambda: ". " * 50_000]
)
def test_a_long_query_is_quick(make: Callable[[], str]) -> None:
    began = time.process_time()
    told = run("search", query="x" + make())
    assert time.process_time() - began < 0.5
    assert len(told) < 500


def test_a_long_text_is_split_in_linear_time() -> None:
    for piece in ("a.", "?!", "a. ", "。", "\n", "'\"", "Dr. "):
        began = time.process_time()
        sentences(piece * 100_000)
        assert time.process_time() - began < 2, piece


def test_the_tools_only_read_and_take_the_page_by_name() -> None:
    assert [(tool.name, tool.effect, tool.idempotent) for tool in TOOLBOX.values()] == [
        ("search", "read", True),
        ("lookup", "read", True),
    ]
    assert TOOLBOX["lookup"].required == ["keyword", "page"]
