"""Approve: one question to a person for one risky call; comes back to itself until every call is decided."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from langgraph.config import get_config
from langgraph.types import Interrupt, interrupt

from nodes.answers import UnclearAnswer
from nodes.approval import RESPONSE_SCHEMA, Decision, Facts, request
from nodes.decisions import Asked, Decisions
from nodes.identity import thread, user
from nodes.order import Order, orders, sha256
from nodes.provenance import untrusted
from nodes.state import Update, Working
from tools.tool import Tool


@dataclass(frozen=True)
class Approve:
    """Before the `interrupt` only the question is opened, which may be done twice: the node runs again on resume."""

    decisions: Decisions

    def __call__(self, state: Working) -> Update:
        """Ask about the first undecided call and take down the answer, or why it was not one."""
        turn = state["turn"]
        call = next((call for call in open_calls(state)), None)
        if call is None:
            return {"turn": {**turn, "dispatched": []}}
        (order,) = orders(state, [call["id"]])
        shown = self.shown(state, order)
        asked = self.decisions.ask(thread(), order, interrupt_id(), shown)
        decision = asked.decision
        if decision is None:
            answer = interrupt(self.question(state, order, asked, shown), response_schema=RESPONSE_SCHEMA)
            try:
                decision = self.read(answer, order, asked)
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

    def shown(self, state: Working, order: Order) -> dict[str, Any]:
        """What helps a person to decide, beside the call itself; the ledger keeps it for whoever decides elsewhere."""
        tool, toolbox = self.tool(order), self.decisions.toolbox
        dirty = bool(state["run"].get("tainted"))
        return {
            "why": self.decisions.policy.verdict(tool, order["args"], dirty)[1],
            "untrusted": untrusted(order["args"], state["messages"], state["run"]["since"], toolbox),
            "thought": state["messages"][-1].text,
        }

    def question(self, state: Working, order: Order, asked: Asked, shown: dict[str, Any]) -> dict[str, Any]:
        """What the person is shown: the arguments that would run."""
        tool = self.tool(order)
        facts: Facts = {
            "sha256": sha256(order["name"], order["args"]),
            "expires_at": datetime.fromtimestamp(asked.expires, UTC).isoformat(timespec="seconds"),
            "effect_class": tool.effect_class(self.decisions.records.database),
            "why": shown["why"],
            "untrusted": shown["untrusted"],
        }
        return request(order, tool, shown["thought"], facts, state["turn"].get("approval_error", ""))

    def read(self, answer: Any, order: Order, asked: Asked) -> Decision:
        """The answer as the decision that the ledger keeps.

        Raises:
            UnclearAnswer: it cannot count; the message says why.
        """
        if asked.fresh:
            raise UnclearAnswer(
                "it was given before this question was shown, or the call was changed since; look again"
            )
        who = user()
        decision = self.decisions.judged(answer, order, asked.requester, who)
        return self.decisions.decide(order["uid"], interrupt_id(), decision, who)

    def tool(self, order: Order) -> Tool:
        """The tool that is asked about."""
        return self.decisions.toolbox[order["name"]]


def interrupt_id() -> str:
    """The id of the question that this visit of the node asks."""
    return Interrupt.from_ns(None, ns=get_config()["configurable"]["checkpoint_ns"]).id


def open_calls(state: Working) -> list[Any]:
    """The risky calls of the turn that wait for a decision."""
    turn = state["turn"]
    waiting = [id for id in turn.get("risky", ()) if id not in turn["decisions"]]
    return [call for call in state["messages"][-1].tool_calls if call["id"] in waiting]  # type: ignore[union-attr]
