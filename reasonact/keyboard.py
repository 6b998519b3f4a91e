"""One line from the person at the terminal."""

from __future__ import annotations

import sys
from contextlib import suppress


def interactive() -> bool:
    """Whether somebody can be asked: a keyboard to answer on, and a screen to read the question from."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def read_line(prompt: str) -> str:
    """What is typed behind `prompt`, which never gets into output that is written to a file."""
    if sys.stdout.isatty():
        return input(prompt)
    sys.stderr.write(prompt)
    sys.stderr.flush()
    return input()


def forget_typed_ahead() -> None:
    """Drop what was typed before the question could be read: it cannot be the answer to it."""
    try:
        import termios
    except ImportError:  # Windows
        return
    with suppress(termios.error, OSError, ValueError):
        termios.tcflush(sys.stdin, termios.TCIFLUSH)
