"""One database by its address: memory, a SQLite file or PostgreSQL, with the same few words for all three."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, TypeVar

from tools.addresses import MEMORY, DatabaseError, path_of
from tools.connections import open_file, open_pool, unreachable

__all__ = ["Database", "DatabaseError", "Row", "Transaction"]

T = TypeVar("T")
Row = dict[str, Any]

WAIT = 30.0
"""Seconds to wait for somebody else's change, or for a free connection."""
PAUSES = (0.05, 0.2, 0.5, 1.0, 2.0, 4.0)
"""Seconds between the tries of a change while the database cannot be reached."""
_LOCK = 7_265_461_735_000_001
"""The advisory lock of PostgreSQL that migrations hold."""


class Transaction:
    """What may be done between begin and commit; `?` stands for a value in every dialect."""

    def __init__(self, database: Database, connection: Any) -> None:
        self.database, self.connection = database, connection

    def run(self, sql: str, *values: Any) -> int:
        """Execute a statement; the number of rows it changed."""
        return int(self._execute(sql, values).rowcount)

    def all(self, sql: str, *values: Any) -> list[Row]:
        """The rows of a query."""
        return [dict(row) for row in self._execute(sql, values).fetchall()]

    def one(self, sql: str, *values: Any) -> Row | None:
        """The first row of a query, or None."""
        row = self._execute(sql, values).fetchone()
        return None if row is None else dict(row)

    def migrate(self, name: str, steps: Sequence[str]) -> int:
        """As `Database.migrate`, as a part of this transaction."""
        if self.database.kind == "postgresql":
            self.one("SELECT pg_advisory_xact_lock(?)", _LOCK)
        self.run("CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, version INTEGER NOT NULL)")
        row = self.one("SELECT version FROM migrations WHERE name = ?", name)
        done = row["version"] if row else 0
        for step in steps[done:]:
            for statement in filter(str.strip, step.split(";;")):
                self.run(statement)
        if done < len(steps):
            self.run(
                "INSERT INTO migrations VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET version = excluded.version",
                name,
                len(steps),
            )
        return max(0, len(steps) - done)

    @property
    def now(self) -> float:
        """Seconds since 1970 by the clock that every process at work on the database shares."""
        if self.database.kind == "sqlite":
            return time.time()
        return float(self.one("SELECT extract(epoch FROM clock_timestamp())::float8 AS now")["now"])  # type: ignore[index]

    def _execute(self, sql: str, values: Sequence[Any]) -> Any:
        if self.database.kind == "postgresql":
            sql = sql.replace("%", "%%").replace("?", "%s")
        return self.connection.execute(sql, values)


class Database:
    """Opened when first used; safe to share between threads; nothing of it may cross a fork."""

    def __init__(self, url: str = "memory") -> None:
        self.url = url
        self.kind: Literal["sqlite", "postgresql"] = "sqlite"
        self.path = path_of(url)
        if self.path is None:
            self.kind = "postgresql"
        self._lock = threading.RLock()
        self._connection: Any = None

    def __eq__(self, other: object) -> bool:
        """Whether both are the same place, so that one transaction can hold changes of both."""
        if self is other or not isinstance(other, Database):
            return self is other
        return self.durable and (self.path or self.url) == (other.path or other.url)

    def __hash__(self) -> int:
        return hash(self.path or self.url)

    def __del__(self) -> None:
        # Python 3.13 warns of SQLite connections that nobody closed; a pool sees to itself.
        if getattr(self, "path", None) and self._connection is not None:
            self._connection.close()

    @property
    def durable(self) -> bool:
        """Whether it outlives the process."""
        return self.path != MEMORY

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """All of what is done inside, or nothing of it.

        Raises:
            sqlite3.Error, psycopg.Error: the database cannot be reached or refuses.
        """
        if self.kind == "postgresql":
            with self.pool.connection(timeout=WAIT) as connection, connection.transaction():
                yield Transaction(self, connection)
            return
        if not self._lock.acquire(timeout=WAIT):
            raise sqlite3.OperationalError("database is locked")
        try:
            if self._connection is None:
                self._connection = open_file(str(self.path), WAIT)
            connection = self._connection
            # Taking the write lock at once means that what is checked cannot change before it is written.
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield Transaction(self, connection)
                connection.execute("COMMIT")
            except BaseException:
                # A full disk has ended the transaction already; a foreign key that is found broken has not.
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
        finally:
            self._lock.release()

    def perform(self, work: Callable[[Transaction], T]) -> T:
        """Do `work` in a transaction, and again while the database cannot be reached.

        A connection may break after the commit, so `work` must see for itself that it was done already.
        """
        for pause in (*PAUSES, None):
            try:
                with self.transaction() as transaction:
                    return work(transaction)
            except Exception as error:
                if pause is None or not unreachable(error, self.kind):
                    raise
                time.sleep(pause)
        raise AssertionError("unreachable")

    def migrate(self, name: str, steps: Sequence[str]) -> int:
        """Bring the tables called `name` to the last of `steps`, each a script; the number that were missing.

        A script's statements end in `;;`. Any number of processes may do this at once.
        """
        return self.perform(lambda transaction: transaction.migrate(name, steps))

    @contextmanager
    def alone(self) -> Iterator[None]:
        """While no other process makes or renews tables of the same PostgreSQL database."""
        if self.kind == "sqlite":
            yield
            return
        with self.pool.connection(timeout=WAIT) as connection:
            connection.execute("SELECT pg_advisory_lock(%s)", (_LOCK,))
            try:
                yield
            finally:
                connection.execute("SELECT pg_advisory_unlock(%s)", (_LOCK,))

    @property
    def pool(self) -> Any:
        """The pool of connections to PostgreSQL (`psycopg_pool.ConnectionPool`).

        Raises:
            DatabaseError: psycopg is not installed, or it cannot read the address.
            psycopg.Error: the server cannot be reached or refuses.
        """
        with self._lock:
            if self._connection is None:
                self._connection = open_pool(self.url, WAIT)
            return self._connection

    def close(self) -> None:
        """Let go of the connections; used again, it opens new ones."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None
