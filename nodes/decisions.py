"""Where a person's decision is kept: one row a call, asked about once, decided once, by compare-and-set."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nodes.approval import Decision, call_fingerprint
from nodes.order import Order, canonical, sha256
from nodes.policy import Policy
from nodes.records import Records
from nodes.thoughts import propose
from tools.database import Row, Transaction
from tools.toolbox import Toolbox

HOUR = 3600.0


@dataclass(frozen=True)
class Asked:
    """A question as the ledger holds it."""

    fresh: bool
    """Whether this visit opened it: then nobody has seen it yet, and no answer can be meant for it."""
    expires: float
    """When it can no longer be answered, in seconds since 1970."""
    requester: str | None
    decision: Decision | None = None
    """What was decided, if it was."""


@dataclass(frozen=True)
class Decisions:
    """Every question about a call, and its answer."""

    records: Records
    policy: Policy
    toolbox: Toolbox

    def ask(self, thread: str, order: Order, approval_id: str) -> Asked:
        """Open the question, or find it open, or decided; safe to repeat."""

        def work(transaction: Transaction) -> Asked:
            row = found(transaction, order["uid"])
            if row is None:
                propose(self.records, transaction, self.toolbox, thread, order["uid"], _call(order))
                row = found(transaction, order["uid"]) or {}
            run = transaction.one("SELECT requester FROM runs WHERE run_id = ?", row["run_id"]) or {}
            requester = run.get("requester")
            if row["status"] not in ("proposed", "awaiting"):
                return Asked(False, 0.0, requester, self._known(row))
            now = transaction.now
            if row["status"] == "awaiting" and row["expires_at"] < now:
                return Asked(False, row["expires_at"], requester, self.expire(transaction, row))
            if row["status"] == "proposed" and (grant := self._granted(transaction, row)):
                return Asked(False, 0.0, requester, self._grant(transaction, row, grant))
            sha = sha256(order["name"], order["args"])
            fresh = row["status"] == "proposed" or row["approval_id"] != approval_id or row["args_sha256"] != sha
            # A question that is asked again because its answer was unclear does not get more time by that.
            same = row["status"] == "awaiting" and row["args_sha256"] == sha
            expires = row["expires_at"] if same else now + self.policy.unanswered_hours * HOUR
            if fresh:
                transaction.run(
                    "UPDATE tool_calls SET status = 'awaiting', approval_id = ?, asked_at = ?, expires_at = ?,"
                    " args_json = ?, args_sha256 = ? WHERE call_uid = ? AND status IN ('proposed', 'awaiting')",
                    approval_id, row["asked_at"] if same else now, expires,
                    self.records.closed(canonical(order["args"])), sha, order["uid"],
                )  # fmt: skip
                told = {"call": order["uid"], "tool": order["name"], "args": order["args"], "sha256": sha}
                self.records.tell(transaction, thread, row["run_id"], "asked", told, f"{order['uid']} {approval_id}")
            return Asked(fresh, expires, requester)

        return self.records.database.perform(work)

    def decide(self, call_uid: str, approval_id: str, decision: Decision, who: str | None) -> Decision:
        """Take a decision down; if there is one already, that one stands and is given back."""

        def work(transaction: Transaction) -> Decision:
            row = found(transaction, call_uid)
            if row is None or row["status"] != "awaiting" or row["approval_id"] != approval_id:
                return self._known(row or {})
            if row["expires_at"] < transaction.now:
                return self.expire(transaction, row)
            if not self._write(transaction, row, decision, who):
                return self._known(found(transaction, call_uid) or {})
            if decision.get("always"):
                transaction.run(
                    "INSERT INTO grants VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                    row["run_id"], row["tool"], who, transaction.now,
                )  # fmt: skip
            return decision

        return self.records.database.perform(work)

    def refuse(self, thread: str, refused: Sequence[Order], why: Mapping[str, str]) -> None:
        """Close calls that nobody is asked about and that do not run; `why` is what the model is told, by call id."""
        if not refused:
            return

        def work(transaction: Transaction) -> None:
            for order in refused:
                transaction.run(
                    "UPDATE tool_calls SET status = 'rejected', error_code = 'not_executed', finished_at = ?"
                    " WHERE call_uid = ? AND status IN ('proposed', 'approved')",
                    transaction.now,
                    order["uid"],
                )
                told = {"call": order["uid"], "tool": order["name"], "why": why.get(order["id"], "")}
                key = f"refused {order['uid']}"
                self.records.tell(transaction, thread, order["run_id"], "refused", told, key)

        self.records.database.perform(work)

    def expire(self, transaction: Transaction, row: Row) -> Decision:
        """Nobody answered in time: the call does not run."""
        hours = f"{self.policy.unanswered_hours:g}"
        decision: Decision = {
            "type": "expired",
            "call": call_fingerprint(row["tool"], json.loads(self.records.opened(row["args_json"]))),
            "message": f"nobody decided within {hours} hours",
        }
        self._write(transaction, row, decision, None)
        return decision

    def _write(self, transaction: Transaction, row: Row, decision: Decision, who: str | None) -> bool:
        args = decision.get("args")
        after = row["args_json"] if args is None else self.records.closed(canonical(args))
        sha = row["args_sha256"] if args is None else sha256(row["tool"], args)
        status = {"approve": "approved", "edit": "approved", "expired": "expired"}.get(decision["type"], "rejected")
        written = transaction.run(
            "UPDATE tool_calls SET status = ?, decision = ?, decision_json = ?, decided_by = ?, decided_at = ?,"
            " args_before_json = args_json, args_json = ?, args_sha256 = ? WHERE call_uid = ? AND status = ?",
            status, decision["type"], self.records.closed(json.dumps(decision)), who, transaction.now, after, sha,
            row["call_uid"], row["status"],
        )  # fmt: skip
        if written != 1:
            return False
        told: dict[str, Any] = {"call": row["call_uid"], "tool": row["tool"], "decision": decision["type"], "by": who}
        told |= {"why": decision.get("message", ""), "sha256": sha}
        told["before"] = json.loads(self.records.opened(row["args_json"]))
        told |= {} if args is None else {"after": args}
        self.records.tell(transaction, row["thread_id"], row["run_id"], "decision", told, f"decided {row['call_uid']}")
        return True

    def _granted(self, transaction: Transaction, row: Row) -> Row | None:
        """Who approved the tool for the whole run; not once the run has read what anybody may have written."""
        grant = transaction.one("SELECT * FROM grants WHERE run_id = ? AND tool = ?", row["run_id"], row["tool"])
        if grant is None or (self.policy.taint and tainted(transaction, row["run_id"], row["step"])):
            return None
        return grant

    def _grant(self, transaction: Transaction, row: Row, grant: Row) -> Decision:
        args = json.loads(self.records.opened(row["args_json"]))
        decision: Decision = {
            "type": "approve",
            "call": call_fingerprint(row["tool"], args),
            "message": "approved for every call of this tool in this run",
        }
        self._write(transaction, row, decision, grant["granted_by"])
        return decision

    def _known(self, row: Mapping[str, Any]) -> Decision:
        if row.get("decision_json"):
            decision: Decision = json.loads(self.records.opened(row["decision_json"]))
            return decision
        kind: Any = "expired" if row.get("status", "expired") == "expired" else "approve"
        args = json.loads(self.records.opened(row["args_json"])) if row else {}
        return {
            "type": kind,
            "call": call_fingerprint(row.get("tool", ""), args),
            "message": "the run went on without it" if kind == "expired" else "it ran already",
        }


def found(transaction: Transaction, call_uid: str) -> Row | None:
    """The row of a call."""
    return transaction.one("SELECT * FROM tool_calls WHERE call_uid = ?", call_uid)


def tainted(transaction: Transaction, run_id: str, step: int) -> bool:
    """Whether, before this step, the run was told something by an untrusted tool."""
    return bool(
        transaction.one(
            "SELECT 1 AS one FROM tool_calls WHERE run_id = ? AND step < ? AND untrusted = 1 AND attempt > 0 LIMIT 1",
            run_id,
            step,
        )
    )


def _call(order: Order) -> dict[str, Any]:
    return {"name": order["name"], "args": order["args"], "id": order["id"]}
