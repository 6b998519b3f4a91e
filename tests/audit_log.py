"""Audit logs to tamper with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nodes.audit import AUDIT_TABLES, Audit, canonical, records
from nodes.audit_check import seal
from tools.database import Database

KEY = b"a key that nobody else has"

Items = list[dict[str, Any]]


@pytest.fixture(params=["memory", "file", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    places = {"memory": lambda: "memory", "file": lambda: f"sqlite:///{tmp_path / 'audit.sqlite'}"}
    made = opened(places.get(request.param, lambda: request.getfixturevalue("postgres_url"))())
    yield made
    made.close()


def opened(url: str) -> Database:
    database = Database(url)
    database.migrate("audit", AUDIT_TABLES[database.kind])
    return database


def fill(database: Database, audit: Audit, threads: tuple[str, ...] = ("t1", "t2"), events: int = 4) -> None:
    for number in range(1, events + 1):
        for thread in threads:
            with database.transaction() as transaction:
                audit.append(transaction, thread, f"run-{thread}", "intent", {"n": number}, f"e{number}")


def kept(database: Database, thread: str | None = None) -> Items:
    with database.transaction() as transaction:
        return list(records(transaction, thread))


def tamper(database: Database, *statements: str) -> None:
    """As somebody who owns the database: without triggers and without a primary key."""
    with database.transaction() as transaction:
        if database.kind == "sqlite":
            for name in ("audit_no_update", "audit_no_delete", "audit_no_replace"):
                transaction.run(f"DROP TRIGGER {name}")
        transaction.run("CREATE TABLE free AS SELECT * FROM audit")
        transaction.run("DROP TABLE audit")
        transaction.run("ALTER TABLE free RENAME TO audit")
        for statement in statements:
            transaction.run(statement)


def chain(lengths: list[int], key: bytes | None) -> Items:
    """What `records` would give, without a database."""
    items: Items = []
    for number, length in enumerate(lengths):
        before = ""
        for seq in range(1, length + 1):
            columns = {
                "thread": f"t{number}",
                "seq": seq,
                "run": "r",
                "kind": "k",
                "at": seq / 3,
                "event_key": f"e{seq}",
            }
            record = canonical({**columns, "data": {"n": seq}})
            before = seal(key, before, record)
            items.append({**columns, "record": record, "mac": before})
    return items
