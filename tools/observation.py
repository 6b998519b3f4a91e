"""What a tool returned, as bounded clean text, and what went wrong with it, as a sentence without secrets."""

from __future__ import annotations

import dataclasses
import json
import math
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MAX_DEPTH = 32
MAX_ITEMS = 10_000
SAFE_INT = 2**53


class ToolFailure(Exception):
    """Raised by a tool on purpose: its message is meant for the model and holds no secret."""


class Unreadable(ValueError):
    """A value that cannot be made text."""


@dataclass(frozen=True)
class Cleaned:
    """An observation's text."""

    text: str
    """At most as long as asked for; a marker stands where something was cut."""
    full: str
    """The whole text."""

    @property
    def cut(self) -> bool:
        """Whether the model does not see all of it."""
        return len(self.text) != len(self.full)


def clean(value: Any, limit: int = 4_000) -> Cleaned:
    """Turn whatever a tool returned into text of at most about `limit` characters; 0 means no limit.

    Strings stay as they are, everything else becomes compact JSON.

    Raises:
        Unreadable: the value cannot be made text (a generator, an object whose `__str__` raises).
    """
    full = tidy(_text(value))
    return Cleaned(shorten(full, limit), full)


def tidy(text: str) -> str:
    """Text that every database and terminal takes: NFC, no NUL, surrogates or control marks but newline and tab."""
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
        text = unicodedata.normalize("NFC", text)
    text = text.replace("\r\n", "\n")
    return text if text.isprintable() else _CONTROL.sub("\ufffd", text)


_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def shorten(text: str, limit: int) -> str:
    """Head and tail of a long text, with a marker that says how much is missing."""
    if not 0 < limit < len(text):
        return text
    head = limit * 3 // 4
    tail = limit - head
    return f"{text[:head]}\n[… {len(text) - limit:,} characters cut …]\n{text[len(text) - tail :]}"


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return "(nothing)"
    if isinstance(value, int) and not isinstance(value, bool):
        return _digits(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value).decode("utf-8", "replace")
    if blocks := _text_blocks(value):
        return blocks
    try:
        return json.dumps(_plain(value, 0, frozenset()), ensure_ascii=False)
    except RecursionError as error:
        raise Unreadable("the value is nested too deeply") from error


def _text_blocks(value: Any) -> str:
    content = getattr(value, "content", value)
    if isinstance(content, str):
        return content
    if not isinstance(content, list) or not content:
        return ""
    blocks = [block["text"] for block in content if isinstance(block, Mapping) and block.get("type") == "text"]
    return "\n".join(blocks) if len(blocks) == len(content) and all(isinstance(b, str) for b in blocks) else ""


def _plain(value: Any, depth: int, seen: frozenset[int]) -> Any:
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, int):
        return value if abs(value) <= SAFE_INT else _digits(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if depth >= MAX_DEPTH or id(value) in seen:
        return "[…]"
    return _container(value, depth + 1, seen | {id(value)})


def _container(value: Any, depth: int, seen: frozenset[int]) -> Any:
    if hasattr(value, "model_dump"):
        value = value.model_dump()
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        pairs = list(value.items())[:MAX_ITEMS]
        return {str(key): _plain(inner, depth, seen) for key, inner in pairs}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(inner, depth, seen) for inner in list(value)[:MAX_ITEMS]]
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode("utf-8", "replace")
    if hasattr(value, "__next__") or hasattr(value, "__anext__") or callable(value):
        raise Unreadable(f"a {type(value).__name__} is not a result")
    try:
        return str(value)
    except Exception as error:
        raise Unreadable(f"a {type(value).__name__} cannot be shown") from error


def _digits(value: int) -> str:
    try:
        return str(value)
    except ValueError:
        return f"an integer of {value.bit_length():,} bits"


_SECRETS = re.compile(
    r"(?i)(\b(?:api[_-]?key|access[_-]?token|auth(?:orization)?|token|secret|password|passwd|pwd|bearer)\b[\"']?\s*[=:]?\s*)"
    r"[\"']?[^\s\"'&,;]{3,}|(://[^/\s:@]+:)[^@/\s]+(?=@)|\bsk-[A-Za-z0-9_-]{8,}"
)


def without_secrets(text: str) -> str:
    """Text with what looks like a key, a token or a password replaced."""
    return _SECRETS.sub(lambda found: f"{found.group(1) or found.group(2) or ''}[hidden]", text)


def failure(error: BaseException, tool_name: str) -> tuple[str, str]:
    """A code and a sentence for a tool's fault, for the model to act on.

    Only what a tool says on purpose (`ToolFailure`, LangChain's `ToolException`) is repeated; the text of any other
    exception may hold a secret.
    """
    deliberate = isinstance(error, ToolFailure) or any(k.__name__ == "ToolException" for k in type(error).__mro__)
    if deliberate:
        return "tool_error", shorten(tidy(f"{tool_name} failed: {without_secrets(str(error))}"), 1_000)
    for kinds, code, sentence in _KNOWN:
        if isinstance(error, kinds) or any(kind.__name__ in _BY_NAME.get(code, ()) for kind in type(error).__mro__):
            return code, f"{tool_name} failed: {sentence} ({type(error).__name__})"
    return "tool_error", f"{tool_name} failed ({type(error).__name__}); try other arguments, another tool, or say so"


_KNOWN: tuple[tuple[tuple[type[BaseException], ...], str, str], ...] = (
    ((TimeoutError,), "timeout", "it took too long; whether it had an effect is not known"),
    ((PermissionError,), "permission", "it is not permitted"),
    ((FileNotFoundError, LookupError), "not_found", "what was asked for is not there"),
    ((ConnectionError,), "connection", "its service could not be reached; trying again may help"),
    ((Unreadable,), "unreadable_result", "what it returned cannot be read as text"),
    ((TypeError, ValueError), "invalid_arguments", "it could not work with these arguments"),
)
_BY_NAME = {"timeout": ("TimeoutException",), "connection": ("TransportError", "APIConnectionError")}
