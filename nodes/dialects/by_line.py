"""Arguments written one a line, `name: value`."""

from __future__ import annotations

import re
from typing import Any

from nodes.dialects import brackets
from nodes.dialects.sizes import LARGEST
from tools.tool import Tool

_LINE = re.compile(r"\s{0,64}[-*]?\s{0,8}[\"'`]?([^\W\d]\w{0,63})[\"'`]?\s{0,8}[:：]\s*(.*)")


def by_line(tool: Tool, text: str) -> dict[str, Any] | None:
    """`name: value`, one a line, if every line names a parameter."""
    found: dict[str, Any] = {}
    if len(text) > LARGEST:
        return None
    for line in filter(str.strip, text.split("\n")):
        match = _LINE.fullmatch(line)
        if match is None or match[1] not in tool.parameters or match[1] in found:
            return None
        found[match[1]] = brackets.literal(match[2])
    return found
