"""One call on its way to `act`, as plain data, with the identity that the ledger knows it by."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from typing_extensions import TypedDict

from nodes.state import Working


class Order(TypedDict):
    """One call on its way to `act`; it can wait in a checkpoint."""

    id: str
    """The id that the message gives it; clients and the history know it by this."""
    uid: str
    """Run, step, place and basis: ours, never used again, and the idempotency key that the tool gets."""
    name: str
    args: dict[str, Any]
    run_id: str
    step: int
    index: int
    seconds: float
    """What the run has spent of its time."""


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
                    "uid": uid(run["id"], run["step"], index, state["turn"].get("basis", "")),
                    "name": call["name"],
                    "args": decision["args"] if decision and "args" in decision else call["args"],
                    "run_id": run["id"],
                    "step": run["step"],
                    "index": index,
                    "seconds": run["seconds"],
                }
            )
    return made


def uid(run_id: str, step: int, index: int, basis: str) -> str:
    """The identity of a call."""
    return f"{run_id}/{step}/{index}/{basis}"


def is_order(given: Any) -> bool:
    """Whether `act` was handed a call at all: a caller's `goto` hands it the whole state."""
    return isinstance(given, Mapping) and Order.__required_keys__ <= given.keys()


def canonical(args: Mapping[str, Any]) -> str:
    """Arguments as the one text that stands for them: sorted, compact, ASCII."""
    return json.dumps(args, sort_keys=True, separators=(",", ":"), default=str)


def sha256(tool: str, args: Mapping[str, Any]) -> str:
    """Hash of a call: the tool's name and the canonical arguments."""
    return hashlib.sha256(f"{tool}\n{canonical(args)}".encode()).hexdigest()
