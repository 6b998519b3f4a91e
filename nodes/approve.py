"""Approve: one question to a person for one risky call; comes back to itself until every call is decided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from langgraph.types import interrupt

from nodes.answers import UnclearAnswer, decide
from nodes.approval import RESPONSE_SCHEMA, request
from nodes.state import Update, Working
from tools.toolbox import Toolbox


@dataclass(frozen=True)
class Approve:
    """Nothing before the `interrupt` touches the world: the node runs again when the answer comes."""

    toolbox: Toolbox

    def __call__(self, state: Working) -> Update:
        """Ask about the first undecided call and take down the answer, or why it was not one."""
        turn = state["turn"]
        call = next((call for call in open_calls(state)), None)
        if call is None:
            return {"turn": {**turn, "dispatched": []}}
        tool = self.toolbox[call["name"]]
        thought = state["messages"][-1].text
        answer = interrupt(
            request(call, tool, thought, turn.get("approval_error", "")), response_schema=RESPONSE_SCHEMA
        )
        try:
            decision = decide(answer, call, tool)
        except UnclearAnswer as unclear:
            return {"turn": {**turn, "dispatched": [], "approval_error": str(unclear)}}
        run = state["run"]
        if decision["type"] == "reject":
            run = {**run, "refused": [*run["refused"], decision["call"]]}
        return {
            "run": run,
            "turn": {
                **turn,
                "approval_error": "",
                "decisions": {**turn["decisions"], call["id"]: decision},
                "dispatched": [call["id"]] if decision["type"] in ("approve", "edit") else [],
            },
        }


def open_calls(state: Working) -> list[Any]:
    """The risky calls of the turn that wait for a decision."""
    turn = state["turn"]
    waiting = [id for id in turn.get("risky", ()) if id not in turn["decisions"]]
    return [call for call in state["messages"][-1].tool_calls if call["id"] in waiting]  # type: ignore[union-attr]
