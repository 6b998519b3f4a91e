"""How the address of a database is read; without any driver, so that the command line starts quickly."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

MEMORY = ":memory:"
_PLAIN = re.compile(r"[\w./~ -]{0,60}")
"""What may be shown of an address that is none: without : @ = there is no password in it."""


class DatabaseError(ValueError):
    """The address of a database cannot be used; the message says what to change."""


def path_of(url: str) -> str | None:
    """The file of a SQLite address, `:memory:`, or None for PostgreSQL.

    Raises:
        DatabaseError: it is the address of neither.
    """
    if url in ("memory", "memory://", "sqlite://", "sqlite:///:memory:"):
        return MEMORY
    scheme, _, rest = url.partition("://")
    if scheme in ("postgresql", "postgres") and rest:
        return None
    if scheme == "sqlite" and rest.startswith("/") and len(rest) > 1:
        return str(Path(unquote(rest[1:])).expanduser())
    shown = repr(scheme + "://…" if rest else url) if _PLAIN.fullmatch(scheme) else "this"
    raise DatabaseError(f"{shown} is no database: use memory, sqlite:///path/to/file or postgresql://user@host/name")
