"""Checkpoints, ledger, leases and audit log of one database, from one address."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any
from urllib.parse import quote

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver

from graphs.encryption import Encryption, strict
from graphs.fenced import Fenced
from graphs.records import address_of
from nodes.audit import Audit
from nodes.records import Records
from tools.connections import open_file
from tools.database import WAIT, Database


class MemorySaver(Fenced, InMemorySaver):
    """Gone with the process."""

    def __init__(self, records: Records, serde: Any) -> None:
        super().__init__(serde=serde)
        self.records = records


class Saver(Fenced, SqliteSaver):
    """One SQLite file: one computer, any number of processes on it."""

    def __init__(self, connection: Any, records: Records | None = None, serde: Any = None) -> None:
        super().__init__(connection, serde=serde or strict())
        self.records = records or Records(Database(address_of(connection)))


@contextmanager
def open_saver(
    url: str | Database, *, audit: Audit | None = None, encryption_key: bytes | None = None
) -> Iterator[Fenced]:
    """A checkpointer for `memory`, `sqlite:///path/to/file` or `postgresql://user@host/name`; closed at the end.

    Its `records` hold the ledger, the leases and, if `audit` is given, the audit log, in the same database. A commit is
    on disk before the run goes on; what is read back can only be plain data and messages, never an object that runs
    code. Missing tables are made, by one process at a time.

    Args:
        url: The address, or a database that is open already and stays open.
        audit: How the audit log is written; None writes none.
        encryption_key: 16, 24 or 32 bytes; everything that was said or done is then encrypted. Thread ids, tool names,
            states and times are not, and neither is the audit log.

    Raises:
        DatabaseError: the address cannot be used.
        sqlite3.Error, psycopg.Error: the database cannot be opened.
        ValueError: the key has another length.
    """
    database = url if isinstance(url, Database) else Database(url)
    encryption = None if encryption_key is None else Encryption.of(encryption_key)
    records = Records(database, audit, encryption)
    try:
        if records.database.kind == "postgresql":
            yield _postgres(records, encryption or strict())
        elif database.durable:
            with _file(records, encryption or strict()) as saver:
                yield saver
        else:
            yield MemorySaver(records, encryption or strict())
    finally:
        if database is not url:
            database.close()


def sqlite_saver(path: str | Path) -> AbstractContextManager[Fenced]:
    """A saver on the file at `path`, made if it is not there, closed at the end.

    Raises:
        sqlite3.Error: the file cannot be opened or is no database.
    """
    return open_saver(f"sqlite:///{quote(str(path))}")


@contextmanager
def _file(records: Records, serde: Any) -> Iterator[Saver]:
    connection = open_file(str(records.database.path), WAIT)
    # The saver counts on sqlite3 to begin its transactions, and reads rows by place.
    connection.isolation_level, connection.row_factory = "DEFERRED", None
    try:
        saver = Saver(connection, records, serde)
        saver.setup()
        yield saver
    finally:
        connection.close()


def _postgres(records: Records, serde: Any) -> Fenced:
    from langgraph.checkpoint.postgres import PostgresSaver

    class Stored(Fenced, PostgresSaver):
        """Any number of processes on any number of computers."""

    saver = Stored(records.database.pool, serde=serde)
    # The pool gives every run a connection of its own; LangGraph's lock would let one run at a time store anything.
    saver.lock = nullcontext()  # type: ignore[assignment]
    saver.records = records
    with records.database.alone():
        saver.setup()
    return saver
