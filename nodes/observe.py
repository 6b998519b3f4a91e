"""Observe: every call of the turn gets its observation, in call order, or the model is told what was wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, RemoveMessage, ToolMessage

from nodes.approval import call_fingerprint
from nodes.decisions import Decisions
from nodes.identity import thread
from nodes.order import orders
from nodes.provenance import is_untrusted
from nodes.state import Turn, Update, Working
from nodes.trail import fingerprint
from nodes.wrapping import wrap
from tools.observation import clean
from tools.toolbox import Toolbox


@dataclass(frozen=True)
class Observe:
    """The framework writes the observation, never the model."""

    toolbox: Toolbox
    decisions: Decisions

    def __call__(self, state: Working) -> Update:
        """Put the observations of the turn in the history, or pass on what was wrong with the reply."""
        turn, last = state["turn"], state["messages"][-1]
        if "error" in turn:
            return {"turn": {"error": turn["error"]}}
        if "answer" in turn:
            error = {"kind": turn["rule"], "sentence": turn["why"], "reply": turn["answer"]}
            run = state["run"]
            failed = {"number": run["step"], "kind": turn["rule"], "sentence": turn["why"]}
            return {
                "turn": {"error": error},
                "run": {**run, "failed": [*run["failed"], failed]},
                "messages": [RemoveMessage(id=str(last.id))],
            }
        if not isinstance(last, AIMessage) or not last.tool_calls:
            return {"turn": {}}
        return self.observations(state, last)

    def observations(self, state: Working, last: AIMessage) -> Update:
        """One observation a call."""
        run, turn = state["run"], state["turn"]
        results = {result["call_id"]: result for result in state["results"]}
        messages: list[ToolMessage] = []
        unrun = {str(call["id"]): _unrun(call, turn) for call in last.tool_calls if str(call["id"]) not in results}
        if refused := [id for id, result in unrun.items() if result["code"] == "not_executed"]:
            closed = orders(state, [id for id in refused if id not in turn.get("unread", ())])
            self.decisions.refuse(thread(), closed, {id: unrun[id]["text"] for id in refused})
        told_by = {call["name"] for call in last.tool_calls if str(call["id"]) in results}
        for call in last.tool_calls:
            result = results.get(str(call["id"])) or unrun[str(call["id"])]
            messages.append(_message(call, result, run["observations"] + len(messages) + 1))
        slowest = max((result["seconds"] for result in results.values()), default=0.0)
        told: Turn = {"note": turn["note"]} if "note" in turn else {}
        if (returned := self.returned(last, results)) is not None:
            told["returned"] = returned
        calls = dict(run["calls"])
        for call in last.tool_calls:
            if call["id"] not in turn.get("refusals", ()):
                calls[call["name"]] = calls.get(call["name"], 0) + 1
        counted = {
            **run,
            "observations": run["observations"] + len(messages),
            "seconds": run["seconds"] + slowest,
            "calls": calls,
            "tainted": sorted({*run.get("tainted", ()), *(n for n in told_by if is_untrusted(n, self.toolbox))}),
            "unknown": [*run.get("unknown", ()), *_uncertain(last.tool_calls, results)],
        }
        return {"messages": messages, "run": counted, "turn": told, "results": None}

    def returned(self, last: AIMessage, results: dict[str, dict[str, Any]]) -> str | None:
        """The answer of the run, if a tool whose result is the answer ran alone and did not fail."""
        if len(last.tool_calls) != 1 or not self.toolbox[last.tool_calls[0]["name"]].returns_answer:
            return None
        result = next(iter(results.values()), None)
        return result["text"] if result and result["code"] == "ok" else None


def _unrun(call: Any, turn: Turn) -> dict[str, Any]:
    decision = turn.get("decisions", {}).get(call["id"], {})
    if decision.get("type") == "respond":
        return {"text": clean(decision["message"]).text, "code": "responded", "seconds": 0.0}
    if decision.get("type") == "expired":
        text = f"not executed: {decision['message']}; ask for it again if it is still wanted"
        return {"text": text, "code": "expired", "seconds": 0.0}
    if decision.get("type") == "reject":
        reason = f": {decision['message']}" if decision.get("message") else ""
        return {"text": f"not executed: a person rejected this call{reason}", "code": "rejected", "seconds": 0.0}
    sentence = turn.get("refusals", {}).get(call["id"], "not executed: the run went on before this call could run")
    return {"text": sentence, "code": "not_executed", "seconds": 0.0}


def _uncertain(calls: Any, results: dict[str, dict[str, Any]]) -> list[str]:
    unsure = [call for call in calls if results.get(str(call["id"]), {}).get("code") == "unknown"]
    return [
        call_fingerprint(call["name"], args)
        for call in unsure
        for args in (call["args"], results[str(call["id"])]["args"])
    ]


def _message(call: Any, result: dict[str, Any], number: int) -> ToolMessage:
    text = result["text"]
    if result.get("args", call["args"]) != call["args"]:
        text = f"(a person changed the arguments; this ran: {clean(result['args']).text})\n{text}"
    artifact = {
        "number": number,
        "code": result["code"],
        "seconds": result["seconds"],
        "call": call_fingerprint(call["name"], call["args"]),
        "outcome": fingerprint(text),
    }
    if "full" in result:
        artifact["full"] = result["full"]
    return ToolMessage(
        content=wrap(number, text),
        name=call["name"],
        tool_call_id=str(call["id"]),
        id=f"observation-{call['id']}",
        status="success" if result["code"] in ("ok", "responded") else "error",
        artifact=artifact,
    )
