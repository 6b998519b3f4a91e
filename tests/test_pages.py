"""The paper's rules for reading a page, in English and Chinese."""

import time

import pytest

from tools.pages import first_sentences, lookup, not_found, sentences


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("Dr. Who lives in the U.S. today. Yes.", ["Dr. Who lives in the U.S. today.", "Yes."]),
        ("J. R. R. Tolkien wrote it. So did I. Then rest.", ["J. R. R. Tolkien wrote it.", "So did I.", "Then rest."]),
        ("It is 3.5 m long. He said “stop.” Then left.", ["It is 3.5 m long.", "He said “stop.”", "Then left."]),
        ("一句。两句！“三句？”四句", ["一句。", "两句！", "“三句？”", "四句"]),
        ("Title\n\nFirst. Second.\nThird", ["Title", "First.", "Second.", "Third"]),
        ("", []),
        (" \n ", []),
    ],
)
def test_sentences(text: str, wanted: list[str]) -> None:
    assert sentences(text) == wanted


def test_the_beginning_is_five_sentences() -> None:
    assert first_sentences("One. Two. Three. Four. Five. Six.") == "One. Two. Three. Four. Five."
    assert first_sentences("一。二。三。", 2) == "一。二。"


def test_not_found_names_what_is_close() -> None:
    assert not_found("Pari", ["Paris", "Bari"]) == "Could not find Pari. Similar: [Paris, Bari]."
    assert not_found("x", []) == "Could not find x. Similar: []."


def test_lookup_counts_and_ends() -> None:
    text = "The cat sat. A dog ran. The CAT slept."
    assert lookup(text, "cat") == "(Result 1 / 2) The cat sat."
    assert lookup(text, "cat", 2) == "(Result 2 / 2) The CAT slept."
    assert lookup(text, "cat", 3) == "No more results."
    assert lookup(text, "bird") == lookup(text, " ") == "No more results."
    assert lookup("长江很长。黄河也长。", "黄河") == "(Result 1 / 1) 黄河也长。"


@pytest.mark.parametrize("mark", [".", '!"', "。", "\n", ". ", "a.", "。”", "?)"])
def test_a_hundred_thousand_marks_take_no_time(mark: str) -> None:
    began = time.process_time()
    sentences(mark * 100_000)
    assert time.process_time() - began < 1
