"""Where threads are kept for this user: one folder, one database, one run at a time on a thread."""

from __future__ import annotations

import getpass
import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote

from reasonact.endings import Refused
from tools.home import home

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
    made = home()
    try:
        made.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise Refused(f"cannot make the folder {made}: {error.strerror}; set REASONACT_HOME to another") from error
    return made


def user() -> str | None:
    """Who asks and decides: REASONACT_USER, else the user of the operating system, if it knows one."""
    try:
        return os.environ.get("REASONACT_USER") or getpass.getuser()
    except (KeyError, OSError, ImportError):
        return None


def policy_file() -> Path | None:
    """The file with the policy of approval: REASONACT_APPROVALS, else `approvals.toml` in the folder if it is there."""
    if named := os.environ.get("REASONACT_APPROVALS"):
        return Path(named).expanduser().absolute()
    usual = home() / "approvals.toml"
    return usual.absolute() if usual.exists() else None


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
def database(url: str | None = None) -> Iterator[Database]:
    """The database at `url`, else this user's, with every table.

    Raises:
        Refused: it cannot be opened.
    """
    from nodes.records import migrate
    from tools.database import Database

    with closing(usable(lambda: Database(url or address()), url)) as opened:
        usable(lambda: migrate(opened), url)
        yield opened


@contextmanager
def saver(url: str | None = None) -> Iterator[Fenced]:
    """The checkpoints of every thread, with their ledger and the audit log; of the database at `url`, else this user's.

    Raises:
        Refused: the database cannot be opened.
    """
    from graphs.saver import open_saver
    from nodes.audit import Audit
    from nodes.redacting import Redaction

    secret, key = os.environ.get("REASONACT_ENCRYPTION_KEY"), os.environ.get("REASONACT_AUDIT_KEY")
    hide = Redaction.from_environment(os.environ)
    with ExitStack() as stack, database(url) as opened:
        audit = Audit(key.encode() if key else None, hide=hide)
        made = open_saver(opened, audit=audit, encryption_key=secret.encode() if secret else None)
        yield usable(lambda: stack.enter_context(made), url)


def usable(open_it: Callable[[], T], url: str | None) -> T:
    """What opening gives.

    Raises:
        Refused: it fails; the message names the place, never its password.
    """
    try:
        return open_it()
    except Exception as error:
        # The address may hold a password, and a driver's message may repeat it.
        named = "the database of --database" if url else os.environ.get("REASONACT_DATABASE") and "REASONACT_DATABASE"
        known = isinstance(error, ValueError | sqlite3.Error)
        told = error if known else f"is its server running, and the address right? ({type(error).__name__})"
        raise Refused(f"cannot use {named or address()}: {told}") from error


@contextmanager
def at_work(store: Fenced, thread: str) -> Iterator[None]:
    """Hold the thread's lease, so that no run changes what is read or deleted here.

    Raises:
        Refused: another process holds it.
    """
    from nodes.leases import ThreadBusy

    with ExitStack() as stack:
        try:
            stack.enter_context(store.records.leases.held(thread))
        except ThreadBusy as busy:
            raise Refused(busy_with(thread)) from busy
        yield


def busy_with(thread: str) -> str:
    """What is said when another process holds a thread."""
    return f"another reasonact is at work on thread {thread}: try again when it has ended or paused"
