"""The ledger of calls: each is started once, finished once, and a broken one is taken up by what its tool promises."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from nodes.call_rows import found, found_or_proposed
from nodes.leases import LeaseLost, check
from nodes.order import Order, canonical
from nodes.permission import refusal_of
from nodes.policy import Policy
from nodes.records import Records
from nodes.runs import UNKNOWN
from tools.database import Database, Row, Transaction
from tools.tool import Tool
from tools.toolbox import Toolbox

KEY_HOURS = 24
"""How long a service is trusted to remember an idempotency key (Stripe's v1 keys: about a day)."""
Observation = dict[str, Any]


@dataclass(frozen=True)
class Admission:
    """Whether a call may run: it runs as `attempt`, or `observation` or `refusal` stands in its place."""

    attempt: int = 0
    refusal: str | None = None
    observation: Observation | None = None
    broken: bool = False
    """An earlier attempt broke off in the middle."""


@dataclass(frozen=True)
class Calls:
    """What `act` asks before it runs a tool, and tells afterwards."""

    records: Records
    policy: Policy
    toolbox: Toolbox

    @property
    def database(self) -> Database:
        """Where the ledger is."""
        return self.records.database

    def start(self, thread: str, order: Order, tool: Tool, fence: int | None) -> Admission:
        """Take the intent down, if the call may run now: the one use of its approval.

        Raises:
            LeaseLost: the thread belongs to another run by now.
        """
        mine: set[int] = set()

        def work(transaction: Transaction) -> Admission:
            check(transaction, thread, fence)
            row = found_or_proposed(self.records, transaction, self.toolbox, thread, order)
            if row["result_json"] and row["status"] in ("done", "failed", "unknown"):
                return Admission(observation=json.loads(self.records.opened(row["result_json"])))
            if row["status"] == "started" and row["attempt"] in mine:
                # The connection broke after the commit, before its answer: the intent stands already.
                return Admission(attempt=row["attempt"])
            mine.add(row["attempt"] + 1)
            if row["status"] == "started":
                return self._take_up(transaction, row, order, fence)
            if refusal := refusal_of(transaction, row, order, tool, self.policy):
                told = {"call": order["uid"], "tool": tool.name, "why": refusal}
                self.records.tell(transaction, thread, row["run_id"], "refused", told, f"refused {order['uid']}")
                return Admission(refusal=refusal)
            return self._begin(transaction, row, fence)

        return self.records.database.perform(work)

    def _begin(self, transaction: Transaction, row: Row, fence: int | None, broken: bool = False) -> Admission:
        attempt = row["attempt"] + 1
        started = transaction.run(
            "UPDATE tool_calls SET status = 'started', attempt = ?, fence = ?, started_at = COALESCE(started_at, ?)"
            " WHERE call_uid = ? AND status = ? AND attempt = ? AND args_sha256 = ?",
            attempt, fence, transaction.now, row["call_uid"], row["status"], row["attempt"], row["args_sha256"],
        )  # fmt: skip
        if started != 1:
            return Admission(refusal="not executed: the same call was started elsewhere")
        told = {"call": row["call_uid"], "tool": row["tool"], "attempt": attempt, "step": row["step"]}
        told |= {"sha256": row["args_sha256"], "args": json.loads(self.records.opened(row["args_json"]))}
        key = f"intent {row['call_uid']} {attempt}"
        self.records.tell(transaction, row["thread_id"], row["run_id"], "intent", told, key)
        return Admission(attempt=attempt, broken=broken)

    def _take_up(self, transaction: Transaction, row: Row, order: Order, fence: int | None) -> Admission:
        """A call whose process ended in the middle."""
        if fence is not None and row["fence"] == fence:
            return Admission(refusal="not executed: this call is running already")
        kind = row["effect_class"]
        old = kind == "keyed" and transaction.now > row["started_at"] + KEY_HOURS * 3600
        if kind == "once" or old:
            observation = _unknown(order)
            self._finish(transaction, row, observation, "unknown")
            return Admission(observation=observation)
        return self._begin(transaction, row, fence, broken=True)

    def finish(self, order: Order, attempt: int, observation: Observation, status: str) -> Observation:
        """Take down what became of a call; if that is known already, what is known.

        Raises:
            LeaseLost: another run took the call up in the meantime.
        """
        return self._conclude(order, attempt, lambda _: observation, status)

    def together(self, order: Order, attempt: int, run: Callable[[Transaction], Observation]) -> Observation:
        """Let `run` change the database and take down what became of it, in one transaction.

        Raises:
            LeaseLost: another run took the call up in the meantime.
        """
        return self._conclude(order, attempt, run, "done")

    def _conclude(
        self, order: Order, attempt: int, run: Callable[[Transaction], Observation], status: str
    ) -> Observation:
        def work(transaction: Transaction) -> Observation:
            row = found(transaction, order["uid"]) or {}
            if row.get("status") == "started" and row["attempt"] == attempt:
                observation = run(transaction)
                self._finish(transaction, row, observation, status)
                return observation
            if row.get("result_json"):
                known: Observation = json.loads(self.records.opened(row["result_json"]))
                return known
            raise LeaseLost(f"call {order['uid']} was taken up by another run; this one ends here")

        return self.records.database.perform(work)

    def suspend(self, order: Order, attempt: int) -> None:
        """The tool itself pauses the run (LangGraph's `interrupt`): it starts again when that is resumed."""
        self.records.database.perform(
            lambda transaction: transaction.run(
                "UPDATE tool_calls SET status = CASE WHEN decided_at IS NULL THEN 'proposed' ELSE 'approved' END"
                " WHERE call_uid = ? AND attempt = ? AND status = 'started'",
                order["uid"],
                attempt,
            )
        )

    def _finish(self, transaction: Transaction, row: Row, observation: Observation, status: str) -> None:
        changed = transaction.run(
            "UPDATE tool_calls SET status = ?, result_json = ?, error_code = ?, finished_at = ? WHERE call_uid = ?"
            " AND status = 'started' AND attempt = ?",
            status, self.records.closed(json.dumps(observation)), observation["code"], transaction.now,
            row["call_uid"], row["attempt"],
        )  # fmt: skip
        if changed != 1:
            raise LeaseLost(f"call {row['call_uid']} was taken up by another run; this one ends here")
        told = {"call": row["call_uid"], "tool": row["tool"], "status": status, "step": row["step"]}
        told |= {name: observation[name] for name in ("code", "text", "seconds")}
        key = f"observation {row['call_uid']}"
        self.records.tell(transaction, row["thread_id"], row["run_id"], "observation", told, key)


def _unknown(order: Order) -> Observation:
    args = json.loads(canonical(order["args"]))
    return {"call_id": order["id"], "args": args, "text": UNKNOWN, "code": "unknown", "seconds": 0.0}
