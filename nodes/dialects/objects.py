"""JSON values out of a model's text: strictly where it is JSON, mended where only one meaning is possible."""

from __future__ import annotations

import json
import math
from typing import Any

from nodes.dialects.mending import OPENERS, Mended, mend, repaired

LONGEST = 65_536
DEEPEST = 32


class Unreadable(ValueError):
    """A text that is no JSON value; the message says why."""

    def __init__(self, why: str, *, cut: bool = False) -> None:
        super().__init__(why)
        self.cut = cut
        """The text ends inside the value."""


def loads(text: str, *, truncated: bool = False) -> Any:
    """The value that the whole text stands for.

    Strict JSON first, then with its slips mended: Python literals, full-width punctuation, quotes of other kinds, bare
    keys, raw line breaks, escapes that do not exist, one closing brace missing (unless the reply was `truncated`).

    Raises:
        Unreadable: not a value, or one that is refused: duplicate keys, NaN, too deep, too long, cut off.
    """
    value, end = first(text, truncated=truncated)
    if text[end:].strip():
        raise Unreadable("there is more text after the value")
    return value


def first(text: str, start: int = 0, *, truncated: bool = False) -> tuple[Any, int]:
    """The first value in the text from `start` on, and where it ends.

    Raises:
        Unreadable: as `loads`; text after the value is no fault here.
    """
    if len(text) - start > LONGEST:
        raise Unreadable(f"it is longer than {LONGEST // 1024} kB")
    while start < len(text) and text[start].isspace():
        start += 1
    try:
        value, end = _DECODER.raw_decode(text, start)
    except _Refused as refused:
        raise Unreadable(str(refused)) from None
    except (ValueError, RecursionError):
        value, end = _lenient(text, start, truncated)
    _measure(value)
    return value, end


class _Refused(ValueError):
    """Valid for Python's reader, not for us."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise _Refused(f"the key {twice[:40]!r} stands twice")
    return made


def _refuse(constant: str) -> Any:
    raise _Refused(f"{constant} is not a JSON value")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise _Refused("a number is too large")
    return number


def _whole(digits: str) -> int:
    if len(digits) > 4300:
        raise _Refused("a number has more than 4300 digits")
    return int(digits)


# Raw line breaks inside strings have only one meaning, so they are taken as they stand.
_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique, parse_constant=_refuse, parse_float=_finite, parse_int=_whole, strict=False
)


def _lenient(text: str, start: int, truncated: bool) -> tuple[Any, int]:
    if start >= len(text) or text[start] not in OPENERS:
        raise Unreadable("there is no JSON value")
    made = mend(text, start, DEEPEST)
    if len(made.missing) > DEEPEST:
        raise Unreadable(f"it is nested deeper than {DEEPEST}")
    if made.crossed:
        raise Unreadable("its brackets do not match")
    if made.end < 0:
        if truncated or made.missing != "}" or len(made.pieces) < 2:
            raise Unreadable("it is not closed", cut=True)
        made.pieces.append("}")
        made.end = len(text)
    return _decoded(made, text[start : made.end]), made.end


def _decoded(made: Mended, piece: str) -> Any:
    try:
        if made.sound:
            return _DECODER.decode(made.text)
    except _Refused as refused:
        raise Unreadable(str(refused)) from None
    except (ValueError, RecursionError):
        pass
    value = repaired(piece, made.colons)
    if value is None:
        raise Unreadable("it is not valid JSON")
    return value


def _measure(value: Any, depth: int = 0) -> None:
    if not isinstance(value, (dict, list)):
        return
    if depth >= DEEPEST:
        raise Unreadable(f"it is nested deeper than {DEEPEST}")
    inner = value.values() if isinstance(value, dict) else value
    for one in inner:
        _measure(one, depth + 1)
