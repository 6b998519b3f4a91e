"""Slips of JSON put right in one pass over the text, as long as they have only one meaning."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

OPENERS = {"{": "}", "[": "]", "｛": "}", "［": "]"}
_CLOSERS = {"}": "}", "]": "]", "｝": "}", "］": "]"}
_MARKS = {",": ",", "，": ",", "、": ",", ":": ":", "：": ":"}
_QUOTES = {'"': '"', "'": "'", "“": "”", "”": "”", "‘": "’", "’": "’", "＂": "＂", "＇": "＇", "`": "`"}
_WORDS = {"True": "true", "False": "false", "None": "null", "true": "true", "false": "false", "null": "null"}
_GAP = re.compile(r"(?:\s+|//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)*")
_BARE = re.compile(r"[^\s,，、:：{}\[\]｛｝［］\"'“”‘’＂＇`]+")
_IDENTIFIER = re.compile(r"[^\W\d][\w.$-]{0,127}")
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?|NaN|-?Infinity")
_AFTER_KEY = re.compile(r"\s*[:：]")
_AFTER_ITEM = re.compile(r"\s*(?:[,，、}\]｝］]|$)")
# In an object a comma ends a text only if a key follows, so `"print("a", "b")"` is one text.
_AFTER_VALUE = re.compile(
    r"\s*(?:[}\]｝］]|$|[,，]\s*(?:[}｝]|[\"'“‘＂][^\"'“”‘’＂\n]{1,128}[\"'”’＂]\s*[:：]|[\w.$-]{1,128}\s*[:：]))"
)
_GLUED = re.compile(r"[\"'”’＂]\s*[:：=]")
_SLIP = re.compile(r"\\(u[0-9a-fA-F]{4}|.)|\"", re.S)
_REPAIRABLE = 8192


@dataclass
class Mended:
    """What a pass over a value that starts with a bracket found."""

    end: int = -1
    """Where the value ends, -1 if it does not."""
    missing: str = ""
    """What would close it: brackets, and a quote first if it ends inside a string."""
    crossed: bool = False
    """A bracket is closed by one of another kind."""
    sound: bool = True
    """Whether every piece had one meaning; only then is `text` to be read."""
    colons: int = 0
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The value as strict JSON."""
        return "".join(self.pieces)


def mend(text: str, start: int, deepest: int) -> Mended:
    """Pass once over the value at `start` up to its closing bracket, or to where it is nested too deep."""
    made = Mended()
    stack: list[str] = []
    at = start
    while at < len(text):
        mark = text[at]
        if mark in OPENERS:
            stack.append(OPENERS[mark])
            made.pieces.append("{" if OPENERS[mark] == "}" else "[")
            at += 1
        elif mark in _CLOSERS:
            _close(made, stack, _CLOSERS[mark])
            at += 1
        elif mark in _QUOTES:
            at = _string(made, text, at, stack)
        else:
            at = _word(made, text, at, stack)
        if not stack or len(stack) > deepest or made.crossed or not made.sound and at - start > _REPAIRABLE:
            break
        at = _skipped(text, at)
    made.missing = made.missing + "".join(reversed(stack))
    made.end = at if not made.missing else -1
    return made


def _skipped(text: str, at: int) -> int:
    gap = _GAP.match(text, at)
    return gap.end() if gap else at


def _starts_key(made: Mended, stack: list[str]) -> bool:
    """Whether the next piece is a key; a comma missing before it is put there."""
    before = made.pieces[-1]
    if stack[-1] != "}" or before == ":":
        return False
    if before not in ("{", ","):
        made.pieces.append(",")
    return True


def _close(made: Mended, stack: list[str], closer: str) -> None:
    if made.pieces[-1] == ",":
        made.pieces.pop()
    made.crossed = stack.pop() != closer
    made.pieces.append(closer)


def _string(made: Mended, text: str, at: int, stack: list[str]) -> int:
    """A string ends at a quote of its kind after which the structure goes on; others belong to it."""
    closing = _QUOTES[text[at]]
    if text.startswith(closing * 3, at) and (triple := text.find(closing * 3, at + 3)) >= 0:
        _starts_key(made, stack)
        made.pieces.append(json.dumps(text[at + 3 : triple]))
        return triple + 3
    key = _starts_key(made, stack)
    after = _AFTER_KEY if key else _AFTER_VALUE if stack[-1] == "}" else _AFTER_ITEM
    end = at + 1
    nested = False
    while (end := _next(text, end, closing)) >= 0 and not after.match(text, end + 1):
        nested = True
        end += 1
    if end < 0:
        made.missing = '"'
        return len(text)
    inner = text[at + 1 : end]
    if nested and (key or _GLUED.search(inner)):
        # Two strings run into one by a quote that is missing.
        made.sound = False
    made.pieces.append(f'"{_SLIP.sub(_put_right, inner)}"')
    return end + 1


def _next(text: str, at: int, mark: str) -> int:
    """The next `mark` that no backslash escapes."""
    while (found := text.find(mark, at)) >= 0:
        before = found - 1
        while before >= at and text[before] == "\\":
            before -= 1
        if (found - before) % 2:
            return found
        at = found + 1
    return -1


def _put_right(slip: re.Match[str]) -> str:
    escaped = slip[1]
    if escaped is None:
        return '\\"'
    if escaped[0] == "u" and len(escaped) == 5 or escaped in '"\\/bfnrt':
        return slip[0]
    return escaped if escaped in "'’‘“”" else f"\\\\{escaped}"


def _word(made: Mended, text: str, at: int, stack: list[str]) -> int:
    """A mark between values, a bare key, a number, or one of the words that JSON and Python have."""
    if text[at] in _MARKS:
        made.pieces.append(_MARKS[text[at]])
        made.colons += _MARKS[text[at]] == ":"
        return at + 1
    bare = _BARE.match(text, at)
    if bare is None:
        made.sound = False
        return at + 1
    word = bare[0]
    key = _starts_key(made, stack)
    if key and _IDENTIFIER.fullmatch(word):
        made.pieces.append(json.dumps(word))
    elif not key and (word in _WORDS or _NUMBER.fullmatch(word)):
        made.pieces.append(_WORDS.get(word, word))
    else:
        made.sound = False
        made.pieces.append(word)
    return bare.end()


def repaired(piece: str, colons: int) -> dict[str, Any] | None:
    """An object that lacks a comma or a quote, by the library; None if that took more than one meaning.

    The library always finds something. It is believed only if every key and every text of its object stands in the
    piece as such, no key is gone, and no quote is left over.
    """
    if len(piece) > _REPAIRABLE or piece.count('"') % 2:
        return None
    from json_repair import repair_json

    try:
        value = repair_json(piece, return_objects=True, skip_json_loads=True)
    except (ValueError, RecursionError):
        return None
    keys: list[str] = []
    texts: list[str] = []
    if not isinstance(value, dict) or not _stands(value, piece, keys, texts) or len(keys) != colons:
        return None
    # Quotes that delimit nothing in the object belonged to a text that the library left out.
    return value if piece.count('"') <= 2 * (len(keys) + len(texts)) else None


def _stands(value: Any, piece: str, keys: list[str], texts: list[str]) -> bool:
    if isinstance(value, dict):
        keys.extend(value)
        named = all(_IDENTIFIER.fullmatch(key) and key in piece for key in value)
        return named and all(_stands(one, piece, keys, texts) for one in value.values())
    if isinstance(value, list):
        return all(_stands(one, piece, keys, texts) for one in value)
    if isinstance(value, str):
        texts.append(value)
        return bool(value.strip()) and value in piece and '"' not in value
    return True
