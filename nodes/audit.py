"""The audit log: who asked for what and what became of it, one chain of records a thread, added and never changed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nodes.audit_check import Anchor, content, heads, seal, verify
from nodes.audit_file import add_line, line, read_file
from nodes.audit_tables import AUDIT_TABLES
from nodes.redacting import DEFAULT, Redaction
from tools.database import Transaction

__all__ = ["AUDIT_TABLES", "Anchor", "Audit", "content", "heads", "line", "read_file", "records", "threads", "verify"]

_LOCK = 1_635_083_369
"""The first number of the advisory locks of PostgreSQL that appending holds; the second one is the thread's."""


class Audit:
    """Adds records to the log.

    Every record carries a code made of itself and of the code before it. With a key (HMAC-SHA256) nobody without the
    key can change, remove, move or add a record unnoticed. Without one (SHA-256) accidents are found, but not an
    attacker, who can compute every code anew. Either way, records cut off at the end are found only against an anchor
    that is kept elsewhere (`heads`).
    """

    def __init__(self, key: bytes | None = None, *, hide: Redaction = DEFAULT, file: Path | None = None) -> None:
        if key is not None and not key:
            raise ValueError("the key of the audit log is empty: give one, or None for a log without")
        self._key, self._hide, self._file = key, hide, file

    def append(
        self,
        transaction: Transaction,
        thread: str,
        run: str,
        kind: str,
        data: Mapping[str, Any],
        event_key: str | None = None,
    ) -> None:
        """Add a record in the caller's transaction, so that it stands or falls with what it tells of.

        A second record with the same `event_key` on the thread is skipped: the node ran again. Secrets are taken out of
        `data`; the other values are ids and are written as they are. The line of the file is written before the
        transaction ends: should that be undone, the line stays, and is replaced by a later one with its number.

        Raises:
            OSError: the file cannot be written.
        """
        _wait_for(transaction, thread)
        if event_key is not None and _known(transaction, thread, event_key):
            return
        last = transaction.one("SELECT seq, mac FROM audit WHERE thread_id = ? ORDER BY seq DESC LIMIT 1", thread)
        seq, before = (last["seq"] + 1, last["mac"]) if last else (1, "")
        at = float(transaction.now)
        said = {"thread": thread, "seq": seq, "run": run, "kind": kind, "at": at, "event_key": event_key}
        record = canonical({**said, "data": self._hide.clean(data)})
        mac = seal(self._key, before, record)
        transaction.run(
            "INSERT INTO audit (thread_id, seq, run_id, kind, at, record, mac, event_key)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            *(thread, seq, run, kind, at, record, mac, event_key),
        )
        if self._file is not None:
            add_line(self._file, line(record, mac))


def canonical(data: Mapping[str, Any]) -> str:
    """The one way to write plain data as JSON: sorted, compact, ASCII."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def records(transaction: Transaction, thread: str | None = None) -> Iterator[dict[str, Any]]:
    """Every record of the table, or of one thread, in order: its columns, `record` and `mac`."""
    for name in threads(transaction) if thread is None else [thread]:
        yield from transaction.all(
            "SELECT thread_id AS thread, seq, run_id AS run, kind, at, event_key, record, mac"
            " FROM audit WHERE thread_id = ? ORDER BY seq",
            name,
        )


def threads(transaction: Transaction) -> list[str]:
    """Every thread that has records."""
    rows = transaction.all("SELECT DISTINCT thread_id AS thread FROM audit ORDER BY thread_id")
    return [row["thread"] for row in rows]


def _wait_for(transaction: Transaction, thread: str) -> None:
    """Let one transaction at a time append to the thread; in SQLite only one writes anyway."""
    if transaction.database.kind == "postgresql":
        transaction.one("SELECT pg_advisory_xact_lock(?, hashtext(?))", _LOCK, thread)


def _known(transaction: Transaction, thread: str, event_key: str) -> bool:
    found = transaction.one("SELECT 1 AS one FROM audit WHERE thread_id = ? AND event_key = ?", thread, event_key)
    return found is not None
