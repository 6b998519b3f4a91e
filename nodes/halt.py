"""Halt: a limit, a loop or a fault ends the run, or a person lets it go on; a limit never looks like an answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.types import interrupt

from nodes.history import not_executed
from nodes.identity import thread, user
from nodes.limits import Limits
from nodes.rules import Rule, rule_named
from nodes.runs import Runs
from nodes.state import Update, Working
from nodes.steps import result

NO_MORE_CALLS = ("token_budget", "deadline", "recursion_limit")
"""Rules that leave nothing to pay a last call of the model with."""
CHOICES = ("extend", "hint", "answer", "abort")


@dataclass(frozen=True)
class Halt:
    """What happens at a limit, by `Limits.on_limit`."""

    limits: Limits
    runs: Runs

    def __call__(self, state: Working) -> Update:
        """End the run, ask for the best answer so far, or ask a person."""
        turn, run = state["turn"], state["run"]
        open_ends: list[BaseMessage] = [not_executed(call, f"not executed: {turn['why']}") for call in _open(state)]
        rule = rule_named(turn["rule"])
        if rule is None or run["closing"]:
            return self.end(state, open_ends)
        if self.limits.on_limit == "answer" and rule.name not in NO_MORE_CALLS:
            closing = {"rule": turn["rule"], "status": turn["status"], "why": turn["why"]}
            return {"messages": open_ends, "run": {**run, "closing": closing}, "turn": {"verdict": "resumed"}}
        if self.limits.on_limit == "ask" and rule.grants:
            return self.ask(state, rule, open_ends)
        return self.end(state, open_ends)

    def end(self, state: Working, open_ends: list[BaseMessage]) -> Update:
        """The result of a run that was stopped; its last message says so."""
        turn, run = state["turn"], state["run"]
        best = turn.get("answer")
        last = state["messages"][-1]
        said = f"{best}\n\n(Best answer so far. Stopped: {turn['why']}.)" if best else f"Stopped: {turn['why']}."
        id = str(last.id) if best else f"{run['id'][:12]}-end"
        closing = AIMessage(said, id=id, additional_kwargs={"status": turn["status"]})
        if best and isinstance(last, AIMessage):
            closing = last.model_copy(update={"content": said})
        ended = result(state, turn["status"], f"Stopped: {turn['why']}.", best)
        self.runs.end(thread(), run["id"], ended)
        return {**ended, "messages": [*open_ends, closing], "turn": {"verdict": "ended"}, "results": None}

    def ask(self, state: Working, rule: Rule, open_ends: list[BaseMessage]) -> Update:
        """Let a person extend the limit, give a hint, answer, or abort."""
        turn, run = state["turn"], state["run"]
        error = ""
        while True:
            choice = _read(interrupt(question(turn["why"], rule, error)))
            if choice["type"] in CHOICES and (choice["type"] in ("extend", "abort") or choice.get("message")):
                break
            error = f"answer with one of {', '.join(CHOICES)}; hint and answer need a message"
        self.runs.note(thread(), run["id"], "limit", {"rule": rule.name, "why": turn["why"], "by": user(), **choice})
        if choice["type"] == "abort":
            stopped = {**state, "turn": {**turn, "status": "aborted", "why": f"a person ended the run: {turn['why']}"}}
            return self.end(stopped, open_ends)  # type: ignore[arg-type]
        if choice["type"] == "answer":
            reason = f"A person answered after the run stopped: {turn['why']}."
            message = AIMessage(choice["message"], id=f"{run['id'][:12]}-end")
            ended = result(state, "finished", reason, choice["message"])
            self.runs.end(thread(), run["id"], ended)
            return {**ended, "messages": [*open_ends, message], "turn": {"verdict": "ended"}, "results": None}
        granted = {field: run["granted"].get(field, 0) + more for field, more in rule.grants.items()}
        hints = [HumanMessage(choice["message"])] if choice["type"] == "hint" else []
        return {
            "messages": [*open_ends, *hints],
            "run": {**run, "granted": run["granted"] | granted},
            "turn": {"verdict": "resumed"},
        }


def question(why: str, rule: Rule, error: str) -> dict[str, Any]:
    """The interrupt's payload at a limit."""
    more = ", ".join(f"{amount:g} {field}" for field, amount in rule.grants.items())
    message = f"The run stopped: {why}. extend ({more} more), hint (with a message), answer (with a message) or abort?"
    return {
        "type": "limit_reached",
        "rule": rule.name,
        "status": rule.status,
        "reason": why,
        "message": message,
        "description": message,
        "choices": list(CHOICES),
        "error": error,
    }


def _read(answer: Any) -> dict[str, Any]:
    if isinstance(answer, str):
        word = answer.strip()
        if word.casefold() in CHOICES:
            return {"type": word.casefold()}
        try:
            answer = json.loads(word)
        except (ValueError, RecursionError):
            return {"type": ""}
    if isinstance(answer, list) and len(answer) == 1:
        answer = answer[0]
    if not isinstance(answer, Mapping):
        return {"type": ""}
    message = answer.get("message", answer.get("args"))
    return {"type": str(answer.get("type", "")).casefold(), "message": message if isinstance(message, str) else ""}


def _open(state: Working) -> list[Any]:
    last = state["messages"][-1]
    return list(last.tool_calls) if isinstance(last, AIMessage) else []
