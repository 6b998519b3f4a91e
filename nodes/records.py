"""What is remembered beside the checkpoints, in the same database: runs, thoughts, calls, leases, the audit log."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, Protocol

from nodes.audit import AUDIT_TABLES, Audit
from nodes.leases import LEASES, Leases
from tools.database import Database, Transaction

LEDGER = (
    """CREATE TABLE runs (
        run_id TEXT PRIMARY KEY, thread_id TEXT NOT NULL, run_key TEXT NOT NULL, question_id TEXT NOT NULL,
        requester TEXT, began DOUBLE PRECISION NOT NULL, ended DOUBLE PRECISION);;
    CREATE INDEX runs_of ON runs (thread_id, run_key);;
    CREATE TABLE thoughts (
        run_id TEXT NOT NULL, step INTEGER NOT NULL, basis TEXT NOT NULL, told TEXT NOT NULL,
        PRIMARY KEY (run_id, step, basis));;
    CREATE TABLE tool_calls (
        call_uid TEXT PRIMARY KEY, thread_id TEXT NOT NULL, run_id TEXT NOT NULL, step INTEGER NOT NULL,
        idx INTEGER NOT NULL, provider_call_id TEXT NOT NULL, tool TEXT NOT NULL, args_json TEXT NOT NULL,
        args_sha256 TEXT NOT NULL, effect_class TEXT NOT NULL, untrusted INTEGER NOT NULL DEFAULT 0,
        status TEXT NOT NULL CHECK (status IN ('proposed', 'awaiting', 'approved', 'rejected', 'expired', 'started',
            'done', 'failed', 'unknown')),
        approval_id TEXT, request_json TEXT, asked_at DOUBLE PRECISION, expires_at DOUBLE PRECISION,
        decision TEXT, decision_json TEXT, decided_by TEXT, decided_at DOUBLE PRECISION, args_before_json TEXT,
        attempt INTEGER NOT NULL DEFAULT 0, fence BIGINT, result_json TEXT, error_code TEXT,
        created_at DOUBLE PRECISION NOT NULL, started_at DOUBLE PRECISION, finished_at DOUBLE PRECISION);;
    CREATE INDEX calls_of_runs ON tool_calls (run_id, step);;
    CREATE INDEX calls_of_threads ON tool_calls (thread_id, provider_call_id);;
    CREATE INDEX calls_open ON tool_calls (status, asked_at);;
    CREATE TABLE grants (
        run_id TEXT NOT NULL, tool TEXT NOT NULL, granted_by TEXT, granted_at DOUBLE PRECISION NOT NULL,
        PRIMARY KEY (run_id, tool))""",
)
KEPT_IN_MEMORY = 500
"""Ended runs that a process keeps where nothing is written to disk."""


class Seal(Protocol):
    """Makes text unreadable for whoever reads the database."""

    def close(self, text: str) -> str:
        """The text as it is stored."""

    def open(self, stored: str) -> str:
        """The text again.

        Raises:
            ValueError: it was not stored by this seal.
        """


class Records:
    """The ledger's tables in one database, made when first used."""

    def __init__(self, database: Database, audit: Audit | None = None, seal: Seal | None = None) -> None:
        self._database, self.audit, self.seal = database, audit, seal
        self.leases = Leases(database)
        self._ready = False
        self._lock = threading.Lock()

    @property
    def database(self) -> Database:
        """The database, with its tables."""
        if not self._ready:
            with self._lock:
                if not self._ready:
                    migrate(self._database, self.audit is not None)
                    self._ready = True
        return self._database

    def closed(self, text: str) -> str:
        """Text as it is stored."""
        return text if self.seal is None else self.seal.close(text)

    def opened(self, stored: str) -> str:
        """Text as it was."""
        return stored if self.seal is None else self.seal.open(stored)

    def tell(
        self,
        transaction: Transaction,
        thread: str,
        run: str,
        kind: str,
        data: Mapping[str, Any],
        event_key: str | None = None,
    ) -> None:
        """Take an event down in the audit log, if there is one."""
        if self.audit is not None:
            self.audit.append(transaction, thread, run, kind, data, event_key)

    def delete_thread(self, thread: str) -> None:
        """Forget the ledger of a thread; the audit log stays."""

        def work(transaction: Transaction) -> None:
            for table in ("thoughts", "grants"):
                runs = "SELECT run_id FROM runs WHERE thread_id = ?"
                transaction.run(f"DELETE FROM {table} WHERE run_id IN ({runs})", thread)
            for table in ("tool_calls", "runs"):
                transaction.run(f"DELETE FROM {table} WHERE thread_id = ?", thread)

        self.database.perform(work)

    def forget_old(self, transaction: Transaction) -> None:
        """Where nothing is written to disk, keep the newest of the ended runs only."""
        if self._database.durable:
            return
        old = "SELECT run_id FROM runs WHERE ended IS NOT NULL ORDER BY ended DESC LIMIT -1 OFFSET ?"
        for table in ("thoughts", "tool_calls", "grants", "runs"):
            transaction.run(f"DELETE FROM {table} WHERE run_id IN ({old})", KEPT_IN_MEMORY)


def migrate(database: Database, audit: bool = True) -> int:
    """Make or renew every table; the number of steps that were missing."""
    done = database.migrate("leases", LEASES) + database.migrate("ledger", LEDGER)
    if audit:
        done += database.migrate("audit", AUDIT_TABLES[database.kind])
    return done
