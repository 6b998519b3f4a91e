"""The shapes a call or an answer takes as JSON."""

from __future__ import annotations

from typing import Any

from nodes.move import Move
from tools.toolbox import Toolbox


def move_from(value: Any, toolbox: Toolbox) -> Move | None:
    """The move that one JSON value (an object, or a list of calls) stands for; None if it is no such shape.

    Raises:
        FormatError: it is a call or an answer, but a wrong one.
    """
    return None
