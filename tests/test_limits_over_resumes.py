"""Limits count the run, not the call of `invoke`: five pauses and resumes change no total."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from graphs.react import build
from graphs.saver import open_saver
from nodes.limits import Limits
from nodes.scripted import ScriptedModel
from tests.walking import World, calls

T: Any = {"configurable": {"thread_id": "t"}}
PAUSES = 5


def test_totals_are_exact_after_five_resumes_in_five_processes(database_url: str) -> None:
    world, replies = World(), [calls(("pay", {"amount": n}), tokens=1000) for n in range(PAUSES)]
    for pause in range(PAUSES + 1):
        with open_saver(database_url) as saver:
            script = [replies[pause] if pause < PAUSES else "done"]
            agent = build(ScriptedModel(script), world.tools, checkpointer=saver)
            state = agent.invoke(Command(resume="approve") if pause else {"messages": [("user", "q")]}, T)
    assert state["status"] == "finished" and world.effects == [f"pay {n}" for n in range(PAUSES)]
    assert state["tokens"]["total"] >= 1000 * PAUSES and len(state["steps"]) == PAUSES + 1


@pytest.mark.parametrize(
    ("limits", "status", "most"),
    [
        (Limits(steps=3), "step_limit", 3),
        (Limits(tool_writes=2), "tool_limit", 2),
        (Limits(tokens=3500), "token_budget", 3),
    ],
)
def test_a_limit_is_reached_over_resumes(limits: Limits, status: str, most: int) -> None:
    world = World()
    replies = [calls(("pay", {"amount": n}), tokens=1000) for n in range(10)]
    agent = build(ScriptedModel(replies), world.tools, limits=limits, checkpointer=InMemorySaver())
    agent.invoke({"messages": [("user", "q")]}, T)
    for _ in range(10):
        if not agent.get_state(T).interrupts:
            break
        agent.invoke(Command(resume="approve"), T)
    assert agent.get_state(T).values["status"] == status and len(world.effects) <= most


REPLIES = st.one_of(
    st.integers(0, 3).map(lambda n: calls(("pay", {"amount": n}))),
    st.integers(0, 3).map(lambda n: calls(("look", {"what": str(n)}))),
    st.integers(0, 9).map(lambda n: calls(("note", {"text": str(n)}), ("look", {"what": str(n)}))),
    st.just(AIMessage("Thought: hm.")),
    st.just(calls(("nothing", {}))),
)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    replies=st.lists(REPLIES, min_size=1, max_size=5),
    answers=st.lists(st.sampled_from(["approve", "reject", "hm"]), min_size=1, max_size=4),
)
def test_any_model_ends_within_its_bounds(replies: list[AIMessage], answers: list[str]) -> None:
    world, limits = World(), Limits(steps=12, rate=0)
    agent = build(ScriptedModel(replies * 20), world.tools, limits=limits, checkpointer=InMemorySaver())
    agent.invoke({"messages": [("user", "q")]}, T)
    for turn in range(200):
        if not agent.get_state(T).interrupts:
            break
        agent.invoke(Command(resume=answers[turn % len(answers)] if turn < 60 else "approve"), T)
    state = agent.get_state(T).values
    assert state["status"] != "running" and state["run"]["step"] <= 12
    writes = [effect for effect in world.effects if not effect.startswith("look")]
    assert len([effect for effect in writes if effect.startswith("pay")]) <= limits.tool_writes
