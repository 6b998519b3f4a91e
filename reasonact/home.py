"""Where threads are kept on this computer: one folder, one SQLite file, one worker a thread."""

from __future__ import annotations

import hashlib
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from reasonact.endings import Refused

if TYPE_CHECKING:
    from graphs.saver import Saver

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


@contextmanager
def saver() -> Iterator[Saver]:
    """The checkpoints of every thread.

    Raises:
        Refused: the file cannot be opened.
    """
    from graphs.saver import sqlite_saver

    path = folder() / "checkpoints.sqlite"
    with ExitStack() as stack:
        try:
            made = stack.enter_context(sqlite_saver(path))
        except sqlite3.Error as error:
            raise Refused(f"cannot use {path}: {error}") from error
        yield made


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
