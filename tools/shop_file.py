"""The shop's SQLite file: how it is made, opened and changed."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

WAIT = 30.0
"""Seconds to wait for somebody else's change."""

_SEED = Path(__file__).with_name("data") / "shop.sql"


def connect(path: Path) -> sqlite3.Connection:
    """A connection that waits for others, with foreign keys checked and transactions begun by hand."""
    shop = sqlite3.connect(path, timeout=WAIT, isolation_level=None)
    shop.row_factory = sqlite3.Row
    shop.execute("PRAGMA foreign_keys = ON")
    return shop


def prepare(shop: sqlite3.Connection) -> None:
    """Write-ahead mode, and the demo's tables and rows where there are none yet."""
    deadline = time.monotonic() + WAIT
    while True:
        try:
            # Switching to WAL does not always wait for another process that is doing the same.
            shop.execute("PRAGMA journal_mode = WAL")
            break
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
    if shop.execute("PRAGMA user_version").fetchone()[0] == 0:
        shop.executescript(_SEED.read_text(encoding="utf-8"))


@contextmanager
def transaction(shop: sqlite3.Connection) -> Iterator[None]:
    """All of what is done inside, or nothing of it."""
    # Taking the write lock at once means that what is checked cannot change before it is written.
    shop.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        shop.execute("ROLLBACK")
        raise
    shop.execute("COMMIT")
