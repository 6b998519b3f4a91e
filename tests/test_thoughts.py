"""A step that comes again is read, not asked again; on another history it is another step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage

from graphs.react import build
from graphs.saver import open_saver
from nodes.scripted import ScriptedModel
from tests.walking import World, calls, look

T: Any = {"configurable": {"thread_id": "t"}}


class Crash(BaseException):
    """What kills a process, for a test that stays alive."""


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_a_step_is_not_asked_for_twice(tmp_path: Path, durability: Any) -> None:
    world, url = World(), f"sqlite:///{tmp_path}/a.sqlite"
    with open_saver(url) as saver:
        agent = build(ScriptedModel([look("a")]), world.tools, checkpointer=saver)
        config: Any = {**T}
        with pytest.raises(Crash):
            _crash_after_think(agent, config, durability)
    with open_saver(url) as saver:
        model = ScriptedModel(["done"])
        agent = build(model, world.tools, checkpointer=saver)
        saved = agent.get_state(T).created_at
        state = agent.invoke(None if saved else {"messages": [("user", "q")]}, T, durability=durability)
        assert state["answer"] == "done" and world.effects == ["look a"]
        assert len(model.requests) == 1, "the step that was recorded is not asked for again"


def _crash_after_think(agent: Any, config: Any, durability: Any) -> None:
    think = agent.nodes["think"].bound
    record = think.thoughts.record

    def crash(*args: Any) -> Any:
        record(*args)
        raise Crash

    object.__setattr__(think.thoughts, "record", crash)
    agent.invoke({"messages": [("user", "q")]}, config, durability=durability)


def test_on_an_edited_history_the_model_is_asked_again() -> None:
    from langgraph.checkpoint.memory import InMemorySaver

    world = World()
    model = ScriptedModel([look("a"), look("b"), "one", "one again", look("c"), "two"])
    agent = build(model, world.tools, checkpointer=InMemorySaver())
    agent.invoke({"messages": [("user", "q")]}, T)
    before = next(
        found for found in agent.get_state_history(T) if found.next == ("think",) and len(found.values["messages"]) == 3
    )
    replayed = agent.invoke(None, before.config)
    assert replayed["answer"] == "one again" and world.effects == ["look a", "look b"]
    told = next(message for message in before.values["messages"] if isinstance(message, ToolMessage))
    fork = agent.update_state(
        before.config, {"messages": [told.model_copy(update={"content": "something else"})]}, as_node="observe"
    )
    agent.invoke(None, fork)
    assert world.effects == ["look a", "look b", "look c"]


def test_what_is_read_again_is_what_was_said() -> None:
    from nodes.thoughts import _read, _written

    message = AIMessage(
        "I think.", id="m", tool_calls=[{"name": "look", "args": {"what": "\U0001f600 \x00 \ud800"}, "id": "c", "type": "tool_call"}],
        usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}, response_metadata={"step": 1},
        additional_kwargs={"reasoning": "r"},
    )  # fmt: skip
    update = {"messages": [message], "run": {"id": "r", "step": 1}, "turn": {"basis": "b"}}
    assert _read(_written(update)) == update


def test_calls_are_counted_as_the_ledger_counts_them(tmp_path: Path) -> None:
    with open_saver(f"sqlite:///{tmp_path}/a.sqlite") as saver:
        model = ScriptedModel([calls(("look", {"what": "a"}), ("look", {"what": "b"})), look("c"), "done"])
        agent = build(model, World().tools, checkpointer=saver)
        agent.invoke({"messages": [("user", "q")]}, T)
        with saver.records.database.transaction() as transaction:
            rows = transaction.all("SELECT status, tool FROM tool_calls")
        assert [row["status"] for row in rows] == ["done"] * 3
        assert agent.get_state(T).values["run"]["calls"] == {"look": 3}
