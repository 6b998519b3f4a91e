"""Whether a `Command(resume=…)` can be meant for what the thread waits for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from langgraph.types import Command, StateSnapshot

_ID = re.compile(r"[0-9a-f]{32}")


class NothingToResume(ValueError):
    """An answer came for a question that is not open; nothing was run, and the message says what is open."""


def is_answer(input: Any) -> bool:
    """Whether the input answers a question.

    Raises:
        NothingToResume: it is a command with nothing in it; None is no answer.
    """
    if not isinstance(input, Command) or input.graph is not None:
        return False
    if input.resume is None and not input.goto and input.update is None:
        raise NothingToResume("Command(resume=None) answers nothing: give a decision, such as 'approve' or 'reject'")
    return input.resume is not None


def is_open(state: StateSnapshot) -> bool:
    """Whether the thread can go on; after a crash `next` may be empty although it can."""
    return bool(state.tasks or state.interrupts)


def refuse_stray(input: Command[Any], state: StateSnapshot) -> None:
    """Let an answer through only if the thread waits for one, and for this one where it names its question.

    Raises:
        NothingToResume: it does not.
    """
    if not is_open(state):
        known = "it is finished" if state.created_at else "it does not exist"
        raise NothingToResume(f"no question is open on this thread ({known}): send a new message instead")
    open_ids = [question.id for question in state.interrupts]
    named = list(input.resume) if isinstance(input.resume, Mapping) else []
    if named and all(isinstance(id, str) and _ID.fullmatch(id) for id in named):
        strays = [id for id in named if id not in open_ids]
        if strays:
            raise NothingToResume(
                f"no open question has the id {', '.join(strays)}; open: {', '.join(open_ids) or 'none'}"
            )
