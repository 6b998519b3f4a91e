"""Where threads are kept on this computer: one folder, one SQLite file, one worker a thread."""

from __future__ import annotations

import hashlib
import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote

from reasonact.endings import Refused

if TYPE_CHECKING:
    from graphs.fenced import Fenced
    from tools.database import Database

T = TypeVar("T")

_THREAD = re.compile(r"[A-Za-z0-9_-]{1,64}")


def folder() -> Path:
    """REASONACT_HOME, else `reasonact` in the user's folder for data; made if it is not there.

    Raises:
        Refused: it cannot be made.
    """
    data = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    home = Path(os.environ.get("REASONACT_HOME") or Path(data) / "reasonact").expanduser()
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise Refused(f"cannot make the folder {home}: {error.strerror}; set REASONACT_HOME to another") from error
    return home


def thread_id(given: str) -> str:
    """A thread's id as it may be stored and typed.

    Raises:
        Refused: it holds anything but letters, digits, `_` and `-`, or more than 64 of them.
    """
    if not _THREAD.fullmatch(given):
        raise Refused(f"{given[:70]!r} is no thread id: use up to 64 letters, digits, _ and -")
    return given


def address() -> str:
    """The database of this user: REASONACT_DATABASE, else a file in the folder."""
    return os.environ.get("REASONACT_DATABASE") or f"sqlite:///{quote(str(folder() / 'checkpoints.sqlite'))}"


@contextmanager
def database() -> Iterator[Database]:
    """The database with every table.

    Raises:
        Refused: it cannot be opened.
    """
    from nodes.records import migrate
    from tools.database import Database

    with closing(_usable(lambda: Database(address()))) as opened:
        _usable(lambda: migrate(opened))
        yield opened


@contextmanager
def saver() -> Iterator[Fenced]:
    """The checkpoints of every thread, with their ledger and the audit log.

    Raises:
        Refused: the database cannot be opened.
    """
    from graphs.saver import open_saver
    from nodes.audit import Audit
    from nodes.redacting import Redaction

    secret, key = os.environ.get("REASONACT_ENCRYPTION_KEY"), os.environ.get("REASONACT_AUDIT_KEY")
    hide = Redaction.from_environment(os.environ)
    with ExitStack() as stack, database() as opened:
        audit = Audit(key.encode() if key else None, hide=hide)
        made = open_saver(opened, audit=audit, encryption_key=secret.encode() if secret else None)
        yield _usable(lambda: stack.enter_context(made))


def _usable(open_it: Callable[[], T]) -> T:
    try:
        return open_it()
    except Exception as error:
        # The address may hold a password, and a driver's message may repeat it.
        place = "REASONACT_DATABASE" if os.environ.get("REASONACT_DATABASE") else address()
        told = error if isinstance(error, ValueError | sqlite3.Error) else type(error).__name__
        raise Refused(f"cannot use {place}: {told}") from error


@contextmanager
def only_worker(thread: str) -> Iterator[None]:
    """Hold the thread: two processes at work on one would do its effects twice.

    Raises:
        Refused: another process holds it.
    """
    try:
        import fcntl
    except ImportError:  # Windows has no record locks of this kind; one person at one keyboard is the usual case there.
        yield
        return
    place = int.from_bytes(hashlib.blake2b(thread.encode(), digest_size=6).digest(), "big")
    with open(folder() / "threads.lock", "ab") as held:
        try:
            fcntl.lockf(held, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
        except OSError as error:
            raise Refused(f"another reasonact is at work on thread {thread}") from error
        yield
