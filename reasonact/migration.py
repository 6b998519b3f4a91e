"""What `migrate` does."""

from __future__ import annotations

from contextlib import closing

import typer

from reasonact.home import address, saver, usable
from tools.database import Database


def make_tables(url: str | None) -> None:
    """Open the database once with everything in it, and say what was missing.

    Raises:
        Refused: it cannot be opened.
    """
    with closing(usable(lambda: Database(url or address()), url)) as opened:
        before = usable(lambda: versions(opened), url)
    with saver(url) as store:
        after = versions(store.records.database)
        place = "the PostgreSQL database" if (path := store.records.database.path) is None else path
    for name, version in sorted(after.items()):
        steps = version - before.get(name, 0)
        said = f"made or renewed ({steps} step{'s' if steps != 1 else ''})" if steps else "up to date"
        typer.echo(f"{name}: {said}, version {version}")
    typer.echo(f"checkpoints: ready in {place}")


def versions(database: Database) -> dict[str, int]:
    """The version of each group of tables."""
    with database.transaction() as transaction:
        transaction.migrate("", ())
        return {row["name"]: row["version"] for row in transaction.all("SELECT name, version FROM migrations")}
