"""Whether a call may start: asked immediately before it runs, of the ledger and the policy, never of the state."""

from __future__ import annotations

from nodes.call_rows import tainted
from nodes.order import Order, sha256
from nodes.policy import Policy
from tools.database import Row, Transaction
from tools.tool import Tool


def refusal_of(transaction: Transaction, row: Row, order: Order, tool: Tool, policy: Policy) -> str | None:
    """Why the call may not run, as the model is told; None if it may."""
    if row["tool"] != tool.name or row["args_sha256"] != sha256(tool.name, order["args"]):
        return "not executed: it is not the call that was decided on; its arguments were changed afterwards"
    if row["status"] not in ("proposed", "approved"):
        return {
            "awaiting": "not executed: a person has not decided on this call yet",
            "rejected": "not executed: a person rejected this call",
        }.get(row["status"], "not executed: its time has passed; ask for it again if it is still wanted")
    dirty = tool.effect != "read" and tainted(transaction, row["run_id"], row["step"])
    verdict, why = policy.verdict(tool, order["args"], dirty)
    if verdict == "deny":
        return f"not executed: the policy forbids this call ({why})"
    if verdict == "allow" and row["status"] == "proposed":
        return None
    if row["status"] != "approved":
        return "not executed: this call needs the approval of a person, and there is none"
    if transaction.now > row["decided_at"] + policy.use_minutes * 60:
        transaction.run(
            "UPDATE tool_calls SET status = 'expired', error_code = 'stale' WHERE call_uid = ? AND status = 'approved'",
            row["call_uid"],
        )
        return (
            f"not executed: its approval was older than {policy.use_minutes:g} minutes when it was to run; "
            "ask for it again"
        )
    return None
