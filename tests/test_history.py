"""Whatever clients do to a history, the model sees one where every call has its observation."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from nodes.history import last_question, since, whole

IDS = st.sampled_from(["a", "b", "c"])


def ai(ids: list[str]) -> AIMessage:
    return AIMessage("t", tool_calls=[{"name": "look", "args": {}, "id": id, "type": "tool_call"} for id in ids])


def observation(id: str, invented: bool) -> ToolMessage:
    return ToolMessage("Successfully handled tool call." if invented else f"seen {id}", tool_call_id=id)


MESSAGES = st.lists(
    st.one_of(
        st.builds(lambda: HumanMessage("q")),
        st.builds(ai, st.lists(IDS, max_size=3, unique=True)),
        st.builds(observation, IDS, st.booleans()),
    ),
    max_size=14,
)


def sound(messages: list[BaseMessage]) -> bool:
    waiting: list[Any] = []
    for message in messages:
        if isinstance(message, ToolMessage):
            if not waiting or message.tool_call_id != waiting.pop(0):
                return False
        else:
            if waiting:
                return False
            waiting = [call["id"] for call in getattr(message, "tool_calls", [])]
    return not waiting


@settings(max_examples=1000, deadline=None)
@given(MESSAGES)
def test_every_call_gets_its_observation_right_behind_it(messages: list[BaseMessage]) -> None:
    mended = whole(messages)
    assert sound(mended.messages)
    assert not any("Successfully" in message.text for message in mended.messages)
    assert [m for m in mended.messages if m.type != "tool"] == [m for m in messages if m.type != "tool"]
    again = whole(mended.messages)
    assert again.messages is mended.messages and not again.mended


@settings(max_examples=200, deadline=None)
@given(MESSAGES)
def test_what_is_sound_is_left_alone(messages: list[BaseMessage]) -> None:
    if sound(messages) and not any("Successfully" in message.text for message in messages):
        assert whole(messages).messages is messages


def test_an_observation_that_came_late_is_put_in_its_place() -> None:
    late = [
        HumanMessage("q"),
        ai(["a", "b"]),
        ToolMessage("B", tool_call_id="b"),
        HumanMessage("and?"),
        ToolMessage("A", tool_call_id="a"),
    ]
    assert [m.text for m in whole(late).messages] == ["q", "t", "A", "B", "and?"]


def test_every_id_of_the_thread_is_known() -> None:
    assert {"a", "b", "m"} <= whole([HumanMessage("q", id="m"), ai(["a", "b"])]).ids


def test_the_present_run_begins_after_its_question() -> None:
    messages = [HumanMessage("1", id="1"), AIMessage("x", id="2"), HumanMessage("2", id="3"), AIMessage("y", id="4")]
    assert [m.id for m in since(messages, "3")] == ["4"]
    question = last_question(messages)
    assert question is not None and question.id == "3"
