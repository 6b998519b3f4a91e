"""An expression as people and models write it, cut into plain tokens."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container
from dataclasses import dataclass

from tools.observation import ToolFailure

_MARKS = str.maketrans(
    {"×": "*", "·": "*", "⋅": "*", "∗": "*", "÷": "/", "∕": "/", "⁄": "/", "−": "-", "–": "-", "^": "**", "π": "pi"}
)
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9][0-9_]*)(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?"
    r"|\.[0-9]+(?:[eE][+-]?[0-9]+)?)|(?P<name>(?:math\.)?[A-Za-z][A-Za-z0-9_]*)|(?P<mark>\*\*|//|[-+*/%!(),]))"
)
_RAISED = re.compile("[⁰¹²³⁴-⁹⁻]+")
_FRACTION = re.compile("[¼-¾⅐-⅞]")
_NO_NUMBER = re.compile("[₀-₎①-⓿]")


@dataclass(frozen=True)
class Token:
    """One part of an expression."""

    kind: str
    text: str
    glued: bool
    """No space stands before it."""


def plain(text: str) -> str:
    """ASCII for the many ways to write a sum; a raised 2 is a power, not one more digit."""
    text = _RAISED.sub(lambda raised: f"**({raised.group()})", text)
    text = _FRACTION.sub(lambda part: f"({part.group()})", text)
    # Normalising would make 52 of 5₂ and 1 of ①.
    text = unicodedata.normalize("NFKC", _NO_NUMBER.sub("#", text)).translate(_MARKS)
    return text.replace("([", "(").replace("])", ")").strip().rstrip("=? \t\n")


def tokens(text: str, many: Container[str]) -> list[Token]:
    """The parts of a plain expression.

    Between the brackets of a function in `many` a comma parts numbers; elsewhere it may group thousands.

    Raises:
        ToolFailure: something in it is no part of an expression.
    """
    cut: list[Token] = []
    parting = [False]
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise ToolFailure(
                f"cannot read {text[at : at + 20].strip()!r}: use numbers, + - * / ** % ( ) and functions"
            )
        kind = found.lastgroup or ""
        start, at = found.span(kind)
        word = found[kind].lower().removeprefix("math.")
        if kind == "number" and parting[-1] and "," in word:
            word = _first(word, text)
            at = start + len(word)
        elif word == "(":
            parting.append(bool(cut) and cut[-1].text in many)
        elif word == ")" and len(parting) > 1:
            parting.pop()
        cut.append(Token(kind, word, start == found.start()))
    return cut


def _first(numbers: str, text: str) -> str:
    """1 of the `1,234` in max(1,234); where other commas of the text have spaces, 1234 may be meant."""
    if re.search(r",\s", text):
        raise ToolFailure(f"write {numbers} without commas inside a function")
    return numbers.partition(",")[0]
