"""What must not be written down: known secrets in any usual encoding, what looks like one, personal data, thoughts."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from nodes.secret_forms import any_form
from tools.redaction import HIDDEN, without_secrets

LEFT_OUT = "[left out]"
TOO_DEEP = "[nested too deeply]"
DEEPEST = 100
"""Levels of lists and objects that are written down; JSON itself gives up at about a thousand."""
SHORTEST = 6
"""Characters of a secret; a shorter one would blank normal text."""
_SHORTEST_FOUND = 8
"""Characters of a value of the environment; a shorter one is more often a word than a secret."""

_WINDOW, _OVERLAP = 2_000, 400
"""Characters in which personal data is looked for at once, and characters that are looked at twice."""

_SECRET_NAME = re.compile(
    r"(?i)(?:(?:^|_|api|access|private)key|token|secret|passw(?:or)?d|passphrase|credentials?|(?<=_)pwd)"
    r"(?:_id|_base|_\d+)?$"
)

Finder = Callable[[str], list[Any]]


@dataclass(frozen=True)
class Redaction:
    """Takes secrets and personal data out of plain data before it is written down.

    It does not find a secret that is split over two strings, wrapped over lines, encoded twice or encrypted.

    Attributes:
        secrets: Values that are replaced wherever they stand, also in base64, hex and URL and JSON escapes.
        pii: Kinds of personal data to replace, by LangChain's detectors: email, credit_card, ip, mac_address, url.
        thoughts: "drop" leaves out what the model thought: the values of the keys `thought` and `reasoning`.
    """

    secrets: tuple[str, ...] = field(default=(), repr=False)
    pii: tuple[str, ...] = ()
    thoughts: Literal["keep", "drop"] = "keep"
    _known: re.Pattern[str] | None = field(init=False, repr=False, compare=False)
    _finders: tuple[tuple[str, Finder], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.thoughts not in ("keep", "drop"):
            raise ValueError(f'thoughts must be "keep" or "drop", got {self.thoughts!r}')
        if any(len(secret.strip()) < SHORTEST for secret in self.secrets):
            raise ValueError(f"a secret has fewer than {SHORTEST} characters: it would blank normal text")
        object.__setattr__(self, "_known", any_form(self.secrets))
        object.__setattr__(self, "_finders", _finders(self.pii))

    @classmethod
    def from_environment(cls, environment: Mapping[str, str], **more: Any) -> Redaction:
        """Hide the values of variables whose names look like keys, tokens or passwords; `more` are other fields."""
        found = {
            value.strip()
            for name, value in environment.items()
            if _SECRET_NAME.search(name) and len(value.strip()) >= _SHORTEST_FOUND
        }
        return cls(secrets=tuple(sorted({*more.pop("secrets", ()), *found})), **more)

    def clean(self, data: Any) -> Any:
        """Plain JSON without what must not be written down; what is no JSON becomes text first."""
        return self._value(data, DEEPEST)

    def _value(self, value: Any, levels: int) -> Any:
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, (Mapping, list, tuple, set, frozenset)):
            if not levels:
                return TOO_DEEP
            if isinstance(value, Mapping):
                return self._object(value, levels - 1)
            return [self._value(item, levels - 1) for item in value]
        text = _as_text(value)
        cleaned = self._text(text)
        # A number stays one, unless it is a secret, the number of a card, or has no form in JSON.
        number = math.isfinite(value) if isinstance(value, float) else isinstance(value, int) and text[:1] != "<"
        return value if number and cleaned == text else cleaned

    def _object(self, data: Mapping[Any, Any], levels: int) -> dict[str, Any]:
        cleaned: dict[str, Any] = {}
        for name, value in data.items():
            key = first = self._text(_as_text(name))
            number = 1
            while key in cleaned:  # Two names may look the same once they are hidden.
                number += 1
                key = f"{first} ({number})"
            if self.thoughts == "drop" and name in ("thought", "reasoning"):
                cleaned[key] = LEFT_OUT
            elif value not in (None, "") and not isinstance(value, bool) and _names_a_secret(_as_text(name)):
                cleaned[key] = HIDDEN
            else:
                cleaned[key] = self._value(value, levels)
        return cleaned

    def _text(self, text: str) -> str:
        if self._known is not None:
            text = self._known.sub(HIDDEN, text)
        text = without_secrets(text)
        for kind, find in self._finders:
            text = _replaced(text, find, f"[{kind}]")
        return text


def _names_a_secret(name: str) -> bool:
    """Whether the value of this key would be hidden, were both in one text."""
    return without_secrets(f'"{name}": value').endswith(HIDDEN)


def _as_text(value: Any) -> str:
    try:
        return str(value)
    except Exception:  # What an object says of itself must not keep an event from being written down.
        return f"<{type(value).__name__}>"


def _replaced(text: str, find: Finder, by: str) -> str:
    """The text with everything that is found replaced."""
    parts, end = [], 0
    for first, last in sorted(_places(text, find)):
        if first >= end:
            parts += [text[end:first], by]
        end = max(end, last)
    return "".join([*parts, text[end:]])


def _places(text: str, find: Finder) -> Iterator[tuple[int, int]]:
    # LangChain's patterns take time by the square of the length, so a long text is read through overlapping windows.
    for start in range(0, max(1, len(text) - _OVERLAP), _WINDOW - _OVERLAP):
        for match in find(text[start : start + _WINDOW]):
            yield start + match["start"], start + match["end"]


def _finders(kinds: tuple[str, ...]) -> tuple[tuple[str, Finder], ...]:
    if not kinds:
        return ()
    # LangChain's middleware takes long to import, and most runs look for no personal data.
    from langchain.agents.middleware import pii

    known: dict[str, Finder] = {
        "email": pii.detect_email,
        "credit_card": pii.detect_credit_card,
        "ip": pii.detect_ip,
        "mac_address": pii.detect_mac_address,
        "url": pii.detect_url,
    }
    for kind in kinds:
        if kind not in known:
            raise ValueError(f"{kind!r} is no kind of personal data: use {', '.join(known)}")
    return tuple((kind, known[kind]) for kind in kinds)


DEFAULT = Redaction()
"""Only what looks like a key, a token or a password."""
