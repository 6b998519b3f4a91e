"""The commands `reasonact worker` and `reasonact enqueue`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer


def worker(
    concurrency: Annotated[int, typer.Option(min=1, max=64, metavar="N", help="Runs at once.")] = 4,
    once: Annotated[bool, typer.Option("--once", help="End when nothing is left to do now.")] = False,
) -> None:
    """Answer the questions that `enqueue` queued in the PostgreSQL database that REASONACT_DATABASE names.

    Start as many as you like, on any number of computers: what a worker leaves unfinished, another takes over. Ctrl-C
    or SIGTERM ends after the present step of each run.
    """
    from reasonact.queue import queue_address

    url = queue_address()
    from reasonact.home import saver
    from reasonact.worker import run_worker

    with saver() as store:
        run_worker(url, concurrency, once=once, saver=store)


def enqueue(
    question: Annotated[str, typer.Argument(help="The question; - reads it from stdin.", metavar="QUESTION")],
    thread: Annotated[str | None, typer.Option(metavar="ID", help="Continue this thread, or begin it.")] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="As for ask; without, the worker's model."),
    ] = None,
) -> None:
    """Queue a question for a worker and print the id of its thread.

    Decide with reasonact approvals what it asks you; read the answer with reasonact threads show.
    """
    import secrets

    from reasonact.endings import Refused
    from reasonact.home import saver, thread_id, user
    from reasonact.queue import Queue, queue_address
    from reasonact.settings import Settings

    queue_address()
    asked = sys.stdin.read() if question == "-" else question
    if not asked.strip():
        raise Refused('there is no question: reasonact enqueue "…"')
    at = thread_id(thread) if thread is not None else secrets.token_hex(4)
    with saver() as store:
        queue = Queue(store.records.database, store.records.seal)
        queue.migrate()
        queue.ask(at, asked, Settings(model=tuple(model)) if model else None, user())
    typer.echo(at)
