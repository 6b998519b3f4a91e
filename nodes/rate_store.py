"""Calls per minute, shared by the processes of one machine: a moving window in a SQLite file, for `limits`."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from limits.storage import MovingWindowSupport, Storage


class SqliteStorage(Storage, MovingWindowSupport):
    """`sqlite:///path`; one row a call, counted and added in one transaction, so that processes cannot both win."""

    STORAGE_SCHEME = ["sqlite"]

    def __init__(self, uri: str, wrap_exceptions: bool = False, **_: Any) -> None:
        super().__init__(uri, wrap_exceptions=wrap_exceptions)
        self.path = uri.partition("sqlite:///")[2]
        with self.transaction() as connection:
            connection.execute("create table if not exists rate_calls (key text, at real, until real)")
            connection.execute("create index if not exists rate_calls_key on rate_calls (key, at)")

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """One writer at a time."""
        with closing(sqlite3.connect(self.path, timeout=30, isolation_level=None)) as connection:
            connection.execute("begin immediate")
            yield connection
            connection.execute("commit")

    @property
    def base_exceptions(self) -> type[Exception] | tuple[type[Exception], ...]:
        """What this storage may raise."""
        return sqlite3.Error

    def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        """Count `amount` calls if the window has room for them."""
        now = time.time()
        with self.transaction() as connection:
            connection.execute("delete from rate_calls where until <= ?", (now,))
            (used,) = connection.execute("select count(*) from rate_calls where key = ?", (key,)).fetchone()
            if used + amount > limit:
                return False
            connection.executemany("insert into rate_calls values (?, ?, ?)", [(key, now, now + expiry)] * amount)
        return True

    def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        """Start of the window and the calls in it."""
        now = time.time()
        with self.transaction() as connection:
            rows = "select min(at), count(*) from rate_calls where key = ? and at > ?"
            oldest, used = connection.execute(rows, (key, now - expiry)).fetchone()
        return (oldest if oldest is not None else now), int(used)

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        """Count without a limit."""
        self.acquire_entry(key, 2**62, expiry, amount)
        return self.get(key)

    def get(self, key: str) -> int:
        """Calls counted now."""
        with self.transaction() as connection:
            counted = "select count(*) from rate_calls where key = ? and until > ?"
            return int(connection.execute(counted, (key, time.time())).fetchone()[0])

    def get_expiry(self, key: str) -> float:
        """When the last of them is forgotten."""
        with self.transaction() as connection:
            (until,) = connection.execute("select max(until) from rate_calls where key = ?", (key,)).fetchone()
        return float(until or time.time())

    def check(self) -> bool:
        """Whether the file can be used."""
        with self.transaction() as connection:
            return bool(connection.execute("select 1").fetchone())

    def reset(self) -> int | None:
        """Forget everything."""
        with self.transaction() as connection:
            return int(connection.execute("delete from rate_calls").rowcount)

    def clear(self, key: str) -> None:
        """Forget one key."""
        with self.transaction() as connection:
            connection.execute("delete from rate_calls where key = ?", (key,))
