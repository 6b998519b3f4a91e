"""What one reply of the model means, whatever dialect it was written in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

FormatKind = Literal[
    "truncated",
    "empty_output",
    "no_action",
    "missing_action_name",
    "missing_action_input",
    "unknown_tool",
    "invalid_arguments",
    "invalid_call_shape",
    "ambiguous_action_and_answer",
]


@dataclass(frozen=True)
class Call:
    """One call of a tool that the model asked for, its arguments coerced by the tool's schema."""

    name: str
    args: dict[str, Any]
    id: str = ""
    """The provider's id; empty where the dialect has none. Think makes ids unique in the thread."""


@dataclass(frozen=True)
class CallError:
    """A call of the reply that could not be read, beside others that could."""

    name: str
    id: str
    error: FormatKind
    sentence: str
    """What goes back to the model as this call's observation."""


@dataclass(frozen=True)
class Move:
    """What the model decided: calls to make or an answer, never both."""

    thought: str = ""
    calls: tuple[Call, ...] = ()
    answer: str | None = None
    call_errors: tuple[CallError, ...] = ()
    dropped: tuple[str, ...] = ()
    """What was in the reply and is not part of the move (invented observations, later actions), told to the model."""
    reasoning: str = ""
    """The model's own reasoning block or field, kept apart from the thought."""


class FormatError(Exception):
    """A reply that cannot be read as a move; `sentence` tells the model exactly what was wrong."""

    def __init__(self, kind: FormatKind, sentence: str) -> None:
        super().__init__(f"{kind}: {sentence}")
        self.kind = kind
        self.sentence = sentence
