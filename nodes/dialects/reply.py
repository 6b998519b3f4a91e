"""What a model's reply says: its words, its reasoning, and whether it was cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage

Content = str | Sequence[str | dict[str, Any]]

_CUT = {"length", "max_tokens", "max_output_tokens", "model_length", "MAX_TOKENS"}
_REASONS = ("finish_reason", "stop_reason", "done_reason")
_REASONING = ("reasoning_content", "reasoning", "thinking")


def words(content: Content) -> str:
    """The text of a message's content, which is a string or a list of blocks."""
    if isinstance(content, str):
        return content
    return "\n".join(filter(None, map(_text, content)))


def _text(block: str | dict[str, Any]) -> str:
    if isinstance(block, str):
        return block
    return str(block.get("text") or "") if block.get("type", "text") in ("text", "output_text", "input_text") else ""


def truncated(reply: AIMessage) -> bool:
    """Whether the output limit ended the reply."""
    told = reply.response_metadata
    if any(told.get(key) in _CUT for key in _REASONS):
        return True
    return (told.get("incomplete_details") or {}).get("reason") in _CUT


def reasoning(reply: AIMessage) -> str:
    """What the model thought in a field or block of its own."""
    for key in _REASONING:
        if found := _reasoned(reply.additional_kwargs.get(key)):
            return found
    blocks = [] if isinstance(reply.content, str) else reply.content
    own = [block for block in blocks if isinstance(block, dict) and block.get("type") in _REASONING]
    return "\n".join(filter(None, map(_reasoned, own)))


def _reasoned(field: Any) -> str:
    """A reasoning field is a string, an object with a text of some name, or a list of these."""
    if isinstance(field, str):
        return field.strip()
    if isinstance(field, list):
        return "\n".join(filter(None, map(_reasoned, field)))
    if isinstance(field, dict):
        for key in (*_REASONING, "text", "summary", "content"):
            if found := _reasoned(field.get(key)):
                return found
    return ""
