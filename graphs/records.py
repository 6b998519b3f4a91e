"""Where the ledger of a graph is: in the database of its checkpoints, so that both live and die together."""

from __future__ import annotations

import os
import sqlite3
import weakref
from typing import Any
from urllib.parse import quote

from langgraph.checkpoint.sqlite import SqliteSaver

from nodes.records import Records
from tools.database import Database

_KNOWN: weakref.WeakKeyDictionary[Any, Records] = weakref.WeakKeyDictionary()


def records_of(checkpointer: Any) -> Records:
    """The ledger that belongs to a checkpointer.

    Our own savers bring theirs, and LangGraph's SqliteSaver on a file gets one in that file. Without a checkpointer, as
    where a server brings it later, it is the database that REASONACT_DATABASE names. Otherwise it is kept in the
    process: it forgets with the process what ran and what was asked, and an open question is asked again.
    """
    if checkpointer is None:
        return Records(Database(os.environ.get("REASONACT_DATABASE") or "memory"))
    if (own := getattr(checkpointer, "records", None)) is not None:
        return own  # type: ignore[no-any-return]
    try:
        known = _KNOWN.get(checkpointer)
    except TypeError:
        return Records(Database())
    if known is None:
        address = address_of(checkpointer.conn) if isinstance(checkpointer, SqliteSaver) else "memory"
        known = _KNOWN[checkpointer] = Records(Database(address))
    return known


def address_of(connection: sqlite3.Connection) -> str:
    """The address of the file that a connection is to; `memory` where it is to none."""
    rows = connection.execute("PRAGMA database_list").fetchall()
    file = next((row[2] for row in rows if row[1] == "main"), "")
    return f"sqlite:///{quote(file)}" if file else "memory"
