"""What `approvals` prints and decides."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

import typer

from nodes.approval import visible
from reasonact.approval_desk import desk
from reasonact.approval_question import HEADS, as_json, in_full, list_row
from reasonact.editing import NotEdited, edit
from reasonact.endings import ExitCode, Refused
from reasonact.home import user
from reasonact.queue import wake
from reasonact.report import say
from reasonact.tables import print_table

DONE = {"approve": "approved", "edit": "edited and approved", "reject": "rejected", "respond": "answered"}


def list_waiting(as_objects: bool) -> None:
    """Print what waits for a person, oldest first."""
    with desk() as opened:
        found = opened.waiting()
    if as_objects:
        typer.echo(json.dumps([as_json(asked) for asked in found], default=str))
    elif found:
        print_table(HEADS, [list_row(asked) for asked in found])
    else:
        say("nothing waits for a person")


def show(id: str, as_object: bool) -> None:
    """Print a question in full.

    Raises:
        Refused: there is no such question.
    """
    with desk() as opened:
        asked = opened.question(id)
    if as_object:
        typer.echo(json.dumps(as_json(asked), default=str))
        return
    for line in in_full(asked):
        typer.echo(line)


def decide(id: str, answer: Mapping[str, Any], who: str, why: str, hash: str, resume: bool) -> ExitCode:
    """Decide, and say how to go on or do so.

    Raises:
        Refused: it cannot be decided, or not like this.
    """
    with desk() as opened:
        asked = opened.decide(id, answer, who or user(), why, hash)
        minutes = opened.policy(asked).use_minutes
        woken = not resume and wake(opened.records.database, asked.thread)
    say(f"{DONE[answer['type']]} {asked.id}: {visible(asked.tool)}")
    if resume:
        from reasonact.session import Session

        return Session(False, False).resume(asked.thread, None)
    if woken:
        say("a worker goes on with it")
        return ExitCode.FINISHED
    within = f" within {minutes:g} minutes" if asked.status == "approved" else ""
    say(f"go on{within} with: reasonact resume {visible(asked.thread)}")
    return ExitCode.FINISHED


def decide_edited(id: str, text: str, who: str, why: str, hash: str, resume: bool) -> ExitCode:
    """Approve other arguments.

    Raises:
        Refused: they are none, or it cannot be decided.
    """
    try:
        args = edit({}, text or "null")
    except NotEdited as error:
        raise Refused(f"not decided: {error}") from error
    return decide(id, {"type": "edit", "edited_action": {"args": args}}, who, why, hash, resume)


def settle(id: str, status: Literal["done", "failed"], who: str, why: str) -> None:
    """Close an unknown call.

    Raises:
        Refused: it is not unknown.
    """
    with desk() as opened:
        asked = opened.settle(id, status, who or user(), why)
    say(f"settled {asked.id} as {status}: {visible(asked.tool)}")
