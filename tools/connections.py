"""How the places of `tools.database` are reached and told to be away."""

from __future__ import annotations

import re
import sqlite3
import time
from typing import Any, Literal

from tools.addresses import DatabaseError


def open_file(path: str, wait: float) -> sqlite3.Connection:
    """A connection to a SQLite file that waits so many seconds for others; transactions are begun by hand.

    Raises:
        sqlite3.Error: it cannot be opened.
    """
    connection = sqlite3.connect(path, timeout=wait, isolation_level=None, check_same_thread=False)
    try:
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")
        _write_ahead(connection, wait)
    except BaseException:
        connection.close()
        raise
    return connection


def _write_ahead(connection: sqlite3.Connection, wait: float) -> None:
    deadline = time.monotonic() + wait
    while True:
        try:
            # Switching to WAL does not always wait for another process that is doing the same.
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if not unreachable(error, "sqlite") or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def open_pool(url: str, wait: float) -> Any:
    """A `psycopg_pool.ConnectionPool` whose users wait so many seconds for a connection.

    Raises:
        DatabaseError: psycopg is not installed, or it cannot read the address.
        psycopg.Error: the server cannot be reached or refuses.
    """
    try:
        import psycopg
        from psycopg.rows import dict_row
        from psycopg_pool import ConnectionPool
    except ImportError as error:
        raise DatabaseError('PostgreSQL needs the extra: pip install "reasonact[postgres]"') from error
    _check(url)
    # The pool would go on trying and never say why it gets nowhere, such as for a wrong password.
    psycopg.connect(url, connect_timeout=10).close()
    return ConnectionPool(
        url,
        min_size=1,
        max_size=10,
        max_idle=120,
        max_lifetime=1800,
        timeout=wait,
        reconnect_timeout=wait,
        # A connection that the server or a firewall has dropped is found before it is handed out.
        check=ConnectionPool.check_connection,
        kwargs={
            "autocommit": True,
            # A prepared SELECT * fails once another process has added a column, and PgBouncer knows none.
            "prepare_threshold": None,
            "row_factory": dict_row,
            "keepalives_idle": 30,
            "keepalives_interval": 10,
            "keepalives_count": 3,
            "connect_timeout": 10,
        },
        open=True,
    )


def _check(url: str) -> None:
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    try:
        parts = conninfo_to_dict(url)
        whole = "@" not in str(parts.get("host", ""))[1:] and re.fullmatch(r"[\d,]*", str(parts.get("port", "")))
    except ProgrammingError:
        whole = False
    if not whole:
        # Without the cause: its message quotes what it could not read, which may be a part of the password.
        raise DatabaseError(
            "the address of the PostgreSQL database cannot be read: it is postgresql://user:password@host:port/name, "
            "with signs such as @ : / in the password written %40 %3A %2F"
        ) from None


def unreachable(error: Exception, kind: Literal["sqlite", "postgresql"]) -> bool:
    """Whether the same may succeed a little later: the database is locked, away or starting."""
    if kind == "sqlite":
        return isinstance(error, sqlite3.OperationalError) and "locked" in str(error)
    if isinstance(error, DatabaseError):
        # Among them that psycopg is not there to be imported.
        return False
    import psycopg
    from psycopg_pool import PoolTimeout

    return isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout))
