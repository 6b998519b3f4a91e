"""The graph is the picture, and its builder means what LangGraph's own means."""

from __future__ import annotations

import asyncio
import warnings
from dataclasses import dataclass
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, SystemMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.prebuilt import ToolNode
from langgraph.store.memory import InMemoryStore
from pydantic import BaseModel

from graphs.react import build, graph, rule_table
from nodes.context import Context
from nodes.limits import Limits
from nodes.models import ModelError
from nodes.policy import Policy
from nodes.scripted import ScriptedModel
from reasonact import create_react_agent
from tests.walking import World, calls, look
from tools.tool import ToolError, tool

THREAD: Any = {"configurable": {"thread_id": "t"}}
ASK: Any = {"messages": [("user", "the question")]}

PICTURE = {
    ("__start__", "begin", None), ("begin", "think", None), ("think", "guard", None),
    ("guard", "act", "run"), ("guard", "approve", "ask"), ("guard", "observe", "correct"),
    ("guard", "finish", None),  # LangGraph draws no label that equals the name of the node: it is `finish`
    ("guard", "halt", "stop"),
    ("approve", "approve", "next"), ("approve", "act", "approved"), ("approve", "observe", "refused"),
    ("act", "observe", None), ("observe", "think", None), ("finish", "__end__", None),
    ("halt", "think", "resumed"), ("halt", "__end__", "ended"),
}  # fmt: skip


def test_exactly_the_boxes_and_edges_of_the_picture() -> None:
    drawn = graph.get_graph()
    assert set(drawn.nodes) == {
        "__start__",
        "__end__",
        "begin",
        "think",
        "guard",
        "approve",
        "act",
        "observe",
        "finish",
        "halt",
    }
    assert {(edge.source, edge.target, edge.data) for edge in drawn.edges} == PICTURE
    assert drawn.nodes["guard"].metadata["rules"] == rule_table()  # type: ignore[index]


def test_what_clients_need() -> None:
    assert graph.checkpointer is None and graph.name == "ReAct Agent"
    for schema in (graph.get_input_jsonschema(), graph.get_output_jsonschema()):
        assert {"HumanMessage", "AIMessage", "ToolMessage"} <= set(schema["$defs"])
    assert set(graph.get_input_jsonschema()["properties"]) == {"messages"}
    described = graph.get_context_jsonschema()
    assert described is not None and all(field["description"] for field in described["properties"].values())


def ours(model: Any, **settings: Any) -> Any:
    return create_react_agent(model, World().tools[:3], **settings)


def prebuilt(model: Any, **settings: Any) -> Any:
    from langchain_core.tools import StructuredTool
    from langgraph.prebuilt import create_react_agent as theirs

    tools = [
        StructuredTool.from_function(t.function, name=t.name, description=t.description) for t in World().tools[:3]
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return theirs(model, tools, **settings)


def function_of_state(state: Any) -> list[Any]:
    return [SystemMessage("Be brief."), *state["messages"]]


@pytest.mark.parametrize("make", [ours, prebuilt])
@pytest.mark.parametrize(
    "prompt",
    ["Be brief.", SystemMessage("Be brief."), function_of_state, RunnableLambda(function_of_state)],
    ids=["str", "message", "function", "runnable"],
)
def test_a_prompt_means_the_same(make: Any, prompt: Any) -> None:
    model = ScriptedModel([look("a"), "A"])
    state = make(model, prompt=prompt).invoke(ASK)
    assert state["messages"][-1].text == "A" and [m.type for m in state["messages"]] == ["human", "ai", "tool", "ai"]
    for request in model.requests:
        assert request[0].type == "system" and request[0].text.startswith("Be brief.")
        assert sum(message.type == "system" for message in request) == 1


class Answer(BaseModel):
    """An answer."""

    value: int


class Structured(ScriptedModel):
    """Gives a structured answer after its script."""

    def with_structured_output(self, schema: Any, **kwargs: Any) -> Any:
        return RunnableLambda(lambda messages: (self._requests.append(list(messages)), schema(value=7))[1])


@pytest.mark.parametrize("make", [ours, prebuilt])
@pytest.mark.parametrize("wanted", [Answer, ("As a number.", Answer)], ids=["schema", "with a prompt"])
def test_a_response_format_means_the_same(make: Any, wanted: Any) -> None:
    model = Structured(["seven"])
    state = make(model, response_format=wanted).invoke(ASK)
    assert state["structured_response"] == Answer(value=7)
    if isinstance(wanted, tuple):
        assert model.requests[-1][0].text == "As a number."


def test_a_response_that_cannot_be_had_is_no_success() -> None:
    class Failing(ScriptedModel):
        def with_structured_output(self, schema: Any, **kwargs: Any) -> Any:
            raise_ = RunnableLambda(lambda _: 1 / 0)
            return raise_

    state = ours(Failing(["seven"]), response_format=Answer).invoke(ASK)
    assert state["status"] == "failed" and state["answer"] == "seven" and state.get("structured_response") is None


def test_a_response_that_comes_empty_is_no_success() -> None:
    state = ours(ScriptedModel(["seven", "no call"]), response_format=Answer).invoke(ASK)
    assert state["status"] == "failed" and "asked format" in state["reason"] and state["answer"] == "seven"


def test_name_debug_store_and_checkpointer() -> None:
    store = InMemoryStore()
    agent = ours(ScriptedModel(["A"]), name="mine", store=store, checkpointer=InMemorySaver(), debug=False)
    assert agent.name == "mine" and agent.store is store
    agent.invoke(ASK, THREAD)
    assert agent.get_state(THREAD).values["answer"] == "A"


def test_a_tool_node_and_a_function_of_the_state_as_model() -> None:
    from langchain_core.tools import tool as langchain_tool

    @langchain_tool
    def double(n: int) -> int:
        """Double."""
        return 2 * n

    model = ScriptedModel([calls(("double", {"n": 4})), "8"])
    agent = create_react_agent(lambda state, runtime: model, ToolNode([double]), approve="none")
    assert agent.invoke(ASK)["answer"] == "8"
    bound = create_react_agent(ScriptedModel(["A"]).bind_tools([double]), [double], approve="none")
    assert bound.invoke(ASK)["answer"] == "A"


@dataclass
class Mine:
    system_prompt: str | None = None
    user: str = ""


def test_a_context_of_ones_own() -> None:
    model = ScriptedModel(["A", "B", "C"])
    agent = ours(model, context_schema=Mine)
    agent.invoke(ASK, context=Mine(system_prompt="You are mine."))
    assert model.requests[0][0].text.startswith("You are mine.")
    agent.invoke(ASK, context={"user": "u"})
    agent.invoke(ASK)


def test_the_context_sets_one_run() -> None:
    model = ScriptedModel([look("a"), "好"])
    agent = ours(model, dialect="native")
    limited = agent.invoke(ASK, context=Context(max_steps=1, system_prompt="P.", language="zh"))
    assert limited["status"] == "step_limit" and model.requests[0][0].text.startswith("P.")
    assert any("\u4e00" <= mark <= "\u9fff" for mark in model.requests[0][0].text)


def test_a_chinese_question_is_asked_in_chinese() -> None:
    model = ScriptedModel([" 知道。\n行动 1：Finish[好]"], tool_calling=False)
    state = ours(model, dialect="text").invoke({"messages": [("user", "今天天气怎么样？")]})
    assert state["answer"] == "好" and "问题" in model.requests[0][-1].text


def test_the_dialect_changes_between_two_runs_of_one_thread() -> None:
    replies = [
        look("a"), "first", ' again.\nAction 1: look["b"]', " done\nAction 2: Finish[second]",
        '{"thought": "t", "action": "look", "args": {"what": "c"}}', '{"thought": "t", "action": "finish", "args": {"answer": "third"}}',
    ]  # fmt: skip
    model = ScriptedModel(replies)
    agent = ours(model, checkpointer=InMemorySaver())
    answers = [
        agent.invoke(ASK, THREAD, context=Context(dialect=name))["answer"] for name in ("native", "text", "json")
    ]
    assert answers == ["first", "second", "third"]
    kinds = [message.type for message in agent.get_state(THREAD).values["messages"]]
    assert kinds == ["human", "ai", "tool", "ai"] * 3
    assert "first" in model.requests[2][-1].text and "second" in str(model.requests[4])


def test_auto_says_what_it_picked_and_why() -> None:
    agent = ours(ScriptedModel([" k\nAction 1: Finish[A]"], tool_calling=False), checkpointer=InMemorySaver())
    agent.invoke(ASK, THREAD)
    run = agent.get_state(THREAD).values["run"]
    assert run["dialect"] == "text" and "cannot call tools" in run["dialect_why"]


def test_state_can_be_edited_and_forked() -> None:
    agent = ours(ScriptedModel([look("a"), "A", "B"]), checkpointer=InMemorySaver())
    agent.invoke(ASK, THREAD)
    before = next(s for s in agent.get_state_history(THREAD) if s.next == ("think",) and len(s.values["messages"]) == 3)
    observation = before.values["messages"][-1]
    edited = agent.update_state(
        before.config, {"messages": [observation.model_copy(update={"content": "edited"})]}, as_node="observe"
    )
    assert agent.invoke(None, edited)["answer"] == "B"
    assert [m.text for m in agent.get_state(edited).values["messages"] if m.type == "tool"] == ["edited"]


def test_streaming_gives_each_message_once() -> None:
    agent = ours(ScriptedModel([look("a"), "the answer"]), checkpointer=InMemorySaver())
    parts = list(agent.stream(ASK, THREAD, stream_mode="messages"))
    said: dict[Any, str] = {}
    for message, _ in parts:
        if isinstance(message, AIMessage | AIMessageChunk):
            said[message.id] = said.get(message.id, "") + message.text
    assert list(said.values()).count("the answer") == 1
    assert {m.id for m in agent.get_state(THREAD).values["messages"] if m.type == "ai"} == set(said)


def test_it_runs_async() -> None:
    async def run() -> dict[str, Any]:
        return await ours(ScriptedModel([look("a"), "A"])).ainvoke(ASK)  # type: ignore[no-any-return]

    assert asyncio.run(run())["answer"] == "A"


def test_messages_of_other_makers_are_taken() -> None:
    history = [
        HumanMessage([{"type": "text", "text": "first"}]),
        AIMessage("", tool_calls=[{"name": "gone", "args": {}, "id": "x", "type": "tool_call"}]),
        ToolMessage("what it found", tool_call_id="x"),
        AIMessage("found"),
        {"role": "user", "content": "second"},
    ]
    for dialect in ("native", "text", "json"):
        reply = {"native": "A", "text": " k\nAction 1: Finish[A]", "json": '{"thought": "", "answer": "A"}'}[dialect]
        model = ScriptedModel([reply])
        assert ours(model, dialect=dialect).invoke({"messages": history})["answer"] == "A"
        assert "what it found" in str(model.requests[0]) or dialect != "native"


@pytest.mark.parametrize(
    ("settings", "error", "says"),
    [
        ({"model": 7}, ModelError, "openai:gpt"),
        ({"model": "gpt-5.5"}, ModelError, "provider:name"),
        ({"tools": [7]}, ToolError, "a function"),
        ({"tools": [tool(effect="read")(look), tool(effect="read")(look)]}, ToolError, "two tools"),
    ],
)
def test_what_the_caller_can_mend_is_said(settings: Any, error: Any, says: str) -> None:
    with pytest.raises(error, match=says):
        build(**{"model": ScriptedModel([]), "tools": [], **settings}).invoke(ASK)


def test_a_limit_that_cannot_be_obeyed() -> None:
    with pytest.raises(ValueError, match=r"Limits\.steps"):
        Limits(steps=-1)
    with pytest.raises(ValueError, match="on_limit"):
        Limits(on_limit="explode")  # type: ignore[arg-type]


@pytest.mark.parametrize("approve", ["All", "foo", "risky ", "", None, True, False, 0])
def test_a_misspelt_policy_never_means_that_nobody_is_asked(approve: Any) -> None:
    world = World()
    with pytest.raises(ValueError, match="approve must be one of risky, all, none"):
        build(ScriptedModel([calls(("pay", {"amount": 1}))]), world.tools, approve=approve)
    with pytest.raises(ValueError, match="approve must be"):
        Policy.of(approve)
    assert world.effects == []


def test_a_dialect_that_does_not_exist_is_said_when_the_agent_is_built() -> None:
    with pytest.raises(ValueError, match="dialect must be one of auto, text, json, native"):
        build(ScriptedModel([]), [], dialect="xml")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="dialect must be one of"):
        Context(dialect="xml")  # type: ignore[arg-type]
