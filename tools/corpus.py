"""A small encyclopedia on this machine, English and Chinese, to search and look things up in without a network."""

from __future__ import annotations

import difflib
import json
import re
import sqlite3
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tools.observation import ToolFailure
from tools.pages import first_sentences, lookup, not_found, plain
from tools.tool import Tool, tool

SHIPPED = Path(__file__).with_name("data") / "corpus.jsonl"
SIMILAR = 5
MAX_QUERY = 200
"""Characters of a query that are read; more is not a name and only costs time."""

_CJK = re.compile(r"([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff])")
_WORD = re.compile(r"\w+")
# fmt: off
_IDLE = frozenset([
    "a", "about", "an", "and", "are", "at", "by", "did", "do", "does", "for", "from", "how", "in", "is", "it", "many",
    "me", "much", "of", "on", "or", "tell", "the", "to", "was", "were", "what", "when", "where", "which", "who",
    "whom", "whose", "why", "with",
])
# fmt: on


@dataclass(frozen=True)
class Article:
    """One page."""

    title: str
    text: str
    language: str = "en"


def shipped() -> list[Article]:
    """The articles that come with reasonact."""
    return [Article(**json.loads(line)) for line in SHIPPED.read_text(encoding="utf-8").splitlines() if line]


class Corpus:
    """Articles in SQLite's full-text index, built in memory when first asked; any thread may ask."""

    def __init__(self, articles: Iterable[Article] | None = None) -> None:
        self._given = articles
        self._lock = threading.Lock()
        self._index: sqlite3.Connection | None = None
        self._titles: dict[str, Article] = {}
        self._spelt: dict[str, str] = {}
        self._articles: list[Article] = []

    def find(self, query: str) -> Article | None:
        """The article of that title, else the best one with every word of the query in it."""
        with self._lock:
            self._build()
            if exact := self._titles.get(plain(query).strip("\"'[]《》「」“”?？。.! ")):
                return exact
            best = self._ranked(" AND ".join(_phrases(query)), 1)
            return best[0] if best else None

    def similar(self, query: str, count: int = SIMILAR) -> list[str]:
        """Titles spelt like the query, then those of articles that have something of it in them."""
        with self._lock:
            self._build()
            spelt = difflib.get_close_matches(plain(query[:MAX_QUERY]), self._spelt, n=count, cutoff=0.75)
            ranked = self._ranked(" OR ".join(_pieces(query)), count)
            close = [self._spelt[name] for name in spelt] + [article.title for article in ranked]
            return list(dict.fromkeys(close))[:count]

    def close(self) -> None:
        """Forget the index; the next question builds it again."""
        with self._lock:
            if self._index is not None:
                self._index.close()
                self._index = None

    def _build(self) -> None:
        if self._index is not None:
            return
        if not self._articles:
            self._articles = list(shipped() if self._given is None else self._given)
            self._titles = {plain(article.title): article for article in self._articles}
            words = {word: article.title for name, article in self._titles.items() for word in _words(name)}
            self._spelt = words | {name: article.title for name, article in self._titles.items()}
        index = sqlite3.connect(":memory:", check_same_thread=False)
        index.execute("CREATE VIRTUAL TABLE pages USING fts5(title, text, tokenize = 'porter unicode61')")
        rows = ((_spaced(article.title), _spaced(article.text)) for article in self._articles)
        index.executemany("INSERT INTO pages (title, text) VALUES (?, ?)", rows)
        self._index = index

    def _ranked(self, match: str, count: int) -> list[Article]:
        if not match or self._index is None:
            return []
        sql = "SELECT rowid FROM pages WHERE pages MATCH ? ORDER BY bm25(pages, 8.0, 1.0), rowid LIMIT ?"
        return [self._articles[row - 1] for (row,) in self._index.execute(sql, (match, count))]


def _spaced(text: str) -> str:
    """Text with spaces around each Chinese, Japanese or Korean character, so that each is a word to the index."""
    return _CJK.sub(r" \1 ", plain(text))


def _words(query: str) -> list[str]:
    words = _WORD.findall(plain(query[:MAX_QUERY]))
    return [word for word in words if word not in _IDLE] or words


def _phrases(query: str) -> list[str]:
    """Each word as an FTS5 string; a word has no quote in it, so that nothing in it can be syntax."""
    return [f'"{" ".join(_spaced(word).split())}"' for word in _words(query)]


def _pieces(query: str) -> list[str]:
    """Words, and of what is written without spaces each pair of characters: looked for when nothing fits whole."""
    pieces: list[str] = []
    for word in _words(query):
        marks = _spaced(word).split()
        pairs = [f'"{first} {second}"' for first, second in zip(marks, marks[1:], strict=False)]
        pieces += pairs or [f'"{marks[0]}"']
    return pieces


@cache
def _shipped_corpus() -> Corpus:
    return Corpus()


def corpus_tools(corpus: Corpus | None = None) -> list[Tool]:
    """`search` and `lookup` over a corpus, or over the one that comes with reasonact."""

    def pages() -> Corpus:
        return _shipped_corpus() if corpus is None else corpus

    @tool(effect="read", idempotent=True)
    def search(query: str) -> str:
        """Read the beginning of the encyclopedia page with this title, in English or Chinese, or get similar titles."""
        if not query.strip():
            raise ToolFailure("the query is empty; give a title such as Paris")
        page = pages().find(query)
        if page is None:
            return not_found(query.strip()[:MAX_QUERY], pages().similar(query))
        named = "" if plain(page.title) == plain(query) else f"(Page: {page.title}) "
        return named + first_sentences(page.text)

    @tool(name="lookup", effect="read", idempotent=True)
    def look_up(keyword: str, page: str, number: int = 1) -> str:
        """Find the sentence with this keyword on a page that search found; number 2 is the next such sentence."""
        found = pages().find(page)
        if found is None:
            return not_found(page.strip()[:MAX_QUERY], pages().similar(page))
        return lookup(found.text, keyword, number)

    return [search, look_up]
