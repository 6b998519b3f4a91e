"""JSON values out of a model's text: strictly where it is JSON, mended where only one meaning is possible."""

from __future__ import annotations

from typing import Any


class Unreadable(ValueError):
    """A text that is no JSON value; the message says why in one sentence."""


def loads(text: str) -> Any:
    """The value that the whole text stands for: strict JSON first, then a Python literal, then mended.

    Raises:
        Unreadable: not a value, or one that is refused (duplicate keys, NaN, too deep, too long, cut off).
    """
    raise Unreadable("not written yet")
