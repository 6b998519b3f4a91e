"""The commands `reasonact audit`: verify, show, export, anchor."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reasonact.commands import HELP

audit_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, context_settings=HELP)

Thread = Annotated[str, typer.Argument(metavar="THREAD", help="The thread.")]
OneThread = Annotated[str | None, typer.Argument(metavar="[THREAD]", help="The thread; without, every thread.")]


@audit_app.callback()
def audit() -> None:
    """Read and check the audit log: what was asked for, decided and done. The key is in REASONACT_AUDIT_KEY."""


@audit_app.command("verify")
def verify_log(
    thread: OneThread = None,
    file: Annotated[Path | None, typer.Option(metavar="JSONL", help="Check this file instead of the database.")] = None,
    anchor: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Compare with what `audit anchor` printed earlier.")
    ] = None,
) -> None:
    """Check that nothing was changed: one line a fault. Exit codes: 0 sound, 1 faults.

    What was cut off at the end is found only with --anchor.
    """
    from reasonact.audit_desk import check

    raise typer.Exit(check(thread, file, anchor))


@audit_app.command("show")
def show_log(
    thread: Thread,
    kind: Annotated[str | None, typer.Option(metavar="K", help="Only events of this kind.")] = None,
) -> None:
    """Print one line an event: time, number, kind, step and what it says."""
    from reasonact.audit_desk import show

    show(thread, kind)


@audit_app.command("export")
def export_log(thread: OneThread = None) -> None:
    """Print the records as JSON lines; `audit verify --file` checks them."""
    from reasonact.audit_desk import export

    export(thread)


@audit_app.command("anchor")
def anchor_log() -> None:
    """Print the last number and code of every thread as JSON, to be kept elsewhere."""
    from reasonact.audit_desk import print_anchor

    print_anchor()
