"""What `audit` checks and prints."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import typer

from nodes.approval import visible
from nodes.audit import AUDIT_TABLES, Anchor, content, heads, line, read_file, records, threads, verify
from reasonact.endings import ExitCode, Refused

KEY = "REASONACT_AUDIT_KEY"
WIDEST = 160
"""Characters of an event that are shown."""


def check(thread: str | None, file: Path | None, anchor: Path | None) -> ExitCode:
    """Print the faults, then what was checked.

    Raises:
        Refused: there is no such thread or file, or the anchor cannot be read.
    """
    known = _read_anchor(anchor, thread)
    counted = _Counted(_of_file(file, thread) if file else _of_database(thread))
    key = os.environ.get(KEY, "").encode() or None
    faults = verify(counted, key, known)
    if thread is not None and not counted.number and not faults:
        raise Refused(f"the audit log has nothing of thread {thread}")
    for fault in faults:
        typer.echo(visible(fault))
    with_key = f"with the key in {KEY}" if key else f"without a key ({KEY} is not set), so accidents only are found"
    found = f"{len(faults)} fault{'' if len(faults) == 1 else 's'}" if faults else "sound"
    typer.echo(
        f"{found}: checked {counted.number} records of {len(counted.threads)} threads {with_key}"
        f"{'' if anchor else '; without an anchor, so what was cut off at the end is not found'}"
    )
    return ExitCode.FAILED if faults else ExitCode.FINISHED


def show(thread: str, kind: str | None) -> None:
    """Print one line an event.

    Raises:
        Refused: there is no such thread.
    """
    items = list(_of_database(thread))
    if not items:
        raise Refused(f"the audit log has nothing of thread {thread}")
    for item in items:
        said = content(item)
        if said is None:
            typer.echo(f"record {item['seq']} cannot be read: see reasonact audit verify")
        elif kind in (None, said["kind"]):
            typer.echo(_line(said))


def export(thread: str | None) -> None:
    """Print the records as the lines of a file."""
    for item in _of_database(thread):
        typer.echo(line(item["record"], item["mac"]))


def print_anchor() -> None:
    """Print the head of every thread as JSON."""
    typer.echo(json.dumps(heads(_of_database(None)), indent=1, sort_keys=True))


class _Counted:
    """Records, counted while they pass."""

    def __init__(self, items: Iterable[dict[str, Any]]) -> None:
        self._items = items
        self.number = 0
        self.threads: set[str] = set()

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for item in self._items:
            self.number += 1
            said = content(item)
            if said is not None:
                self.threads.add(said["thread"])
            yield item


def _of_database(thread: str | None) -> Iterator[dict[str, Any]]:
    from reasonact.home import database

    with database() as opened:
        opened.migrate("audit", AUDIT_TABLES[opened.kind])
        with opened.transaction() as transaction:
            names = threads(transaction) if thread is None else [thread]
        for name in names:
            # One transaction a thread: a long log must not keep those waiting who append to it.
            with opened.transaction() as transaction:
                items = list(records(transaction, name))
            yield from items


def _of_file(path: Path, thread: str | None) -> Iterator[dict[str, Any]]:
    if not path.is_file():
        raise Refused(f"there is no file {path}")
    for item in read_file(path):
        said = content(item)
        # A line that cannot be read may have been of any thread.
        if thread is None or said is None or said["thread"] == thread:
            yield item


def _read_anchor(path: Path | None, thread: str | None) -> Anchor | None:
    if path is None:
        return None
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
        anchor = {name: (int(seq), str(mac)) for name, (seq, mac) in known.items()}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise Refused(f"{path} cannot be read as an anchor: use what reasonact audit anchor printed") from error
    return anchor if thread is None else {name: head for name, head in anchor.items() if name == thread}


def _line(said: dict[str, Any]) -> str:
    data = said["data"] if isinstance(said["data"], dict) else {"data": said["data"]}
    step = data.get("step", "-")
    rest = " ".join(f"{name}={_short(value)}" for name, value in data.items() if name != "step")
    text = visible(f"{_time(said['at'])} {said['seq']:>4} {said['kind']!s:<12} step {step}  {rest}")
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 1]}…"


def _short(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _time(at: Any) -> str:
    try:
        return datetime.fromtimestamp(at).astimezone().isoformat(" ", "seconds")
    except (TypeError, ValueError, OverflowError, OSError):  # Somebody edited it; `verify` says so.
        return str(at)
