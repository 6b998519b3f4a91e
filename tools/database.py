"""One database by its address: memory, a SQLite file or PostgreSQL, with the same few words for all three."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal, TypeVar
from urllib.parse import unquote

T = TypeVar("T")
Row = dict[str, Any]

WAIT = 30.0
"""Seconds to wait for somebody else's change, or for a free connection."""
PAUSES = (0.05, 0.2, 0.5, 1.0, 2.0, 4.0)
"""Seconds between the tries of a change while the database cannot be reached."""
_LOCK = 7_265_461_735_000_001
"""The advisory lock of PostgreSQL that migrations hold."""


class DatabaseError(ValueError):
    """The address of a database cannot be used; the message says what to change."""


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

    @property
    def now(self) -> float:
        """Seconds since 1970 by the clock that every process at work on the database shares."""
        if self.database.kind == "sqlite":
            return time.time()
        return float(self.one("SELECT extract(epoch FROM clock_timestamp())::float8 AS now")["now"])  # type: ignore[index]

    def _execute(self, sql: str, values: Sequence[Any]) -> Any:
        return self.connection.execute(sql if self.database.kind == "sqlite" else sql.replace("?", "%s"), values)


class Database:
    """Opened when first used; safe to share between threads; nothing of it may cross a fork."""

    def __init__(self, url: str = "memory") -> None:
        self.url = url
        self.kind: Literal["sqlite", "postgresql"] = "sqlite"
        self.path = _path(url)
        if self.path is None:
            self.kind = "postgresql"
        self._lock = threading.RLock()
        self._connection: Any = None

    def __eq__(self, other: object) -> bool:
        """Whether both are the same place, so that one transaction can hold changes of both."""
        return self is other or (isinstance(other, Database) and self.url == other.url and self.path != ":memory:")

    def __hash__(self) -> int:
        return hash(self.url)

    @property
    def durable(self) -> bool:
        """Whether it outlives the process."""
        return self.path != ":memory:"

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
            connection = self._connection or self._connect()
            # Taking the write lock at once means that what is checked cannot change before it is written.
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield Transaction(self, connection)
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")
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
                if pause is None or not self._unreachable(error):
                    raise
                time.sleep(pause)
        raise AssertionError("unreachable")

    def migrate(self, name: str, steps: Sequence[str]) -> int:
        """Bring the tables called `name` to the last of `steps`, each a script; the number that were missing.

        Any number of processes may do this at once.
        """

        def work(transaction: Transaction) -> int:
            if self.kind == "postgresql":
                transaction.one("SELECT pg_advisory_xact_lock(?)", _LOCK)
            transaction.run("CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, version INTEGER NOT NULL)")
            row = transaction.one("SELECT version FROM migrations WHERE name = ?", name)
            done = row["version"] if row else 0
            for step in steps[done:]:
                for statement in filter(str.strip, step.split(";;")):
                    transaction.run(statement)
            if done < len(steps):
                transaction.run(
                    "INSERT INTO migrations VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET version = excluded.version",
                    name,
                    len(steps),
                )
            return max(0, len(steps) - done)

        return self.perform(work)

    @property
    def pool(self) -> Any:
        """The pool of connections to PostgreSQL (`psycopg_pool.ConnectionPool`).

        Raises:
            DatabaseError: psycopg is not installed.
        """
        with self._lock:
            if self._connection is None:
                self._connection = _pool(self.url)
            return self._connection

    def close(self) -> None:
        """Let go of the connections; used again, it opens new ones."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(str(self.path), timeout=WAIT, isolation_level=None, check_same_thread=False)
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")
        _write_ahead(connection)
        self._connection = connection
        return connection

    def _unreachable(self, error: Exception) -> bool:
        if self.kind == "sqlite":
            return isinstance(error, sqlite3.OperationalError) and "locked" in str(error)
        import psycopg
        from psycopg_pool import PoolTimeout

        return isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout))


def _path(url: str) -> str | None:
    """The file of a SQLite address, `:memory:`, or None for PostgreSQL."""
    if url in ("memory", "memory://", "sqlite://", "sqlite:///:memory:"):
        return ":memory:"
    scheme, _, rest = url.partition("://")
    if scheme in ("postgresql", "postgres") and rest:
        return None
    if scheme == "sqlite" and rest.startswith("/") and len(rest) > 1:
        return str(Path(unquote(rest[1:])).expanduser())
    shown = f"{scheme}://…" if rest else repr(url[:40])
    raise DatabaseError(f"{shown} is no database: use memory, sqlite:///path/to/file or postgresql://user@host/name")


def _write_ahead(connection: sqlite3.Connection) -> None:
    deadline = time.monotonic() + WAIT
    while True:
        try:
            # Switching to WAL does not always wait for another process that is doing the same.
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                connection.close()
                raise
            time.sleep(0.02)


def _pool(url: str) -> Any:
    try:
        from psycopg.rows import dict_row
        from psycopg_pool import ConnectionPool
    except ImportError as error:
        raise DatabaseError('PostgreSQL needs the extra: pip install "reasonact[postgres]"') from error
    pool = ConnectionPool(
        url,
        min_size=1,
        max_size=10,
        max_idle=120,
        max_lifetime=1800,
        timeout=WAIT,
        reconnect_timeout=WAIT,
        # A connection that the server or a firewall has dropped is found before it is handed out.
        check=ConnectionPool.check_connection,
        kwargs={
            "autocommit": True,
            "prepare_threshold": 0,
            "row_factory": dict_row,
            "keepalives_idle": 30,
            "keepalives_interval": 10,
            "keepalives_count": 3,
            "connect_timeout": 10,
        },
        open=False,
    )
    with suppress(Exception):
        # A database that is away now may be back when the first change is made.
        pool.open(wait=True, timeout=10)
    return pool
