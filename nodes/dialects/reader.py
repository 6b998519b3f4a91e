"""A reply's text, read as a move: labels, brackets, JSON, markup, whatever style it is written in."""

from __future__ import annotations

from nodes.move import FormatError, Move
from tools.toolbox import Toolbox


def read(text: str, toolbox: Toolbox, *, truncated: bool = False, unlabelled_is_answer: bool = True) -> Move:
    """What the reply decides.

    `truncated` says that the output limit cut the reply; `unlabelled_is_answer` whether words without any label are an
    answer or a format error.

    Raises:
        FormatError: the reply cannot be read; nothing else is ever raised.
    """
    raise FormatError("no_action", "not written yet")
