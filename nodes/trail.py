"""What the run did so far, as keys that can be compared: the same call, the same outcome."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Sequence
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage, BaseMessage


class Trace(NamedTuple):
    """One step that ran tools."""

    message: AIMessage
    calls: tuple[str, ...]
    """Fingerprint of each call, in order."""
    outcomes: tuple[str, ...]
    """Fingerprint of each observation, in order."""
    codes: tuple[str, ...]
    """`ok`, or what went wrong."""

    @property
    def signature(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Two steps with equal signatures did the same and learned the same."""
        return self.calls, self.outcomes

    @property
    def tools(self) -> tuple[str, ...]:
        """Names of the tools, in order."""
        return tuple(call["name"] for call in self.message.tool_calls)

    @property
    def text(self) -> str:
        """The calls as comparable text."""
        return " ".join(key(call["name"], call["args"]) for call in self.message.tool_calls)


def key(name: str, args: Any) -> str:
    """A call without the differences that carry no meaning: key order, case, width, spaces, invisible marks."""
    text = json.dumps(args, ensure_ascii=False, sort_keys=True, default=str)
    folded = unicodedata.normalize("NFKC", text).casefold()
    visible = "".join(mark for mark in folded if unicodedata.category(mark) != "Cf") if not folded.isascii() else folded
    return f"{name} {' '.join(visible.split())}"


def fingerprint(text: str) -> str:
    """Sixteen characters that stand for a call or an observation."""
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()


def trail(messages: Sequence[BaseMessage], since: str, last: int) -> list[Trace]:
    """The newest `last` steps of the run that ran tools, oldest first.

    Reads from the end, so its cost does not grow with the run.
    """
    traces: list[Trace] = []
    facts: list[dict[str, Any]] = []
    for message in reversed(messages):
        if message.id == since or len(traces) == last:
            break
        if message.type == "tool":
            facts.append(message.artifact or {})  # type: ignore[attr-defined]
        elif message.type == "ai" and facts:
            traces.append(_trace(message, facts))
            facts = []
    return traces[::-1]


def _trace(message: Any, facts: list[dict[str, Any]]) -> Trace:
    if len(facts) == 1:
        (fact,) = facts
        return Trace(message, (fact.get("call", ""),), (fact.get("outcome", ""),), (fact.get("code", "ok"),))
    facts = facts[::-1]
    return Trace(
        message,
        calls=tuple(fact.get("call", "") for fact in facts),
        outcomes=tuple(fact.get("outcome", "") for fact in facts),
        codes=tuple(fact.get("code", "ok") for fact in facts),
    )
