"""Brackets, quotes and commas of calls written like code: `Tool["x"]`, `tool(a="x", n=3)`."""

from __future__ import annotations

import json
import re
from typing import Any

from nodes.dialects.objects import Unreadable, loads

_QUOTE_MARKS = "\"'“＂"
_SQUARE = ("[［【", re.compile(f"[{re.escape('[]［］【】')}{_QUOTE_MARKS}]"))
_ROUND = ("(（", re.compile(f"[()（）{_QUOTE_MARKS}]"))
_FAMILY = {"[": _SQUARE, "［": _SQUARE, "【": _SQUARE, "(": _ROUND, "（": _ROUND}
OPENERS = "".join(_FAMILY)
_DEEPEST = 64
_LONGEST = 32_776
MOST_PIECES = 64
"""No call takes more values; reading on would cost time and change nothing."""
_SPLITS = re.compile(r"[,，\[\](){}\"'“＂]")
QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "＂": "＂", "＇": "＇", "「": "」", "『": "』", "”": "”"}
_STARTS = "[({,=:［（【｛，＝：\n"
_GOES_ON = re.compile(r"\s*(?:[,\])}:，］）】｝：]|$)")
_NAMED = re.compile(r"\s*([^\W\d]\w{0,63})\s{0,8}(?:=(?!=)|＝)")
_WORDS = {"true": True, "false": False, "none": None, "null": None}


def closing(text: str, at: int) -> int:
    """Where the bracket at `at` closes, -1 if it does not; brackets inside quoted texts do not count, if that works."""
    found, skipped = _closing(text, at, strings=True)
    return found if found >= 0 or not skipped else _closing(text, at, strings=False)[0]


def _closing(text: str, at: int, *, strings: bool) -> tuple[int, bool]:
    """The place of the closing bracket, and whether quoted texts were passed over to find it."""
    opens, events = _FAMILY[text[at]]
    depth, place, skipped = 0, at, False
    # Arguments of more than this are refused, closed or not.
    while event := events.search(text, place, at + _LONGEST):
        place = event.end()
        mark = event[0]
        if mark in opens:
            depth += 1
            if depth > _DEEPEST:
                break
        elif mark not in _QUOTE_MARKS:
            depth -= 1
            if not depth:
                return event.start(), skipped
        elif strings and _starts(text, event.start()):
            end = _string_end(text, place, QUOTES[mark])
            # One string without an end, and no later one can be trusted to have one.
            strings = skipped = end >= 0
            place = end if strings else place
    return -1, skipped


def _starts(text: str, at: int) -> bool:
    before = at - 1
    while before >= 0 and at - before < 64 and text[before] in " \t":
        before -= 1
    return before < 0 or text[before] in _STARTS


def _string_end(text: str, at: int, quote: str) -> int:
    """Just after the quote that ends a text: not escaped, and followed by a comma, a bracket or the end."""
    end = at + _LONGEST
    while (found := text.find(quote, at, end)) >= 0:
        escapes = found
        while escapes > at and text[escapes - 1] == "\\":
            escapes -= 1
        if (found - escapes) % 2 == 0 and _GOES_ON.match(text, found + 1):
            return found + 1
        at = found + 1
    return -1


def quoted(text: str) -> bool:
    """Whether one pair of quotes encloses the whole text."""
    return len(text) > 1 and text[0] in QUOTES and text[-1] == QUOTES[text[0]] and _encloses(text[1:-1], text[0])


def unquoted(text: str) -> str:
    """The text without one pair of quotes that encloses all of it; in double quotes, JSON's escapes are read."""
    text = text.strip()
    for triple in ('"""', "'''"):
        if len(text) > 5 and text.startswith(triple) and text.endswith(triple):
            return text[3:-3].strip("\n")
    if text.startswith('"') and text.endswith('"'):
        try:
            value = json.loads(text, strict=False)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, str):
            return value
    if not quoted(text):
        return text
    return text[1:-1].replace(f"\\{text[0]}", text[0]) if text[0] == QUOTES[text[0]] else text[1:-1]


def _encloses(inner: str, quote: str) -> bool:
    """Quotes inside are the text's own if they come in pairs, each opening before a word and closing after one."""
    opened = False
    at = -1
    while (at := inner.find(quote, at + 1)) >= 0:
        before, after = inner[at - 1 : at], inner[at + 1 : at + 2]
        if before == "\\" or before.isalnum() and after.isalnum():
            continue
        if not opened and not (before == "" or before.isspace() or before in "([{=:（，"):
            return False
        opened = not opened
    return not opened


def pieces(text: str) -> list[str]:
    """The text split at its commas, but not inside quotes and brackets."""
    found: list[str] = []
    depth, start, place = 0, 0, 0
    strings = True
    while len(found) < MOST_PIECES and (event := _SPLITS.search(text, place)):
        place = event.end()
        mark = event[0]
        if mark in ",，":
            if depth == 0:
                found.append(text[start : event.start()])
                start = place
        elif mark in "[({":
            depth += 1
        elif mark in "])}":
            depth = max(0, depth - 1)
        elif strings and _starts(text, event.start()):
            end = _string_end(text, place, QUOTES[mark])
            strings = end >= 0
            place = end if strings else place
    rest = text[start:]
    return [*found, rest] if rest.strip() or found else []


def named(text: str, parameters: object) -> dict[str, Any] | None:
    """`a="x", n=3` as values by name; None if the text does not begin with the name of a parameter."""
    begins = _NAMED.match(text)
    if begins is None or begins[1] not in parameters:  # type: ignore[operator]
        return None
    values: dict[str, str] = {}
    last = ""
    for piece in pieces(text):
        name = _NAMED.match(piece)
        if name is None:
            values[last] = f"{values[last]},{piece}"
        elif name[1] in values:
            return None
        else:
            last = name[1]
            values[last] = piece[name.end() :]
    return {name: literal(value) for name, value in values.items()}


def literal(piece: str) -> Any:
    """The value of one piece: a quoted text, a word of JSON or Python, a list or an object; else its text.

    Numbers stay texts: the schema knows whether they are.
    """
    text = piece.strip()
    if text.lower() in _WORDS and text not in ("NONE", "NULL"):
        return _WORDS[text.lower()]
    if text[:1] in ("{", "["):
        try:
            return loads(text)
        except Unreadable:
            return text
    return unquoted(text)


def is_literal(piece: str) -> bool:
    """Whether a piece is written as a value on its own: quoted, a number, or a word of JSON or Python."""
    text = piece.strip()
    return quoted(text) or text.lower() in _WORDS or re.fullmatch(r"[+-]?\d{1,32}(\.\d{1,32})?", text) is not None
