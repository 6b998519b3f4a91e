"""What a page gives to read, by the paper's rules: its first sentences, its sentences with a word, or names alike."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

NO_MORE = "No more results."

# The lookbehind lets a run of marks match from its first mark only, so that long runs stay linear.
_ENDS = re.compile(r"(?<![.!?])[.!?]+[\"'”’)\]]*(?=\s)|[。！？]+[”’」』）》]*|\n+")
# fmt: off
_ABBREVIATIONS = frozenset([
    "approx", "ca", "cf", "dr", "e.g", "etc", "fig", "i.e", "inc", "jr", "ltd", "mr", "mrs", "ms", "no", "prof", "sr",
    "st", "vol", "vs",
])
# fmt: on


def sentences(text: str) -> list[str]:
    """The sentences of an English or Chinese text, in order; a line break ends one too."""
    found: list[str] = []
    start = 0
    for mark in _ENDS.finditer(text):
        if mark[0] != "." or not _abbreviates(text, start, mark.start()):
            found.append(text[start : mark.end()])
            start = mark.end()
    found.append(text[start:])
    return [sentence for piece in found if (sentence := piece.strip())]


def _abbreviates(text: str, start: int, end: int) -> bool:
    """Whether the dot at `end` belongs to a word such as `Dr.`, `U.S.` or an initial, and ends no sentence."""
    words = text[max(start, end - 16) : end].split()
    last = words[-1].lstrip("(\"'“‘") if words else ""
    initials = all(len(letter) == 1 and letter.isalpha() and letter.isascii() for letter in last.split("."))
    return bool(last) and ((initials and (last != "I" or len(words) == 1)) or last.lower() in _ABBREVIATIONS)


def first_sentences(text: str, count: int = 5) -> str:
    """The beginning of a page."""
    return joined(sentences(text)[:count])


def joined(parts: Sequence[str]) -> str:
    """Sentences as one text: a space between them, none after a Chinese full stop."""
    text = ""
    for part in parts:
        text += part if not text or text[-1] in "。！？”」』）" else f" {part}"
    return text


def not_found(title: str, similar: Sequence[str]) -> str:
    """What a search for a page that is not there gives: the names that come close, for the next try."""
    return f"Could not find {title}. Similar: [{', '.join(similar)}]."


def lookup(text: str, keyword: str, number: int = 1) -> str:
    """The `number`-th sentence of a text with `keyword` in it, whatever the case, and how many there are."""
    wanted = plain(keyword)
    found = [sentence for sentence in sentences(text) if wanted in plain(sentence)] if wanted else []
    number = max(1, number)
    if number > len(found):
        return NO_MORE
    return f"(Result {number} / {len(found)}) {found[number - 1]}"


def plain(text: str) -> str:
    """Text without the differences that do not matter when names and words are compared."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
