"""Tokens: as the provider counts them, else estimated without going over the whole history again."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import AIMessage, BaseMessage

from nodes.state import Run


def estimate(text: str) -> int:
    """Tokens of `text`, roughly: three quarters of one a Han character, one for four others."""
    if text.isascii():
        return len(text) // 4 + 1
    wide = sum("\u2e80" <= mark <= "\uffef" for mark in text)
    return int(wide * 0.75) + (len(text) - wide) // 4 + 1


def spent(reply: AIMessage, request: Sequence[BaseMessage], new: Sequence[BaseMessage], run: Run) -> tuple[int, int]:
    """Tokens that one call read and wrote.

    Without the provider's count, what was read is the last request and reply, and what is `new` in the history since.
    """
    if reply.usage_metadata:
        return reply.usage_metadata["input_tokens"], reply.usage_metadata["output_tokens"]
    added = new if run["context_tokens"] else request
    return run["context_tokens"] + sum(estimate(message.text) for message in added), estimate(written(reply))


def written(reply: AIMessage) -> str:
    """Everything the model wrote: text and the arguments of its calls."""
    return reply.text + "".join(f"{call['name']}{call['args']}" for call in reply.tool_calls)
