"""Whatever a tool returned, as plain JSON values of bounded depth and size, or as the text it stands for."""

from __future__ import annotations

import dataclasses
import enum
import json
import math
import re
from collections import deque
from collections.abc import Iterable, KeysView, Mapping, Sequence, Set, ValuesView
from itertools import islice
from typing import Any

MAX_DEPTH = 32
MAX_ITEMS = 10_000
"""Items of one list or mapping that are kept."""
MAX_NODES = 100_000
"""Values kept in all."""
MAX_TEXT = 1_000_000
"""Characters of one text that are kept."""
SAFE_INT = 2**53
CUT = "[…]"

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+>")
_MESSAGES = ("tool", "ai", "human", "system", "function", "AIMessageChunk")
_MEDIA = ("image", "image_url", "audio", "video", "file", "input_audio", "text-plain", "resource", "resource_link")
_BLOCK_KEYS = {"type", "text", "id", "index", "annotations", "extras", "citations", "cache_control", "meta", "_meta"}


class Unreadable(ValueError):
    """A value that cannot be made text."""


def as_text(value: Any) -> str:
    """A value as text: a string as it is, content blocks as their words, everything else as JSON.

    Raises:
        Unreadable: it is no value (a generator, a function, an exception), or it cannot be shown.
    """
    try:
        return _text(value)
    except Unreadable:
        raise
    except Exception as error:
        raise Unreadable(f"a {type(value).__name__} cannot be shown") from error


def _text(value: Any) -> str:
    if isinstance(value, str):
        return "".join([value])
    if value is None:
        return "(nothing)"
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _decoded(value)
    if (blocks := _blocks(value)) is not None:
        return blocks
    made = _Plain().of(value, 0, frozenset())
    return made if isinstance(made, str) else json.dumps(made, ensure_ascii=False)


def _decoded(value: bytes | bytearray | memoryview) -> str:
    size = value.nbytes if isinstance(value, memoryview) else len(value)
    kept = bytes(value) if size <= MAX_TEXT else bytes(memoryview(value).cast("B")[:MAX_TEXT])
    if b"\0" in kept[:8192]:
        return f"({size:,} bytes that are not text)"
    text = kept.decode("utf-8", "replace")
    return text if size <= MAX_TEXT else f"{text}\n[… {size - MAX_TEXT:,} bytes cut …]"


def _blocks(value: Any) -> str | None:
    """The words of a message or of a list of content blocks; None for what is neither."""
    content = value
    if getattr(value, "type", None) in _MESSAGES and hasattr(value, "content"):
        content = value.content
        if isinstance(content, str):
            return content
    if not isinstance(content, list) or not 0 < len(content) <= MAX_ITEMS:
        return None
    shown = [_block(each) for each in content]
    words = any(not isinstance(each, str) and line for each, line in zip(content, shown, strict=True))
    return "\n".join(line for line in shown if line is not None) if words and None not in shown else None


def _block(block: Any) -> str | None:
    if isinstance(block, str):
        return block
    if not isinstance(block, Mapping):
        return None
    kind, text = block.get("type"), block.get("text")
    if kind == "text" and isinstance(text, str) and set(block) <= _BLOCK_KEYS:
        return text
    return f"[{kind}]" if kind in _MEDIA else None


class _Plain:
    """One value made plain, within one budget of nodes."""

    def __init__(self) -> None:
        self.left = MAX_NODES

    def of(self, value: Any, depth: int, above: frozenset[int]) -> Any:
        self.left -= 1
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return "".join([value])[:MAX_TEXT]
        if isinstance(value, enum.Enum):
            return self.of(value.value, depth, above)
        if isinstance(value, int):
            return int(value) if abs(value) <= SAFE_INT else _digits(int(value))
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else str(float(value))
        if isinstance(value, (bytes, bytearray, memoryview)):
            return _decoded(value)
        if depth >= MAX_DEPTH or self.left <= 0 or id(value) in above:
            return CUT
        return self.inside(_opened(value), depth + 1, above | {id(value)})

    def inside(self, value: Any, depth: int, above: frozenset[int]) -> Any:
        if isinstance(value, Mapping):
            pairs = islice(value.items(), MAX_ITEMS)
            made: Any = {_key(key): self.of(inner, depth, above) for key, inner in pairs if self.left > 0}
            return made | ({CUT: len(value) - len(made)} if len(made) < len(value) and self.cuts(value) else {})
        if isinstance(value, (Set, KeysView)) and not isinstance(value, range):
            return self.listed(_ordered(value), len(value), depth, above)
        if isinstance(value, (Sequence, deque, ValuesView)) and not isinstance(value, (str, range)):
            return self.listed(value, len(value), depth, above)
        return value if _is_plain(value) else _shown(value)

    def listed(self, items: Iterable[Any], size: int, depth: int, above: frozenset[int]) -> list[Any]:
        made = [self.of(inner, depth, above) for inner in islice(items, MAX_ITEMS) if self.left > 0]
        return [*made, f"[… {size - len(made):,} more …]"] if size > len(made) else made

    def cuts(self, value: Mapping[Any, Any]) -> bool:
        """Whether a mapping came out shorter because of its size, and not because two keys read alike."""
        return len(value) > MAX_ITEMS or self.left <= 0


def _opened(value: Any) -> Any:
    """What is inside of an object that says what it holds."""
    if isinstance(value, type):
        return value
    if callable(getattr(value, "model_dump", None)):
        return value.model_dump()
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return value._asdict()
    return value.tolist() if callable(getattr(value, "tolist", None)) else value


def _is_plain(value: Any) -> bool:
    return isinstance(value, (bool, int, float)) and math.isfinite(value) and abs(value) <= SAFE_INT


def _ordered(items: Iterable[Any]) -> list[Any]:
    """The items of a set in an order that does not change from run to run."""
    try:
        return sorted(items)
    except TypeError:
        return sorted(items, key=lambda each: (type(each).__name__, repr(each)))


def _key(key: Any) -> str:
    if isinstance(key, str):
        return "".join([key])[:MAX_TEXT]
    return _digits(key) if isinstance(key, int) and not isinstance(key, bool) else _shown(key)


def _shown(value: Any) -> str:
    """An object by its own words, where it has some: a date, a decimal, a path."""
    name = type(value).__name__
    if isinstance(value, (BaseException, type)) or callable(value) or hasattr(value, "__await__"):
        raise Unreadable(f"a {name} is not a result")
    if hasattr(value, "__next__") or hasattr(value, "__anext__"):
        raise Unreadable(f"a {name} is not a result")
    text = str(value)
    if _ADDRESS.search(text[-40:]):
        raise Unreadable(f"a {name} cannot be shown")
    return text[:MAX_TEXT]


def _digits(value: int) -> str:
    try:
        return str(value)
    except ValueError:
        return f"an integer of {value.bit_length():,} bits"
