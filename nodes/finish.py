"""Finish: the answer is the result of the run."""

from __future__ import annotations

from nodes.state import State, Update
from nodes.steps import result


def finish(state: State) -> Update:
    """End the run with the answer of this turn."""
    turn = state["turn"]
    return {**result(state, "finished", turn["why"], turn["answer"]), "turn": {}}
