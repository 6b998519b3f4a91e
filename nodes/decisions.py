"""Where a person's decision is kept: one row a call, asked about once, decided once, by compare-and-set."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from nodes.answers import UnclearAnswer, decide
from nodes.approval import Decision, call_fingerprint
from nodes.call_rows import found, found_or_proposed, tainted
from nodes.decision_rows import Settled, expire, known, settle, write
from nodes.order import Order, canonical, sha256
from nodes.policy import Policy
from nodes.records import Records
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

    def ask(
        self, thread: str, order: Order, approval_id: str, shown: Mapping[str, Any] = MappingProxyType({})
    ) -> Asked:
        """Open the question, or find it open, or decided; safe to repeat. `shown` is what else the person is shown."""

        def work(transaction: Transaction) -> Asked:
            row = found_or_proposed(self.records, transaction, self.toolbox, thread, order)
            run = transaction.one("SELECT requester FROM runs WHERE run_id = ?", row["run_id"]) or {}
            requester = run.get("requester")
            if row["status"] not in ("proposed", "awaiting"):
                return Asked(False, 0.0, requester, known(self.records, row))
            now = transaction.now
            if row["status"] == "awaiting" and row["expires_at"] < now:
                return Asked(False, row["expires_at"], requester, expire(self.records, transaction, row))
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
                    " args_json = ?, args_sha256 = ?, request_json = ? WHERE call_uid = ?"
                    " AND status IN ('proposed', 'awaiting')",
                    approval_id, row["asked_at"] if same else now, expires,
                    self.records.closed(canonical(order["args"])), sha,
                    self.records.closed(json.dumps(dict(shown), default=str)), order["uid"],
                )  # fmt: skip
                told = {"call": order["uid"], "tool": order["name"], "args": order["args"], "sha256": sha}
                self.records.tell(transaction, thread, row["run_id"], "asked", told, f"{order['uid']} {approval_id}")
            return Asked(fresh, expires, requester)

        return self.records.database.perform(work)

    def decide(
        self, call_uid: str, approval_id: str, decision: Decision, who: str | None, sha: str | None = None
    ) -> Decision:
        """Take a decision down; if there is one already, that one stands and is given back.

        With `sha`, the hash of what the person was shown, a call that was changed since is not decided.
        """

        def work(transaction: Transaction) -> Decision:
            row = found(transaction, call_uid)
            if row is None or row["status"] != "awaiting" or row["approval_id"] != approval_id:
                return known(self.records, row or {})
            if sha not in (None, row["args_sha256"]):
                return known(self.records, row)
            if row["expires_at"] < transaction.now:
                return expire(self.records, transaction, row)
            if not write(self.records, transaction, row, decision, who):
                return known(self.records, found(transaction, call_uid) or {})
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

    def judged(self, answer: Any, call: Mapping[str, Any], requester: str | None, who: str | None) -> Decision:
        """A person's answer as the decision that the ledger keeps; `call` has name, args and id.

        Raises:
            UnclearAnswer: it cannot count; the message says why.
        """
        tool = self.toolbox[call["name"]]
        decision = decide(answer, call, tool)
        if decision["type"] in ("approve", "edit"):
            if self.policy.other_person and (who is None or who == requester):
                raise UnclearAnswer("whoever asked for this run may not approve its calls; another person must")
            verdict, why = self.policy.verdict(tool, decision.get("args", call["args"]))
            if verdict == "deny":
                raise UnclearAnswer(f"the policy forbids these arguments ({why})")
        return decision

    def sweep(self) -> int:
        """Close every question whose time has passed; how many there were."""

        def work(transaction: Transaction) -> int:
            past = "SELECT * FROM tool_calls WHERE status = 'awaiting' AND expires_at < ?"
            late = transaction.all(past, transaction.now)
            for row in late:
                expire(self.records, transaction, row)
            return len(late)

        return self.records.database.perform(work)

    def settle(self, call_uid: str, status: Settled, who: str | None, why: str = "") -> bool:
        """Close a call of which nobody knew whether it took effect; False if it is not, or no longer, one of these."""

        def work(transaction: Transaction) -> bool:
            row = found(transaction, call_uid)
            return row is not None and settle(self.records, transaction, row, status, who, why)

        return self.records.database.perform(work)

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
        write(self.records, transaction, row, decision, grant["granted_by"])
        return decision
