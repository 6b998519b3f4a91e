"""One writer a thread: a lease with a number that only grows, so that whoever lost it can change nothing more."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from nodes.owners import is_dead, owner
from tools.database import Database, Transaction

FENCE = "__reasonact_fence"
"""Where a run's config carries the number; names that begin like this never enter a checkpoint."""

LEASES = (
    """CREATE TABLE IF NOT EXISTS leases (
        thread_id TEXT PRIMARY KEY, owner TEXT NOT NULL, fence BIGINT NOT NULL, until DOUBLE PRECISION NOT NULL)""",
)


class ThreadBusy(RuntimeError):
    """Another run is at work on the thread: wait until it has ended or paused, then try again."""


class LeaseLost(RuntimeError):
    """This run was taken for dead and its thread given to another; what it still does is refused."""


@dataclass
class Leases:
    """The leases of one database, renewed while they are held."""

    database: Database
    seconds: float = 60.0
    """How long a lease holds without being renewed: longer than any process is thought to stand still."""
    _held: dict[str, int] = field(default_factory=dict)
    _renewed: float = field(default_factory=time.monotonic)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _beating: bool = False
    _ready: bool = False
    _idle: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def held(self, thread: str) -> Iterator[int]:
        """Hold a thread; gives the fencing number.

        Raises:
            ThreadBusy: somebody else holds it.
        """
        if not self._ready:
            self.database.migrate("leases", LEASES)
            self._ready = True
        fence = self.database.perform(lambda transaction: self._take(transaction, thread))
        with self._lock:
            if not self._held:
                self._renewed = time.monotonic()
            self._held[thread] = fence
        self._beat()
        try:
            yield fence
        finally:
            with self._lock:
                if self._held.get(thread) == fence:
                    del self._held[thread]
                if not self._held:
                    self._idle.set()
            self.database.perform(
                lambda transaction: transaction.run(
                    "UPDATE leases SET until = 0 WHERE thread_id = ? AND fence = ?", thread, fence
                )
            )

    def insist(self, thread: str, fence: int) -> None:
        """Make sure that the lease is still held; the database is asked only if it was not renewed of late.

        Raises:
            LeaseLost: it is not.
        """
        fresh = not self.database.durable or time.monotonic() - self._renewed < self.seconds / 2
        if self._held.get(thread) == fence and fresh:
            return
        self.database.perform(lambda transaction: check(transaction, thread, fence))

    def _take(self, transaction: Transaction, thread: str) -> int:
        now, me = transaction.now, owner()
        until = now + self.seconds if self.database.durable else float("1e300")
        taken = transaction.one(
            "INSERT INTO leases VALUES (?, ?, 1, ?) ON CONFLICT (thread_id) DO UPDATE SET owner = excluded.owner,"
            " fence = leases.fence + 1, until = excluded.until WHERE leases.until < ? RETURNING fence",
            thread,
            me,
            until,
            now,
        )
        if taken is None:
            held = transaction.one("SELECT owner, fence, until FROM leases WHERE thread_id = ?", thread) or {}
            if not is_dead(str(held.get("owner", ""))):
                raise ThreadBusy(f"another run is at work on thread {thread}; try again when it has ended or paused")
            taken = transaction.one(
                "UPDATE leases SET owner = ?, fence = fence + 1, until = ? WHERE thread_id = ? AND fence = ?"
                " RETURNING fence",
                me,
                until,
                thread,
                held["fence"],
            )
        if taken is None:
            raise ThreadBusy(f"another run has just begun on thread {thread}; try again when it has ended or paused")
        return int(taken["fence"])

    def _beat(self) -> None:
        with self._lock:
            self._idle.clear()
            if self._beating or not self.database.durable:
                return
            self._beating = True
        threading.Thread(target=self._renew_while_held, daemon=True, name="reasonact leases").start()

    def _renew_while_held(self) -> None:
        while True:
            self._idle.wait(self.seconds / 4)
            with self._lock:
                held = dict(self._held)
                if not held:
                    self._beating = False
                    return
            began = time.monotonic()
            try:
                lost = self.database.perform(lambda transaction, held=held: self._renew(transaction, held))  # type: ignore[misc]
                with self._lock:
                    for thread in lost:
                        if self._held.get(thread) == held[thread]:
                            del self._held[thread]
                    self._renewed = began
            except Exception:
                # The database is away: the next beat may reach it, and if none does, the lease is rightly lost.
                continue

    def _renew(self, transaction: Transaction, held: dict[str, int]) -> list[str]:
        """The threads that were given to somebody else in the meantime."""
        until = transaction.now + self.seconds
        renewal = "UPDATE leases SET until = ? WHERE thread_id = ? AND fence = ?"
        return [thread for thread, fence in held.items() if not transaction.run(renewal, until, thread, fence)]


def check(transaction: Transaction, thread: str, fence: int | None) -> None:
    """Let a change through only if the thread's lease is still the one it is made under; None is a run without one.

    Raises:
        LeaseLost: it is not.
    """
    if fence is None:
        return
    lock = " FOR SHARE" if transaction.database.kind == "postgresql" else ""
    held = transaction.one(f"SELECT fence FROM leases WHERE thread_id = ?{lock}", thread)
    if held is None or held["fence"] != fence:
        raise LeaseLost(f"thread {thread} was given to another run; this one ends here")


def fence_of(config: Any) -> int | None:
    """The fencing number that a run's config carries."""
    number = (config or {}).get("configurable", {}).get(FENCE)
    return int(number) if number is not None else None
