"""How large the arguments of one call may be."""

from __future__ import annotations

import json
from typing import Any

from tools.arguments import InvalidArguments
from tools.tool import Tool

LARGEST = 32_768
"""Characters, as JSON."""


def small(tool: Tool, args: dict[str, Any]) -> dict[str, Any]:
    """The arguments, if they are not too large.

    Raises:
        InvalidArguments: they are.
    """
    try:
        size = len(json.dumps(args, ensure_ascii=False, default=str))
    except (ValueError, RecursionError):
        size = LARGEST + 1
    if size > LARGEST:
        raise too_large(tool)
    return args


def too_large(tool: Tool) -> InvalidArguments:
    """What the model is told."""
    return InvalidArguments(f"The arguments of {tool.name} are longer than {LARGEST // 1024} kB. Write less.")
