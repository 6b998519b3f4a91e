"""What is stored is plain data and messages, loads under the strict serializer, and grows with the steps alone."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest
from langchain_core.messages import BaseMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command

from graphs.react import build
from nodes.limits import Limits
from nodes.scripted import ScriptedModel
from tests.walking import World, calls, look

THREAD: Any = {"configurable": {"thread_id": "t"}}
ASK: Any = {"messages": [("user", "q")]}
PLAIN = (str, int, float, bool, type(None))


def plain(value: Any, where: str = "state") -> None:
    if isinstance(value, BaseMessage):
        plain(value.content, f"{where}.content")
        plain(getattr(value, "artifact", None), f"{where}.artifact")
        plain(value.additional_kwargs, f"{where}.additional_kwargs")
    elif isinstance(value, dict):
        for key, inner in value.items():
            assert isinstance(key, str), where
            plain(inner, f"{where}.{key}")
    elif isinstance(value, list):
        for inner in value:
            plain(inner, f"{where}[]")
    else:
        assert type(value) in PLAIN, f"{where} holds a {type(value).__name__}"


def replies() -> list[Any]:
    return [look("a"), calls(("pay", {"amount": 1}), ("look", {"what": "b"}), ("nope", {})), "Thought: hm.", "done"]


def test_a_strict_serializer_keeps_a_run_with_everything_in_it() -> None:
    serde = JsonPlusSerializer(pickle_fallback=False, allowed_msgpack_modules=None)
    graph = build(ScriptedModel(replies()), World().tools, checkpointer=InMemorySaver(serde=serde))
    graph.invoke(ASK, THREAD)
    state = graph.invoke(Command(resume="yes"), THREAD)
    assert state["status"] == "finished"
    for snapshot in graph.get_state_history(THREAD):
        plain(snapshot.values)
        for task in snapshot.tasks:
            plain(task.result)


def test_no_class_of_ours_is_named_in_a_checkpoint() -> None:
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    graph = build(ScriptedModel(replies()), World().tools, checkpointer=SqliteSaver(connection))
    graph.invoke(ASK, THREAD)
    graph.invoke(Command(resume="yes"), THREAD)
    stored = b"".join(
        bytes(row[0])
        for rows in ("select checkpoint from checkpoints", "select value from writes")
        for row in connection.execute(rows)
        if row[0]
    )
    connection.close()
    for room in (b"nodes.", b"graphs.", b"tools.", b"reasonact"):
        assert room not in stored


def stored_bytes(steps: int) -> int:
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    saver = SqliteSaver(connection)
    world = World(answers={str(n): f"{n} ".ljust(1000, "x") for n in range(steps)})
    limits = Limits(steps=0, tokens=0, tool_calls=0, rate=0, seconds=0)
    model = ScriptedModel([*[look(str(n)) for n in range(steps)], "done"])
    graph = build(model, world.tools, limits=limits, checkpointer=saver)
    state = graph.invoke(ASK, {**THREAD, "recursion_limit": 10_000}, durability="sync")
    assert state["status"] == "finished" and len(state["steps"]) == steps + 1
    count = "select (select sum(length(checkpoint) + length(metadata)) from checkpoints) + (select sum(length(value)) from writes)"
    (size,) = connection.execute(count).fetchone()
    connection.close()
    return int(size)


def test_checkpoints_grow_with_the_steps_alone() -> None:
    assert stored_bytes(200) / stored_bytes(100) < 2.3


def test_a_long_thread_comes_back_whole_after_snapshots() -> None:
    saver = InMemorySaver()
    limits = Limits(steps=0, tokens=0, tool_calls=0, rate=0, seconds=0)
    model = ScriptedModel([*[look(str(n)) for n in range(150)], calls(("pay", {"amount": 1})), "done"])
    world = World()
    config: Any = {**THREAD, "recursion_limit": 5_000}
    build(model, world.tools, limits=limits, checkpointer=saver).invoke(ASK, config)
    state = build(model, world.tools, limits=limits, checkpointer=saver).invoke(Command(resume="yes"), config)
    assert state["answer"] == "done" and len(state["steps"]) == 152 and len(state["messages"]) == 1 + 2 * 151 + 1


@pytest.mark.parametrize("field", ["run", "turn"])
def test_begin_and_think_leave_nothing_of_the_run_before(field: str) -> None:
    graph = build(ScriptedModel([look("a"), "one", "two"]), World().tools, checkpointer=InMemorySaver())
    graph.invoke(ASK, THREAD)
    first = graph.get_state(THREAD).values
    second = graph.invoke(ASK, THREAD)
    assert [len(first["steps"]), len(second["steps"])] == [2, 1]
    assert second["answer"] == "two" and graph.get_state(THREAD).values["run"]["id"] != first["run"]["id"]
    assert graph.get_state(THREAD).values[field].get("answer") is None
