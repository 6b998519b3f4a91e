"""Arguments of a call: from what a model wrote to what the tool's schema wants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tools.tool import Tool


class InvalidArguments(ValueError):
    """Arguments that do not fit the tool; the message names the parameter and shows what is wanted."""


def coerce(tool: Tool, args: Mapping[str, Any]) -> dict[str, Any]:
    """`args` with each value brought to the type its schema wants, and checked.

    Raises:
        InvalidArguments: they do not fit, and cannot be made to without guessing.
    """
    return dict(args)


def positional(tool: Tool, values: list[Any]) -> dict[str, Any]:
    """Values without names, given to the parameters in the order of the schema (not coerced yet).

    Raises:
        InvalidArguments: more values than parameters.
    """
    return dict(zip(tool.parameters, values, strict=False))


def plain(tool: Tool, text: str) -> dict[str, Any]:
    """Plain text as the one input of a tool with exactly one required parameter, or a single one (not coerced yet).

    Raises:
        InvalidArguments: the tool takes several parameters, or none.
    """
    return positional(tool, [text])
