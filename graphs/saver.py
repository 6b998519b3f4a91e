"""A checkpointer on one SQLite file: strict in what it loads, on disk before a run goes on, and small."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver


class Saver(SqliteSaver):
    """LangGraph's saver with numbers as channel versions: its own are 49 characters, kept twice in every checkpoint."""

    def get_next_version(self, current: Any, channel: None) -> Any:
        """The version after `current`; a thread that began with text versions goes on with them."""
        if isinstance(current, str):
            return super().get_next_version(current, channel)
        return 1 if current is None else current + 1


@contextmanager
def sqlite_saver(path: str | Path) -> Iterator[Saver]:
    """A saver on the file at `path`, made if it is not there, closed at the end.

    A commit is on disk before the run goes on (`synchronous=FULL`), a lock is waited for up to 30 seconds, and what is
    read back can only be plain data and messages, never an object that runs code.

    Raises:
        sqlite3.Error: the file cannot be opened or is no database.
    """
    with closing(sqlite3.connect(path, timeout=30, check_same_thread=False)) as connection:
        connection.execute("PRAGMA synchronous=FULL")
        saver = Saver(connection, serde=JsonPlusSerializer(pickle_fallback=False, allowed_msgpack_modules=None))
        saver.setup()
        yield saver
