"""What a dialect is told besides the history: the prompt, the language, and what holds for this one call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Language = Literal["en", "zh"]


@dataclass(frozen=True)
class Brief:
    """Everything a dialect needs to render one request that is not in the history."""

    prompt: str | None = None
    """The user's own system prompt, put before the dialect's instructions."""
    language: Language = "en"
    """Language of the instructions, labels and feedback."""
    max_steps: int | None = None
    """Steps the whole run may take; part of the instructions, so it does not change from call to call."""
    steps_left: int | None = None
    """Steps left before this call; rendered at the end of the request, so that the part before stays cacheable."""
    note: str | None = None
    """One sentence of the framework for this call only ("change your approach"); never stored in the history."""
    repair: tuple[str, str] | None = None
    """The last reply that could not be read and the sentence that says why; for this call only."""
    closing: bool = False
    """A limit was reached: no tools are offered, the best answer so far is asked for."""
