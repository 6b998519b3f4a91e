"""Finish: the answer is the result of the run."""

from __future__ import annotations

from nodes.state import Update, Working
from nodes.steps import result


def finish(state: Working) -> Update:
    """End the run with the answer of this turn."""
    turn = state["turn"]
    return {**result(state, "finished", turn["why"], turn["answer"]), "turn": {}}
