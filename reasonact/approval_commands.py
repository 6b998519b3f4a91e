"""The commands `reasonact approvals`: list, show, approve, edit, reject, respond, settle."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from reasonact.commands import HELP

approvals_app = typer.Typer(invoke_without_command=True, rich_markup_mode=None, context_settings=HELP)

Id = Annotated[str, typer.Argument(metavar="ID", help="The call's id, or the beginning of it.")]
As = Annotated[str, typer.Option("--as", metavar="NAME", help="Who decides.  [default: REASONACT_USER, else the user]")]
Why = Annotated[str, typer.Option(metavar="TEXT", help="Why; kept with the decision.")]
Hash = Annotated[
    str, typer.Option(metavar="HEX", help="Decide only if the call still has this hash, or its first 16 characters.")
]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with the run at once.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]


@approvals_app.callback()
def approvals(context: typer.Context, json: Json = False) -> None:
    """List the calls that wait for a person, oldest first. See also: show, approve, edit, reject, respond, settle."""
    if context.invoked_subcommand is None:
        list_approvals(json)


@approvals_app.command("list")
def list_approvals(json: Json = False) -> None:
    """List the calls that wait for a person, oldest first; also those that may or may not have taken effect."""
    from reasonact.approval_actions import list_waiting

    list_waiting(json)


@approvals_app.command("show")
def show_call(id: Id, json: Json = False) -> None:
    """Print a call in full: every argument, its effect and hash, who asked, and what was decided."""
    from reasonact.approval_actions import show

    show(id, json)


@approvals_app.command("approve")
def approve_call(
    id: Id,
    always: Annotated[bool, typer.Option("--always", help="Also every later call of the tool in this run.")] = False,
    why: Why = "",
    hash: Hash = "",
    who: As = "",
    resume: Resume = False,
) -> None:
    """Let the call run as it is."""
    _decide(id, {"type": "approve", "always": always}, who, why, hash, resume)


@approvals_app.command("edit")
def edit_call(
    id: Id,
    arguments: Annotated[str, typer.Argument(metavar="JSON", help="All arguments, as one JSON object.")],
    why: Why = "",
    hash: Hash = "",
    who: As = "",
    resume: Resume = False,
) -> None:
    """Let the call run with other arguments, which the tool's schema and the policy check."""
    from reasonact.approval_actions import decide_edited

    raise typer.Exit(decide_edited(id, arguments, who, why, hash, resume))


@approvals_app.command("reject")
def reject_call(
    id: Id,
    reason: Annotated[str, typer.Argument(metavar="[REASON]", help="Why; the model is told.")] = "",
    hash: Hash = "",
    who: As = "",
    resume: Resume = False,
) -> None:
    """Do not let the call run."""
    _decide(id, {"type": "reject", "message": reason}, who, "", hash, resume)


@approvals_app.command("respond")
def respond_to_call(
    id: Id,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What the model reads.")],
    hash: Hash = "",
    who: As = "",
    resume: Resume = False,
) -> None:
    """Do not let the call run: the model reads a text instead of the tool's result."""
    _decide(id, {"type": "respond", "message": text}, who, "", hash, resume)


@approvals_app.command("settle")
def settle_call(
    id: Id,
    status: Annotated[
        Literal["done", "failed"],
        typer.Argument(metavar="done|failed", help="Whether it took effect."),
    ],
    why: Why = "",
    who: As = "",
) -> None:
    """Say what became of a call that may or may not have taken effect."""
    from reasonact.approval_actions import settle

    settle(id, status, who, why)


def _decide(id: str, answer: dict[str, Any], who: str, why: str, hash: str, resume: bool) -> None:
    from reasonact.approval_actions import decide

    raise typer.Exit(decide(id, answer, who, why, hash, resume))
