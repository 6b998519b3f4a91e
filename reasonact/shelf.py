"""What `threads` prints and deletes."""

from __future__ import annotations

import sys

import typer

from graphs.react import build
from reasonact.endings import Refused
from reasonact.home import at_work, saver, thread_id
from reasonact.tables import print_table
from reasonact.threads import every_thread, state_of, status_of, transcript


def list_threads() -> None:
    """Print one row a thread."""
    with saver() as store:
        found = every_thread(store, build(checkpointer=store))
    if not found:
        typer.echo('no threads yet: reasonact ask "…"', err=True)
        return
    print_table(
        ("thread", "updated (UTC)", "status", "question"), [(t.id, t.updated, t.status, t.question) for t in found]
    )


def show(thread: str) -> None:
    """Print a thread.

    Raises:
        Refused: there is no such thread.
    """
    with saver() as store:
        state = state_of(build(checkpointer=store), thread_id(thread))
        if state is None:
            raise Refused(f"there is no thread {thread}: see reasonact threads")
        for line in transcript(state):
            typer.echo(line)
        typer.echo(f"Status: {status_of(state)}")


def delete(thread: str, yes: bool) -> None:
    """Delete a thread, asking first.

    Raises:
        Refused: there is no such thread, another process works on it, or nobody is there to ask.
    """
    with saver() as store, at_work(store, thread_id(thread)):
        state = state_of(build(checkpointer=store), thread)
        if state is None:
            raise Refused(f"there is no thread {thread}: see reasonact threads")
        if not yes and not sys.stdin.isatty():
            raise Refused("nobody is there to ask: delete with --yes")
        if yes or typer.confirm(f"Delete thread {thread} ({status_of(state)})?", err=True):
            store.delete_thread(thread)
            typer.echo(f"deleted {thread}", err=True)
