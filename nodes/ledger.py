"""The one object that act asks whether a call may run, and reports to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from typing_extensions import TypedDict

from nodes.approval import Decision, ask_first, call_fingerprint, checked
from nodes.state import Working
from tools.tool import Tool


class Order(TypedDict):
    """One call on its way to `act`: plain data, so that it can wait in a checkpoint."""

    id: str
    name: str
    args: dict[str, Any]
    run_id: str
    step: int
    index: int
    seconds: float
    """What the run has spent of its time."""
    decision: Decision | None


def orders(state: Working, ids: list[str]) -> list[Order]:
    """The calls with these ids as orders, with a person's edits in place of the model's arguments."""
    run, decisions = state["run"], state["turn"].get("decisions", {})
    made: list[Order] = []
    for index, call in enumerate(state["messages"][-1].tool_calls):  # type: ignore[union-attr]
        if call["id"] in ids:
            decision: Any = decisions.get(call["id"])
            made.append(
                {
                    "id": call["id"],
                    "name": call["name"],
                    "args": decision["args"] if decision and "args" in decision else call["args"],
                    "run_id": run["id"],
                    "step": run["step"],
                    "index": index,
                    "seconds": run["seconds"],
                    "decision": decision,
                }
            )
    return made


@dataclass(frozen=True)
class Admission:
    """Whether a call may run; if not, `refusal` says why, and `observation` may answer it from an earlier run."""

    refusal: str | None = None
    observation: dict[str, Any] | None = None


class Ledger(Protocol):
    """Decides on calls and remembers what became of them."""

    def admit(self, order: Order, tool: Tool) -> Admission:
        """Say whether the call may run now; asked immediately before it runs."""

    def report(self, order: Order, observation: dict[str, Any]) -> None:
        """Take down what became of a call that was admitted."""


@dataclass(frozen=True)
class Policy:
    """A ledger without memory: a risky call needs the approval of exactly its arguments."""

    approve: str

    def __post_init__(self) -> None:
        checked(self.approve)

    def admit(self, order: Order, tool: Tool) -> Admission:
        """Let harmless calls through, and risky ones that a person approved as they are."""
        if not ask_first(tool, self.approve):
            return Admission()
        decision = order["decision"]
        if decision is None or decision["type"] not in ("approve", "edit"):
            return Admission("not executed: this call needs the approval of a person, and there is none")
        if decision["call"] != call_fingerprint(order["name"], order["args"]):
            return Admission("not executed: the approval was given for other arguments")
        return Admission()

    def report(self, order: Order, observation: dict[str, Any]) -> None:
        """Forget it: the checkpoint holds the observation."""
