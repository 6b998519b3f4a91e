"""A question about a call as the ledger holds it: found by the run that waits for it, and said in words."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from nodes.records import Records

_ENDED = {
    "superseded": "it was superseded: a new question came before it could run",
    "ended": "its run has ended",
    "stale": "its approval was not used in time",
}


def short_id(call_uid: str) -> str:
    """The id of a call that a person types."""
    return hashlib.sha256(call_uid.encode()).hexdigest()[:10]


def asked_about(records: Records, thread: str, approval_id: str) -> dict[str, Any] | None:
    """The row that an interrupt of a thread asks about; `open` says whether it can be decided still."""
    with records.database.transaction() as transaction:
        row = transaction.one("SELECT * FROM tool_calls WHERE thread_id = ? AND approval_id = ?", thread, approval_id)
        if row is None:
            return None
        return {**row, "open": row["status"] == "awaiting" and row["expires_at"] >= transaction.now}


def standing(row: Mapping[str, Any]) -> str:
    """Why a call cannot be decided any more, or what became of it."""
    status = row["status"]
    if row["decision"] == "expired" or status == "awaiting":
        return "nobody decided in time"
    if status == "expired":
        return _ENDED.get(row["error_code"] or "", "its time has passed")
    if row["decision"]:
        by = f" by {row['decided_by']}" if row["decided_by"] else ""
        return f"it was decided already: {row['decision']}{by}, {clock(row['decided_at'])}"
    return {"proposed": "nobody is asked about it yet", "rejected": "it was refused"}.get(
        status, f"it needed nobody's approval ({status})"
    )


def clock(at: float) -> str:
    """A time as this computer's clock shows it."""
    return datetime.fromtimestamp(at).astimezone().isoformat(" ", "seconds")


def span(seconds: float) -> str:
    """A length of time, roughly."""
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(0.0, seconds):.0f} s"
