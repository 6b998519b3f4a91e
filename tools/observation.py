"""What a tool returned, as bounded clean text, and what went wrong with it, as a sentence without secrets."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Any

from tools.redaction import without_secrets
from tools.values import Unreadable, as_text

MAX_MESSAGE = 1_000
"""Characters of a tool's own words about its failure that are passed on."""

_UNWANTED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
"""Control marks, those that turn the order of text around, and invisible letters that only a model reads."""
_PIECE = re.compile(r"(?s).{1,240}[^\x00-\x7f]{0,16}")
_TO_NUL = dict.fromkeys([*range(0x09), *range(0x0B, 0x20), 0x7F], "\0")


class ToolFailure(Exception):
    """Raised by a tool on purpose: its message is meant for the model and holds no secret."""


@dataclass(frozen=True)
class Cleaned:
    """An observation's text."""

    text: str
    """What the model reads; a marker stands where something was cut."""
    full: str
    """The whole text."""

    @property
    def cut(self) -> bool:
        """Whether the model does not see all of it."""
        return self.text != self.full


def clean(value: Any, limit: int = 4_000) -> Cleaned:
    """Turn whatever a tool returned into text of at most `limit` characters; 0 means no limit.

    Strings stay as they are, everything else becomes compact JSON.

    Raises:
        Unreadable: the value cannot be made text (a generator, an object whose `__str__` raises).
    """
    full = tidy(as_text(value))
    return Cleaned(shorten(full, limit), full)


def tidy(text: str) -> str:
    """Text that every database and terminal takes: NFC, no NUL, surrogates or control marks but newline and tab."""
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
        text = _composed(text)
    text = text.replace("\r\n", "\n")
    return text if text.isprintable() else _replaced(text)


def _composed(text: str) -> str:
    # Sorting a run of combining marks takes the square of its length: long texts are composed piece by piece, and the
    # end of a piece is moved on past what could belong to its last letter.
    if len(text) <= 256:
        return unicodedata.normalize("NFC", text)
    return "".join([unicodedata.normalize("NFC", piece) for piece in _PIECE.findall(text)])


def _replaced(text: str) -> str:
    # `sub` with millions of hits takes seconds; `translate` is fast from ASCII to ASCII alone.
    if text.isascii():
        return text.translate(_TO_NUL).replace("\0", "\ufffd")
    for mark in set(_UNWANTED.findall(text[:100_000])):
        text = text.replace(mark, "\ufffd")
    return _UNWANTED.sub("\ufffd", text)


def shorten(text: str, limit: int) -> str:
    """Head and tail of a long text, with a marker that says how much is missing; at most `limit` characters in all."""
    if not 0 < limit < len(text):
        return text
    # The number in the marker can only have as many digits as that of all characters.
    room = limit - len(_marker(len(text)))
    if room < 2:
        return text[:limit]
    head = room * 3 // 4
    tail = room - head
    return f"{text[:head]}{_marker(len(text) - room)}{text[len(text) - tail :]}"


def _marker(missing: int) -> str:
    return f"\n[… {missing:,} characters cut …]\n"


def failure(error: BaseException, tool_name: str) -> tuple[str, str]:
    """A code and a sentence for a tool's fault, for the model to act on.

    Only what a tool says on purpose (`ToolFailure`, LangChain's `ToolException`) is repeated, without what looks like
    a secret; the text of any other exception may hold one and is not looked at.
    """
    names = {kind.__name__ for kind in type(error).__mro__}
    if isinstance(error, ToolFailure) or "ToolException" in names:
        return "tool_error", f"{tool_name} failed: {_told(error)}"
    code = _by_status(error) or _by_kind(error, names)
    named = type(error).__name__[:60]
    return code, f"{tool_name} failed: {_SENTENCES[code]} ({named})"


def _told(error: BaseException) -> str:
    try:
        # Cut only after hiding, or half a secret would be left; the first cut is far beyond what is shown.
        told = tidy(without_secrets(str(error)[: 20 * MAX_MESSAGE])).strip()
    except Exception:
        told = ""
    return (told if len(told) <= MAX_MESSAGE else f"{told[: MAX_MESSAGE - 1]}…") or _SENTENCES["tool_error"]


_SENTENCES = {
    "timeout": "it took too long; whether it had an effect is not known",
    "permission": "it is not permitted",
    "not_found": "what was asked for is not there",
    "rate_limited": "its service is asked too often; wait a little before trying again",
    "connection": "its service could not be reached; trying again may help",
    "unreadable_result": "what it returned cannot be read as text",
    "invalid_arguments": "it could not work with these arguments",
    "tool_error": "try other arguments, another tool, or say so",
}

_KINDS: tuple[tuple[str, tuple[type[BaseException], ...], frozenset[str]], ...] = (
    ("timeout", (TimeoutError,), frozenset({"TimeoutException", "Timeout", "APITimeoutError", "TimeoutExpired"})),
    ("permission", (PermissionError,), frozenset({"AuthenticationError", "PermissionDeniedError"})),
    ("rate_limited", (), frozenset({"RateLimitError"})),
    ("connection", (ConnectionError,), frozenset({"TransportError", "APIConnectionError", "URLError", "gaierror"})),
    ("unreadable_result", (Unreadable,), frozenset()),
    # These come from what a service sent, not from what the model asked.
    ("tool_error", (UnicodeError, RecursionError), frozenset({"JSONDecodeError"})),
    ("not_found", (FileNotFoundError, LookupError), frozenset()),
    ("invalid_arguments", (TypeError, ValueError), frozenset()),
)


def _by_kind(error: BaseException, names: set[str]) -> str:
    return next((code for code, kinds, known in _KINDS if isinstance(error, kinds) or names & known), "tool_error")


def _by_status(error: BaseException) -> str | None:
    """The code for an HTTP answer that a client library raised as an exception."""
    try:
        status = getattr(getattr(error, "response", None), "status_code", None) or getattr(error, "code", None)
    except Exception:
        return None
    if not isinstance(status, int) or not 400 <= status <= 599:
        return None
    known = {
        401: "permission",
        403: "permission",
        404: "not_found",
        408: "timeout",
        410: "not_found",
        429: "rate_limited",
    }
    return known.get(status) or ("connection" if status >= 500 else "invalid_arguments")
