"""The threads on this computer: what each is about, and what it waits for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import StateSnapshot

from graphs.fenced import Fenced
from nodes.wrapping import unwrap
from reasonact.lines import OBSERVATION_CHARS, call_line, harmless, one_line
from reasonact.questions import asked_about
from reasonact.settings import read_label

WAITING = "waiting for approval"
DECIDED = "decided, to be resumed"
ASKING = "waiting at a limit"
UNFINISHED = "unfinished"
_ORDER = {WAITING: 0, DECIDED: 0, ASKING: 0, UNFINISHED: 1}


@dataclass(frozen=True)
class Thread:
    """One row of the list."""

    id: str
    updated: str
    status: str
    question: str


def state_of(graph: CompiledStateGraph[Any, Any, Any, Any], thread: str) -> StateSnapshot | None:
    """What the thread remembers; None if there is no such thread."""
    state = graph.get_state({"configurable": {"thread_id": thread}})
    return state if state.created_at else None


def status_of(state: StateSnapshot) -> str:
    """How the thread stands. It is finished when there is neither a task nor a question; `next` alone may be empty."""
    if state.interrupts:
        return WAITING if state.interrupts[0].value.get("type") == "tool_approval" else ASKING
    return UNFINISHED if state.tasks else str(state.values.get("status", UNFINISHED))


def every_thread(saver: Fenced, graph: CompiledStateGraph[Any, Any, Any, Any]) -> list[Thread]:
    """All threads: those that wait for a person first, then unfinished ones, then the newest."""
    return sorted(_newest(saver, graph), key=lambda thread: _ORDER.get(thread.status, 2))


def open_thread(saver: Fenced, graph: CompiledStateGraph[Any, Any, Any, Any]) -> str | None:
    """The thread that `resume` means when none is named: the newest that waits or is unfinished."""
    return next((thread.id for thread in _newest(saver, graph) if thread.status in _ORDER), None)


def _newest(saver: Fenced, graph: CompiledStateGraph[Any, Any, Any, Any]) -> Iterator[Thread]:
    newest = "SELECT thread_id FROM checkpoints GROUP BY thread_id ORDER BY MAX(checkpoint_id) DESC"
    with saver.records.database.transaction() as transaction:
        ids = [row["thread_id"] for row in transaction.all(newest)]
    for id in ids:
        if (state := state_of(graph, id)) is not None:
            yield _row(saver, id, state)


def _row(saver: Fenced, id: str, state: StateSnapshot) -> Thread:
    question, _ = read_label(state.metadata)
    updated = (state.created_at or "")[:19].replace("T", " ")
    status = status_of(state)
    if status == WAITING and (row := asked_about(saver.records, id, state.interrupts[0].id)) and not row["open"]:
        status = DECIDED
    return Thread(id, updated, status, one_line(question, 80))


def transcript(state: StateSnapshot) -> Iterator[str]:
    """The whole thread in lines."""
    for message in state.values.get("messages", ()):
        if isinstance(message, HumanMessage):
            yield f"Question: {harmless(message.text)}"
        elif isinstance(message, ToolMessage):
            yield f"  Observation: {one_line(unwrap(message.text), OBSERVATION_CHARS)}"
        elif isinstance(message, AIMessage) and message.tool_calls:
            if message.text:
                yield f"  Thought: {one_line(message.text, OBSERVATION_CHARS)}"
            yield from (f"  Action: {call_line(call['name'], call['args'])}" for call in message.tool_calls)
        elif isinstance(message, AIMessage):
            yield f"Answer: {harmless(message.text)}"
    for question in state.interrupts:
        yield f"Waiting: {question.value.get('description', '')}"
