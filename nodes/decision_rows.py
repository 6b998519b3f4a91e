"""How a decision gets into the row of its call, and how it is read from there; always in the caller's transaction."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

from nodes.approval import Decision, call_fingerprint
from nodes.order import canonical, sha256
from nodes.records import Records
from tools.database import Row, Transaction

Settled = Literal["done", "failed"]
RAN = ("started", "done", "failed", "unknown")


def write(records: Records, transaction: Transaction, row: Row, decision: Decision, who: str | None) -> bool:
    """Write a decision into its row; False if the row has moved on since it was read."""
    args = decision.get("args")
    after = row["args_json"] if args is None else records.closed(canonical(args))
    sha = row["args_sha256"] if args is None else sha256(row["tool"], args)
    status = {"approve": "approved", "edit": "approved", "expired": "expired"}.get(decision["type"], "rejected")
    written = transaction.run(
        "UPDATE tool_calls SET status = ?, decision = ?, decision_json = ?, decided_by = ?, decided_at = ?,"
        " args_before_json = args_json, args_json = ?, args_sha256 = ? WHERE call_uid = ? AND status = ?"
        " AND args_sha256 = ?",
        status, decision["type"], records.closed(json.dumps(decision)), who, transaction.now, after, sha,
        row["call_uid"], row["status"], row["args_sha256"],
    )  # fmt: skip
    if written != 1:
        return False
    told: dict[str, Any] = {"call": row["call_uid"], "tool": row["tool"], "decision": decision["type"], "by": who}
    told |= {"why": decision.get("message", ""), "sha256": sha}
    told["before"] = json.loads(records.opened(row["args_json"]))
    told |= {} if args is None else {"after": args}
    records.tell(transaction, row["thread_id"], row["run_id"], "decision", told, f"decided {row['call_uid']}")
    return True


def expire(records: Records, transaction: Transaction, row: Row) -> Decision:
    """Nobody answered in time: the call does not run."""
    hours = f"{(row['expires_at'] - row['asked_at']) / 3600:.4g}"
    decision: Decision = {
        "type": "expired",
        "call": call_fingerprint(row["tool"], json.loads(records.opened(row["args_json"]))),
        "message": f"nobody decided within {hours} hours",
    }
    write(records, transaction, row, decision, None)
    return decision


def known(records: Records, row: Mapping[str, Any]) -> Decision:
    """The decision that stands; a row that was never decided ran without one, or will not run at all."""
    if row.get("decision_json"):
        decision: Decision = json.loads(records.opened(row["decision_json"]))
        return decision
    ran = row.get("status") in RAN
    args = json.loads(records.opened(row["args_json"])) if row else {}
    return {
        "type": "approve" if ran else "expired",
        "call": call_fingerprint(row.get("tool", ""), args),
        "message": "it ran already" if ran else "the run went on without it",
    }


def settle(records: Records, transaction: Transaction, row: Row, status: Settled, who: str | None, why: str) -> bool:
    """Write down what a person found out about a call of which nobody knew whether it took effect.

    Who approved the call, if somebody did, stays in the row; who settled it is in the observation and the audit log.
    """
    found = "it took effect" if status == "done" else "it did not take effect"
    observation: dict[str, Any] = {
        "call_id": row["provider_call_id"],
        "args": json.loads(records.opened(row["args_json"])),
        "text": f"a person looked: {found}{f' ({why})' if why else ''}",
        "code": "ok" if status == "done" else "tool_error",
        "seconds": 0.0,
        "settled": {"status": status, "by": who, "at": transaction.now, "why": why},
    }
    settled = transaction.run(
        "UPDATE tool_calls SET status = ?, result_json = ?, error_code = 'settled', finished_at = ?,"
        " decided_by = COALESCE(decided_by, ?), decided_at = COALESCE(decided_at, ?)"
        " WHERE call_uid = ? AND status = 'unknown'",
        status, records.closed(json.dumps(observation)), transaction.now, who, transaction.now, row["call_uid"],
    )  # fmt: skip
    if settled != 1:
        return False
    told = {"call": row["call_uid"], "tool": row["tool"], "status": status, "by": who, "why": why, "step": row["step"]}
    records.tell(transaction, row["thread_id"], row["run_id"], "settled", told, f"settled {row['call_uid']}")
    return True
