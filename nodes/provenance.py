"""Which arguments of a call hold text that an untrusted tool returned."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from langchain_core.messages import BaseMessage, ToolMessage

from nodes.history import since
from nodes.wrapping import unwrap
from tools.toolbox import Toolbox

SHORTEST = 4
"""Characters that a text must have to say anything about where it comes from."""


def untrusted(
    args: Mapping[str, Any], messages: Sequence[BaseMessage], question_id: str, toolbox: Toolbox
) -> list[dict[str, Any]]:
    """For each argument found in what an untrusted tool returned in this run: argument, tool, observation number."""
    sources = [
        (str(message.name), (message.artifact or {}).get("number", 0), _plain(unwrap(message.text)))
        for message in since(messages, question_id)
        if isinstance(message, ToolMessage) and is_untrusted(str(message.name), toolbox)
    ]
    return [
        {"argument": name, "tool": tool, "observation": number}
        for name, value in args.items()
        for tool, number, text in sources
        if any(piece in text for piece in map(_plain, _texts(value)) if len(piece) >= SHORTEST)
    ]


def is_untrusted(name: str, toolbox: Toolbox) -> bool:
    """Whether the tool returns what anybody may have written."""
    tool = toolbox.get(name)
    return tool is not None and tool.untrusted


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
