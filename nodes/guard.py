"""Guard: judge what the model decided; the verdict, the rule and the reason are written to the state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from langgraph.runtime import Runtime

from nodes.approval import call_fingerprint
from nodes.case import Case, limits_in_force
from nodes.context import Context
from nodes.limits import Limits
from nodes.policy import Policy
from nodes.rules import first_broken
from nodes.state import Turn, Update, Working
from tools.toolbox import Toolbox


@dataclass(frozen=True)
class Guard:
    """Ask the rule table, in the order finish, stop, correct, ask, run."""

    toolbox: Toolbox
    limits: Limits
    policy: Policy

    def __call__(self, state: Working, runtime: Runtime[Context]) -> Update:
        """Decide where the turn goes."""
        case = Case(state, limits_in_force(self.limits, state, Context.of(runtime)), self.toolbox)
        turn = state["turn"]
        if case.closing or "rule" in turn:
            return {"turn": {**turn, **state["run"]["closing"], "verdict": "stop"}}
        correct = first_broken(case, "after think", "correct")
        if "answer" in turn and correct is None:
            return {"turn": {**turn, "verdict": "finish", "rule": "answer", "why": "the model gave its answer"}}
        if stop := first_broken(case, "after think", "stop"):
            rule, why = stop
            return {"turn": {**turn, "verdict": "stop", "rule": rule.name, "status": rule.status, "why": why}}
        if correct:
            rule, why = correct
            return {"turn": {**turn, "verdict": "correct", "rule": rule.name, "why": why}}
        return self.judge_calls(case)

    def judge_calls(self, case: Case) -> Update:
        """Sort the calls of the turn: refused, to be decided by a person, let through."""
        turn, run = case.state["turn"], case.state["run"]
        refusals, risky = dict(turn.get("unread", {})), []
        for place, call in enumerate(case.calls):
            if call["id"] in refusals:
                continue
            why = self.refusal(case, place, call)
            if why is None:
                verdict, reason = self.verdict(case, call)
                if verdict == "ask":
                    risky.append(call["id"])
                why = f"the policy forbids this call ({reason})" if verdict == "deny" else None
            if why is not None:
                refusals[call["id"]] = f"not executed: {why}"
        judged: Turn = {**turn, "refusals": refusals, "risky": risky, "decisions": {}}
        if all(call["id"] in refusals for call in case.calls):
            judged |= {"verdict": "correct", "rule": "calls", "why": "no call of this turn can run"}
        elif risky:
            judged |= {
                "verdict": "ask",
                "rule": "approval",
                "why": f"{len(risky)} of the calls need a person's decision",
            }
        else:
            judged |= {"verdict": "run", "rule": "calls", "why": "no rule forbids these calls"}
        again = [key for call in case.calls if (key := call_fingerprint(call["name"], call["args"])) in run["refused"]]
        return {"turn": judged, "run": {**run, "refused": [*run["refused"], *again]}} if again else {"turn": judged}

    def refusal(self, case: Case, place: int, call: Any) -> str | None:
        """Why a call does not run, nor is asked about, whatever the policy says."""
        same = call_fingerprint(call["name"], call["args"])
        if same in case.state["run"]["refused"]:
            return "a person already rejected this call; do not ask for it again"
        if same in case.state["run"].get("unknown", ()):
            return "it is not known whether the same call took effect before; a person must look first"
        if 0 < case.limits.parallel <= place:
            return f"at most {case.limits.parallel} calls in one turn"
        return None

    def verdict(self, case: Case, call: Any) -> tuple[str, str]:
        """What the policy says to a call, now that the run has read what it has read."""
        tainted = bool(case.state["run"].get("tainted"))
        return self.policy.verdict(self.toolbox[call["name"]], call["args"], tainted)
