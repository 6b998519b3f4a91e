"""The row of a call: how it comes into the ledger, and how it is found there; always in the caller's transaction."""

from __future__ import annotations

from typing import Any

from nodes.order import Order, canonical, sha256
from nodes.records import Records
from tools.database import Row, Transaction
from tools.toolbox import Toolbox


def found(transaction: Transaction, call_uid: str) -> Row | None:
    """The row, if there is one."""
    return transaction.one("SELECT * FROM tool_calls WHERE call_uid = ?", call_uid)


def found_or_proposed(records: Records, transaction: Transaction, toolbox: Toolbox, thread: str, order: Order) -> Row:
    """The row of an order; a thread from before there was a ledger has none, so it is proposed now."""
    row = found(transaction, order["uid"])
    if row is None:
        propose(records, transaction, toolbox, thread, order["uid"], order)
        row = found(transaction, order["uid"]) or {}
    return row


def propose(
    records: Records, transaction: Transaction, toolbox: Toolbox, thread: str, call_uid: str, call: Any
) -> None:
    """One call as a row of the ledger, if it is not there: `call` has name, args and id."""
    run_id, step, index, _ = call_uid.rsplit("/", 3)
    tool = toolbox[call["name"]]
    transaction.run(
        "INSERT INTO tool_calls (call_uid, thread_id, run_id, step, idx, provider_call_id, tool, args_json,"
        " args_sha256, effect_class, untrusted, status, created_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'proposed', ?) ON CONFLICT DO NOTHING",
        call_uid, thread, run_id, int(step), int(index), str(call["id"]), tool.name,
        records.closed(canonical(call["args"])), sha256(tool.name, call["args"]),
        tool.effect_class(transaction.database), int(tool.untrusted), transaction.now,
    )  # fmt: skip


def tainted(transaction: Transaction, run_id: str, step: int) -> bool:
    """Whether, before this step, the run was told something by an untrusted tool."""
    told = "SELECT 1 AS one FROM tool_calls WHERE run_id = ? AND step < ? AND untrusted = 1 AND attempt > 0 LIMIT 1"
    return bool(transaction.one(told, run_id, step))
