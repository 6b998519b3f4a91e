"""How the command ends: one exit code a kind of end, and one sentence where something cannot be done."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What the shell sees."""

    FINISHED = 0
    """The agent answered."""
    FAILED = 1
    """The model or the program failed."""
    REFUSED = 2
    """What was asked for cannot be done: a wrong option, an unknown thread, no model."""
    STOPPED = 3
    """A limit, a loop or a person ended the run; an answer, if there is one, is the best so far."""
    WAITING = 4
    """The run waits for a person; `reasonact resume` goes on."""
    INTERRUPTED = 130
    """Ctrl-C; `reasonact resume` goes on."""


EPILOG = (
    "Exit codes: 0 answered; 1 failed; 2 wrong usage; 3 ended by a limit, a loop or a person; "
    "4 waiting for a person; 130 interrupted, can be resumed."
)


def code_of(status: str) -> ExitCode:
    """The exit code for the status of a run."""
    known = {
        "finished": ExitCode.FINISHED,
        "failed": ExitCode.FAILED,
        "waiting": ExitCode.WAITING,
        "running": ExitCode.INTERRUPTED,
    }
    return known.get(status, ExitCode.STOPPED)


class Refused(Exception):
    """What was asked for cannot be done; the message is one sentence for the person who asked."""


class Broken(Exception):
    """The run broke off, and can be resumed; the message says how."""
