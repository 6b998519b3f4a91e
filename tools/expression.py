"""An expression as people and models write it, cut into plain tokens."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container
from dataclasses import dataclass

from tools.observation import ToolFailure

_MARKS = str.maketrans(
    {"×": "*", "·": "*", "⋅": "*", "∗": "*", "÷": "/", "∕": "/", "−": "-", "–": "-", "^": "**", "π": "pi"}
)
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9][0-9_]*)(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?"
    r"|\.[0-9]+(?:[eE][+-]?[0-9]+)?)|(?P<name>(?:math\.)?[A-Za-z][A-Za-z0-9_]*)|(?P<mark>\*\*|//|[-+*/%!(),]))"
)


@dataclass(frozen=True)
class Token:
    """One part of an expression."""

    kind: str
    text: str
    glued: bool
    """No space stands before it."""


def plain(text: str) -> str:
    """ASCII for the many ways to write a sum; a raised 2 is a power, not a digit more."""
    text = re.sub("[⁰¹²³⁴-⁹⁻]+", lambda raised: f"**({unicodedata.normalize('NFKC', raised.group())})", text)
    text = re.sub("[¼-¾⅐-⅞]", lambda part: f"({unicodedata.normalize('NFKC', part.group())})", text)
    text = unicodedata.normalize("NFKC", text.replace("′", "'")).replace("\u2044", "/").translate(_MARKS)
    return text.replace("([", "(").replace("])", ")").strip().rstrip("=? \t\n")


def tokens(text: str, many: Container[str]) -> list[Token]:
    """The parts of a plain expression; `many` are the names of functions between whose brackets a comma parts numbers.

    Raises:
        ToolFailure: something in it is no part of an expression.
    """
    found_so_far: list[Token] = []
    calls: list[bool] = []
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
        if kind == "number" and "," in word and any(calls[-1:]):
            # Between the brackets of max(1,234) a comma parts two numbers.
            if re.search(r",\s", text):
                raise ToolFailure(f"write {word} without commas inside a function")
            word = word.partition(",")[0]
            at = start + len(word)
        elif word == "(":
            called = tokens[-1] if tokens else None
            calls.append(called is not None and called.kind == "name" and _FUNCTIONS.get(called.text, (0, 0, 1))[2] > 1)
        elif word == ")":
            del calls[-1:]
        tokens.append(_Token(kind, word, start == found.start()))
    return tokens


