"""Every number that bounds a run, in one place."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

OnLimit = Literal["stop", "answer", "ask"]


class LimitsError(ValueError):
    """A limit that cannot be obeyed; the message names it."""


@dataclass(frozen=True)
class Limits:
    """Bounds of one run, counted in persisted state, so that a pause does not reset them; 0 means no limit."""

    steps: int = 10
    """Calls of the model in one run, repairs included."""
    repeats: int = 3
    """The same call with the same observation this many times in a row ends the run; one before, the model is told."""
    cycle_period: int = 6
    """Longest cycle of steps that is looked for (A-B-A-B is period 2)."""
    cycle_rounds: int = 3
    """Rounds of one cycle, each with the same observations, that end the run."""
    near_duplicates: int = 6
    """Similar calls with one observation among the last twelve steps that end the run; the model is told two before."""
    failures: int = 2
    """Steps in a row in which one tool failed, after which the model is told to try something else."""
    rejections: int = 2
    """Requests for a call that a person already rejected, the last of which ends the run."""
    tool_calls: int = 10
    """Calls of one tool in one run; a tool's own `cap` wins."""
    tool_writes: int = 5
    """The same for a tool that writes, or may."""
    rate: int = 30
    """Calls of one tool in one minute, over all runs; a tool's own `rate` wins."""
    parallel: int = 8
    """Calls in one turn; the rest is refused."""
    repairs_in_a_row: int = 2
    """Unreadable replies in a row that are answered with what was wrong; one more ends the run."""
    repairs: int = 4
    """The same, over the whole run."""
    tokens: int = 50_000
    """Tokens read and written in one run, checked before each call of the model."""
    seconds: float = 120
    """Active wall clock of one run; waiting for a person does not count."""
    model_seconds: float = 60
    """Wall clock of one call of the model."""
    tool_seconds: float = 30
    """Wall clock of one call of a tool; a tool's own `timeout` wins."""
    model_retries: int = 4
    """Tries of one model call that a passing fault (429, 5xx, connection) may cost before the next model is asked."""
    observation_chars: int = 4_000
    """Characters of one observation that the model reads; head and tail are kept."""
    stored_chars: int = 100_000
    """Characters of one observation kept for people and audits where there is no store for the whole text."""
    require_tool: bool = False
    """An answer counts only after a tool was used."""
    require_citation: bool = False
    """An answer must cite, as [n], the numbers of observations that exist."""
    on_limit: OnLimit = "stop"
    """stop: end the run. answer: one last call without tools for the best answer so far. ask: let a person decide."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, (int, float)) and not isinstance(value, bool) and value < 0:
                raise LimitsError(f"Limits.{field.name} must not be negative, got {value} (0 means no limit)")
        if self.on_limit not in ("stop", "answer", "ask"):
            raise LimitsError(f"Limits.on_limit must be stop, answer or ask, got {self.on_limit!r}")
