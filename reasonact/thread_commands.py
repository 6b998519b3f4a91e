"""The commands `reasonact threads`: list, show, delete."""

from __future__ import annotations

from typing import Annotated

import typer

from reasonact.commands import HELP

threads_app = typer.Typer(invoke_without_command=True, rich_markup_mode=None, context_settings=HELP)


@threads_app.callback()
def threads(context: typer.Context) -> None:
    """List the threads: those that wait for you first. See also: show, delete."""
    if context.invoked_subcommand is None:
        from reasonact.shelf import list_threads

        list_threads()


@threads_app.command("show")
def show_thread(thread: Annotated[str, typer.Argument(metavar="THREAD", help="The thread.")]) -> None:
    """Print everything that was said and done on a thread."""
    from reasonact.shelf import show

    show(thread)


@threads_app.command("delete")
def delete_thread(
    thread: Annotated[str, typer.Argument(metavar="THREAD", help="The thread.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask first.")] = False,
) -> None:
    """Forget a thread and everything on it."""
    from reasonact.shelf import delete

    delete(thread, yes)
