"""What a step of the model rests on, as a key: asked again from the same history, it is the same step."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from nodes.history import last_question
from nodes.state import Working
from nodes.trail import fingerprint


def basis_of(state: Working) -> str:
    """Fingerprint of the question, of what came since the model's last words, and of how much lies before.

    A state that was edited or forked gives another key, so that what was decided on another history is not taken for
    this one. Only the end of the history is read, so the cost does not grow with the run.
    """
    messages: Sequence[BaseMessage] = state["messages"]
    question = last_question(messages)
    facts = [
        question.text if question else "",
        len(messages),
        state["run"]["step"],
        state["turn"].get("error", {}).get("sentence", ""),
        state["run"]["closing"].get("rule", ""),
        [_facts(message) for message in _newest(messages)],
    ]
    return fingerprint(json.dumps(facts, default=str))


def _newest(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    newest: list[BaseMessage] = []
    for message in reversed(messages):
        newest.append(message)
        if isinstance(message, AIMessage):
            break
    return newest


def _facts(message: BaseMessage) -> list[Any]:
    calls = [[call["name"], call["args"]] for call in message.tool_calls] if isinstance(message, AIMessage) else []
    return [message.type, message.content, calls]
