"""How the state is stored: as what was added, once, and never as bare text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from langchain_core.messages import AnyMessage
from langgraph.channels import DeltaChannel, LastValue


class History(DeltaChannel[list[AnyMessage]]):
    """Messages, stored as what was added, with snapshots ever further apart: the bytes stay linear in the steps."""

    @property
    def snapshot_frequency(self) -> int:
        """Updates between two snapshots: each comes at four times the length of the one before."""
        return max(128, len(self.value) * 3 // 4 if isinstance(self.value, list) else 0)

    @snapshot_frequency.setter
    def snapshot_frequency(self, given: int) -> None:
        pass


class Boxed(LastValue[Any]):
    """Text, stored in a list: PostgreSQL's saver keeps bare text as JSON, which no encryption covers and which cannot
    hold every character.
    """

    def checkpoint(self) -> Any:
        """The value in its box."""
        return [self.get()] if self.is_available() else super().checkpoint()

    def from_checkpoint(self, checkpoint: Any) -> Self:
        """The channel with the value out of its box; older threads have none."""
        return super().from_checkpoint(checkpoint[0] if isinstance(checkpoint, list) else checkpoint)


def latest(_: Any, writes: Sequence[Any]) -> Any:
    """Keep the last write. As a delta it is stored once, not again in every checkpoint that follows."""
    return writes[-1]


def gather(results: list[dict[str, Any]], writes: Sequence[list[dict[str, Any]] | None]) -> list[dict[str, Any]]:
    """Add the results of parallel calls; None forgets them, once they are in the history."""
    for write in writes:
        results = [] if write is None else [*results, *write]
    return results
