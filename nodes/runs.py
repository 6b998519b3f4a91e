"""Where a run begins and ends in the ledger, and what became of the calls that an earlier one left open."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from nodes.leases import check
from nodes.records import Records
from nodes.trail import fingerprint
from tools.database import Transaction

UNKNOWN = (
    "it is not known whether this call took effect: its process ended in the middle. Do not call it again; say so, and "
    "let a person look"
)
SUPERSEDED = "not executed: the user went on before this call could run"


@dataclass(frozen=True)
class Runs:
    """Every run of the database."""

    records: Records

    def begin(self, thread: str, question: Mapping[str, str], requester: str | None, fence: int | None) -> str:
        """The id of the run that answers `question` (its `id`, its `text`, and the id of the message `before` it).

        A run that broke off before anything of it was saved is the same run when its question comes again, so that what
        it did is not done twice. Calls that earlier runs left open are closed.

        Raises:
            LeaseLost: the thread belongs to another run by now.
        """
        key = fingerprint(json.dumps([thread, question["before"], question["text"]]))

        def work(transaction: Transaction) -> str:
            check(transaction, thread, fence)
            found = transaction.all(
                "SELECT run_id, question_id, ended FROM runs WHERE thread_id = ? AND run_key = ? ORDER BY began DESC",
                thread,
                key,
            )
            same = [row for row in found if thread and (row["ended"] is None or row["question_id"] == question["id"])]
            if same:
                return str(same[0]["run_id"])
            run_id = uuid4().hex
            transaction.run(
                "INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, NULL)",
                run_id, thread, key, question["id"], requester, transaction.now,
            )  # fmt: skip
            self._close(transaction, thread, run_id)
            told = {"question": question["text"], "requester": requester}
            self.records.tell(transaction, thread, run_id, "question", told)
            return run_id

        return self.records.database.perform(work)

    def _close(self, transaction: Transaction, thread: str, but: str) -> None:
        """Nothing that an earlier run left open can run any more, and nobody is asked about it."""
        if not thread:
            return
        closed = transaction.run(
            "UPDATE tool_calls SET status = 'expired', error_code = 'superseded', finished_at = ? WHERE thread_id = ?"
            " AND run_id <> ? AND status IN ('proposed', 'awaiting', 'approved')",
            transaction.now, thread, but,
        )  # fmt: skip
        begun = "SELECT * FROM tool_calls WHERE thread_id = ? AND run_id <> ? AND status = 'started'"
        for row in transaction.all(begun, thread, but):
            status = {"transactional": "expired", "pure": "failed"}.get(row["effect_class"], "unknown")
            closed += transaction.run(
                "UPDATE tool_calls SET status = ?, error_code = 'superseded', finished_at = ? WHERE call_uid = ?",
                status, transaction.now, row["call_uid"],
            )  # fmt: skip
            told = {"call": row["call_uid"], "tool": row["tool"], "status": status, "step": row["step"]}
            told |= {"code": "superseded", "text": UNKNOWN if status == "unknown" else SUPERSEDED, "seconds": 0.0}
            self.records.tell(transaction, thread, row["run_id"], "observation", told, f"observation {row['call_uid']}")
        if closed:
            self.records.tell(transaction, thread, but, "closed", {"calls": closed, "why": "a new question came"})

    def fates(self, thread: str, call_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """What became of calls that have no observation in the history: text and code, by the message's call id."""

        def work(transaction: Transaction) -> dict[str, dict[str, Any]]:
            fates: dict[str, dict[str, Any]] = {}
            for id in call_ids:
                row = transaction.one(
                    "SELECT status, result_json FROM tool_calls WHERE thread_id = ? AND provider_call_id = ?"
                    " ORDER BY created_at DESC LIMIT 1",
                    thread,
                    id,
                )
                if row is not None:
                    fates[id] = self._fate(row)
            return fates

        return self.records.database.perform(work) if call_ids and thread else {}

    def _fate(self, row: Mapping[str, Any]) -> dict[str, Any]:
        if row["result_json"]:
            result = json.loads(self.records.opened(row["result_json"]))
            return {"text": result["text"], "code": result["code"]}
        if row["status"] == "unknown":
            return {"text": UNKNOWN, "code": "unknown"}
        return {"text": SUPERSEDED, "code": "not_executed"}

    def end(self, thread: str, run_id: str, outcome: Mapping[str, Any]) -> None:
        """Close the run; a call that is still open can no longer run."""

        def work(transaction: Transaction) -> None:
            now = transaction.now
            transaction.run("UPDATE runs SET ended = ? WHERE run_id = ?", now, run_id)
            transaction.run(
                "UPDATE tool_calls SET status = 'expired', error_code = 'ended', finished_at = ? WHERE run_id = ?"
                " AND status IN ('proposed', 'awaiting', 'approved')",
                now,
                run_id,
            )
            told = {name: outcome.get(name) for name in ("status", "reason", "answer", "tokens")}
            self.records.tell(transaction, thread, run_id, "result", told)
            self.records.forget_old(transaction)

        self.records.database.perform(work)

    def note(self, thread: str, run_id: str, kind: str, data: Mapping[str, Any]) -> None:
        """Take something else down in the audit log."""
        if self.records.audit is not None:
            self.records.database.perform(
                lambda transaction: self.records.tell(transaction, thread, run_id, kind, data)
            )
