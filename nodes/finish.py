"""Finish: the answer is the result of the run."""

from __future__ import annotations

from dataclasses import dataclass

from nodes.identity import thread
from nodes.runs import Runs
from nodes.state import Update, Working
from nodes.steps import result


@dataclass(frozen=True)
class Finish:
    """The ledger closes the run with it."""

    runs: Runs

    def __call__(self, state: Working) -> Update:
        """End the run with the answer of this turn."""
        turn = state["turn"]
        ended = result(state, "finished", turn["why"], turn["answer"])
        self.runs.end(thread(), state["run"]["id"], ended)
        return {**ended, "turn": {}}
