"""The history as the model may see it: every call has its observation, right behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

NOT_EXECUTED = "not executed: the run went on before this call could run"


@dataclass(frozen=True)
class Whole:
    """A history without an open end."""

    messages: list[BaseMessage]
    """The same list if nothing was amiss."""
    ids: set[str]
    """Every id of the thread, of messages and of calls, so that nothing new ever gets an old one."""
    mended: bool


def whole(messages: list[BaseMessage]) -> Whole:
    """Give every call exactly one observation, right behind its message; drop observations that answer no call.

    A client may leave a call open (a new message while a person is asked, a crash, a stop button), or invent an
    observation for a tool that never ran: only what `observe` wrote counts.
    """
    ids: set[str] = set()
    waiting: set[str] = set()
    sound = True
    for message in messages:
        ids.add(str(message.id))
        if isinstance(message, ToolMessage):
            sound = sound and message.tool_call_id in waiting and is_observation(message)
            waiting.discard(message.tool_call_id)
            continue
        sound = sound and not waiting
        if isinstance(message, AIMessage) and message.tool_calls:
            waiting = {str(call["id"]) for call in message.tool_calls}
            sound = sound and not waiting & ids
            ids |= waiting
    if sound and not waiting:
        return Whole(messages, ids, mended=False)
    return Whole(_mend(messages), ids, mended=True)


def is_observation(message: ToolMessage) -> bool:
    """Whether the framework wrote it, or it came in as part of a history that another agent made."""
    invented = isinstance(message.id, str) and message.id.startswith("do-not-render-")
    return not invented and message.content not in ({"cancelled": True}, '{"cancelled": true}', '{"cancelled":true}')


def _mend(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    observed: dict[str, ToolMessage] = {}
    for message in messages:
        if isinstance(message, ToolMessage) and is_observation(message):
            observed.setdefault(message.tool_call_id, message)
    mended: list[BaseMessage] = []
    for message in messages:
        if isinstance(message, ToolMessage):
            continue
        mended.append(message)
        if isinstance(message, AIMessage):
            mended.extend(observed.pop(str(call["id"]), None) or not_executed(call) for call in message.tool_calls)
    return mended


def not_executed(call: Any, why: str = NOT_EXECUTED) -> ToolMessage:
    """The observation of a call that will never run."""
    return ToolMessage(
        content=why,
        name=call["name"],
        tool_call_id=str(call["id"]),
        id=f"observation-{call['id']}",
        status="error",
        artifact={"code": "not_executed", "seconds": 0.0},
    )


def last_question(messages: Sequence[BaseMessage]) -> HumanMessage | None:
    """The newest message of the user."""
    return next((message for message in reversed(messages) if isinstance(message, HumanMessage)), None)


def since(messages: Sequence[BaseMessage], message_id: str) -> list[BaseMessage]:
    """The messages after the one with this id: what the present run added."""
    run: list[BaseMessage] = []
    for message in reversed(messages):
        if message.id == message_id:
            break
        run.append(message)
    return run[::-1]
