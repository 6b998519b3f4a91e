"""The compiled graph as its callers use it: copied, nested, broken off, cancelled; the lease always comes back."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command

from graphs.agent import Agent
from graphs.react import build
from nodes.leases import ThreadBusy
from nodes.scripted import ScriptedModel
from tests.walking import World, calls, look

T: Any = {"configurable": {"thread_id": "t"}}
QUESTION: Any = {"messages": [("user", "q")]}


def payer(world: World, **built: Any) -> Any:
    return build(ScriptedModel([calls(("pay", {"amount": 1})), "done"]), world.tools, **built)


def test_a_copy_with_another_checkpointer_is_an_agent_too() -> None:
    world = World()
    copied = payer(world).copy({"checkpointer": InMemorySaver()}).with_config({"tags": ["x"]})
    assert isinstance(copied, Agent)
    copied.invoke(QUESTION, T)
    assert copied.invoke(Command(resume="yes"), T)["status"] == "finished" and world.effects == ["pay 1"]


@pytest.mark.parametrize("called", [False, True])
def test_as_a_part_of_another_graph_it_pauses_and_goes_on(called: bool) -> None:
    world = World()
    inner = payer(world)

    def call(state: Any, config: RunnableConfig) -> Any:
        return {"messages": inner.invoke({"messages": state["messages"]}, config)["messages"]}

    outer = StateGraph(MessagesState)
    outer.add_node("agent", call if called else inner)
    outer.add_edge(START, "agent")
    outer.add_edge("agent", END)
    graph = outer.compile(checkpointer=InMemorySaver())
    assert "__interrupt__" in graph.invoke(QUESTION, T)
    assert graph.invoke(Command(resume="yes"), T)["messages"][-1].text == "done" and world.effects == ["pay 1"]


def test_a_stream_that_is_left_gives_the_thread_back() -> None:
    agent = build(ScriptedModel([look("a"), "done"]), World().tools, checkpointer=InMemorySaver())
    for _ in agent.stream(QUESTION, T):
        break
    assert agent.invoke(None, T)["status"] == "finished"


def test_a_stream_that_is_held_keeps_the_thread() -> None:
    agent = build(ScriptedModel([look("a"), "done"]), World().tools, checkpointer=InMemorySaver())
    held = agent.stream(QUESTION, T)
    next(held)
    with pytest.raises(ThreadBusy):
        agent.invoke(None, T)
    held.close()
    assert agent.invoke(None, T)["status"] == "finished"


def test_cancelled_at_any_moment_the_thread_comes_back() -> None:
    async def cancelled_after(seconds: float) -> str:
        agent = build(ScriptedModel([look("a"), "done", "again"]), World().tools, checkpointer=InMemorySaver())
        run = asyncio.create_task(agent.ainvoke(QUESTION, T))
        await asyncio.sleep(seconds)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
            raise asyncio.CancelledError  # it was quicker
        await asyncio.sleep(0.05)
        begun = (await agent.aget_state(T)).created_at
        return str((await agent.ainvoke(None if begun else QUESTION, T) or {}).get("status"))

    for step in range(25):
        assert asyncio.run(cancelled_after(step / 1000)) in ("finished", "None")


def test_without_another_wish_checkpoints_are_written_before_the_next_node_runs() -> None:
    seen: list[Any] = []

    class Watching(InMemorySaver):
        def put(self, *given: Any) -> Any:
            seen.append("put")
            return super().put(*given)

    world = World()
    agent = build(ScriptedModel([look("a"), "done"]), world.tools, checkpointer=Watching())
    for mode, part in agent.stream(QUESTION, T, stream_mode=["tasks", "checkpoints"]):
        if mode == "tasks" and part.get("name") == "act" and "input" in part:
            seen.append("act")
    assert seen.index("act") >= 4, "begin, think and guard were stored before"


def test_the_number_of_the_lease_is_in_no_checkpoint() -> None:
    agent = build(ScriptedModel(["done"]), World().tools, checkpointer=InMemorySaver())
    agent.invoke(QUESTION, T)
    for found in agent.get_state_history(T):
        assert "fence" not in str(found.metadata) and "fence" not in str(found.config)
    assert "fence" not in str(agent.update_state(T, {"messages": [("user", "x")]}))
