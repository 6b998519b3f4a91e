"""The history as the model may see it: every call has its observation, right behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

NO_FATES: Mapping[str, Mapping[str, str]] = {}
NOT_EXECUTED = "not executed: the run went on before this call could run"


@dataclass(frozen=True)
class Whole:
    """A history without an open end."""

    messages: list[BaseMessage]
    """The same list if nothing was amiss."""
    ids: set[str]
    """Every id of the thread, of messages and of calls, so that nothing new ever gets an old one."""
    mended: bool


def whole(messages: list[BaseMessage], fates: Mapping[str, Mapping[str, str]] = NO_FATES) -> Whole:
    """Give every call exactly one observation, right behind its message; drop observations that answer no call.

    `fates` says what became of calls that have none, text and code by call id; others were not executed.

    A client may leave a call open (a new message while a person is asked, a crash, a stop button), or invent an
    observation for a tool that never ran: only what `observe` wrote counts.
    """
    ids: set[Any] = set()
    waiting: set[Any] = set()
    sound = True
    for message in messages:
        ids.add(message.id)
        if message.type == "tool":
            # Our own observations carry an artifact, so the slower look is for what came from elsewhere.
            answers = message.tool_call_id in waiting and (message.artifact or is_observation(message))  # type: ignore[attr-defined]
            if not answers:
                sound = False
            waiting.discard(message.tool_call_id)  # type: ignore[attr-defined]
            continue
        if waiting:
            sound, waiting = False, set()
        if message.type == "ai" and (calls := message.tool_calls):  # type: ignore[attr-defined]
            waiting = {call["id"] for call in calls}
            ids |= waiting
    if sound and not waiting:
        return Whole(messages, ids, mended=False)
    return Whole(_mend(messages, fates), ids, mended=True)


INVENTED = ('{"cancelled": true}', '{"cancelled":true}', "Successfully handled tool call.")
"""What chat clients put in the place of an observation when the user goes on without answering."""


def is_observation(message: BaseMessage) -> bool:
    """Whether it can be what a tool returned: chat clients invent some for tools that never ran."""
    return message.content not in INVENTED and not str(message.id).startswith("do-not-render-")


def unanswered(messages: Sequence[BaseMessage]) -> list[str]:
    """Ids of the calls that have no observation."""
    answered = {
        message.tool_call_id for message in messages if isinstance(message, ToolMessage) and is_observation(message)
    }
    asked = [call["id"] for message in messages if isinstance(message, AIMessage) for call in message.tool_calls]
    return [str(id) for id in asked if id not in answered]


def _mend(messages: Sequence[BaseMessage], fates: Mapping[str, Mapping[str, str]]) -> list[BaseMessage]:
    turns: dict[int, dict[Any, BaseMessage | None]] = {}
    asked: dict[Any, dict[Any, BaseMessage | None]] = {}
    for place, message in enumerate(messages):
        if isinstance(message, AIMessage):
            turns[place] = {call["id"]: None for call in message.tool_calls}
            asked |= dict.fromkeys(turns[place], turns[place])
        elif isinstance(message, ToolMessage) and is_observation(message):
            turn = asked.get(message.tool_call_id, {})
            if turn.get(message.tool_call_id, message) is None:
                turn[message.tool_call_id] = message
    mended: list[BaseMessage] = []
    for place, message in enumerate(messages):
        if not isinstance(message, ToolMessage):
            mended.append(message)
        if isinstance(message, AIMessage):
            observed = turns[place]
            mended.extend(
                observed[call["id"]] or not_executed(call, **fates.get(str(call["id"]), {}))
                for call in message.tool_calls
            )
    return mended


def not_executed(call: Any, text: str = NOT_EXECUTED, code: str = "not_executed") -> ToolMessage:
    """The observation of a call that will never run, or that another process ran."""
    return ToolMessage(
        content=text,
        name=call["name"],
        tool_call_id=str(call["id"]),
        id=f"observation-{call['id']}",
        status="success" if code == "ok" else "error",
        artifact={"code": code, "seconds": 0.0},
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
