"""The json dialect: objects that read back, and a schema that servers can enforce."""

import json as stdlib

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI

from nodes.dialects import json
from nodes.dialects.brief import Brief
from nodes.dialects.schema import turn
from nodes.move import Call, FormatError, Move
from tests.wild import BOX, CALLS, THOUGHTS, WILD, made, thread
from tools.tool import Tool
from tools.toolbox import Toolbox

SMALL = Toolbox([made("Search", query={"type": "string"}), made("list", [], page={"type": "integer"})])


@settings(max_examples=300, deadline=None)
@given(thought=THOUGHTS, call=CALLS)
def test_a_call_reads_back_as_written(thought, call):
    move = Move(thought, (call,))
    assert json.parse(AIMessage(json.write(move)), BOX) == move


@settings(max_examples=300, deadline=None)
@given(thought=THOUGHTS, answer=WILD.filter(str.strip))
def test_an_answer_reads_back_as_written(thought, answer):
    read = json.parse(AIMessage(json.write(Move(thought, answer=answer))), BOX)
    assert (read.thought, read.calls, read.answer.strip()) == (thought, (), answer.strip())


@settings(max_examples=300, deadline=None)
@given(calls=st.lists(CALLS, min_size=2, max_size=4).map(tuple))
def test_several_calls_read_back_as_written(calls):
    move = Move("Both at once.", calls)
    assert json.parse(AIMessage(json.write(move)), BOX) == move


def test_the_history_is_a_chat_of_objects_in_turn():
    _, *chat = json.render(thread(), BOX, Brief(steps_left=2))
    assert [message.type for message in chat] == ["human", "ai", "human", "ai", "human"]
    assert stdlib.loads(chat[1].content) == {"thought": "A greeting.", "action": "finish", "args": {"answer": "Hi."}}
    assert stdlib.loads(chat[3].content) == {"thought": "I look it up.", "action": "Search", "args": {"query": "rain"}}
    assert chat[4].content == "Observation 1: It rains.\n[2 steps left]"
    assert not any(message.tool_calls for message in chat if isinstance(message, AIMessage))


def test_parallel_calls_are_turns_of_their_own():
    calls = [{"name": "now", "args": {}, "id": id, "type": "tool_call"} for id in ("a", "b")]
    messages = [HumanMessage("When?"), AIMessage("Both.", tool_calls=calls)]
    messages += [ToolMessage(f"at {id}", tool_call_id=id) for id in ("a", "b")]
    _, *chat = json.render(messages, BOX)
    assert [message.type for message in chat] == ["human", "ai", "human", "ai", "human"]
    assert (chat[2].content, chat[4].content) == ("Observation 1: at a", "Observation 2: at b")


def test_a_reply_that_could_not_be_read_stands_before_the_sentence():
    _, *chat = json.render(thread()[2:3], BOX, Brief(repair=("Sure!", "There was no object."), steps_left=1))
    assert [message.content for message in chat[1:]] == [
        "Sure!",
        "Your last reply could not be read. There was no object.\n[1 step left]",
    ]


@pytest.mark.parametrize(
    ("reply", "move"),
    [
        ('```json\n{"thought": "t", "action": "now", "args": {}}\n```', Move("t", (Call("now", {}),))),
        ('{"thought": "t", "answer": "42"}', Move("t", answer="42")),
        ('{"thought": "t", "action": "Search", "args": {"query": "x",}}', Move("t", (Call("Search", {"query": "x"}),))),
        ('Thought: t\nAction: Search["x"]', Move("t", (Call("Search", {"query": "x"}),))),
        (
            '{"thought": "t", "action": "note", "args": {"text": "a", "tags": null}}',
            Move("t", (Call("note", {"text": "a"}),)),
        ),
    ],
)
def test_what_a_model_writes_instead_is_read(reply, move):
    assert json.parse(AIMessage(reply), BOX) == move


@pytest.mark.parametrize(
    ("reply", "reason", "kind"),
    [
        ("Sure! I will look into it.", "stop", "no_action"),
        ("", "stop", "empty_output"),
        ('{"thought": "t", "action": "Search", "args": {"query": "x', "length", "truncated"),
        ('{"thought": "t", "action": "delete", "args": {}}', "stop", "unknown_tool"),
    ],
)
def test_what_cannot_be_read_is_named(reply, reason, kind):
    with pytest.raises(FormatError) as error:
        json.parse(AIMessage(reply, response_metadata={"finish_reason": reason}), BOX)
    assert error.value.kind == kind


def test_the_schema_accepts_turns_and_refuses_the_rest():
    check = jsonschema.Draft202012Validator(json.schema(SMALL))
    good = [
        Move("t", (Call("Search", {"query": "x"}),)),
        Move("t", (Call("list", {"page": None}),)),
        Move("", answer="a"),
    ]
    for move in good:
        assert check.is_valid(stdlib.loads(json.write(move)))
    for bad in (
        {},
        {"thought": "t", "action": "Other", "args": {}},
        {"thought": "t", "action": "Search", "args": {"q": 1}},
    ):
        assert not check.is_valid(bad)


def test_the_schema_of_no_tools_allows_the_answer_only():
    schema = json.schema(Toolbox())
    assert schema["properties"]["action"]["enum"] == ["finish"]
    assert schema["properties"]["args"]["required"] == ["answer"]


def objects(schema):
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for inner in schema.values():
            yield from objects(inner)
    if isinstance(schema, list):
        for inner in schema:
            yield from objects(inner)


def test_strict_mode_can_enforce_it():
    """OpenAI: a plain object at the root, every object closed and every property required."""
    nested = {"type": "object", "properties": {"a": {"$ref": "#/$defs/Leaf"}}}
    leaf = {"type": "object", "properties": {"n": {"type": "integer", "default": 1}}}
    parameters = {"type": "object", "properties": {"tree": nested, "n": {"type": "integer"}}, "$defs": {"Leaf": leaf}}
    schema, strict = turn(Toolbox([Tool("grow", "Grows.", None, parameters), *SMALL.values()]))
    assert strict and schema["type"] == "object" and "anyOf" not in schema
    assert "default" not in stdlib.dumps(schema)
    for found in objects(schema):
        assert found["additionalProperties"] is False
        assert found["required"] == list(found["properties"])
    move = Move("t", (Call("grow", {"tree": {"a": {"n": None}}, "n": 3}),))
    jsonschema.validate(stdlib.loads(json.write(move)), schema)


@pytest.mark.parametrize("free", [{"type": "object"}, {"type": "array"}, {}, {"allOf": [{"type": "string"}]}])
def test_what_strict_mode_cannot_say_is_left_open(free):
    schema, strict = turn(Toolbox([made("store", value=free)]))
    assert not strict
    jsonschema.validate({"thought": "", "action": "store", "args": {"value": {"a": 1}}}, schema)


def test_a_client_of_openai_is_held_to_the_schema():
    model = ChatOpenAI(model="m", api_key="k", base_url="http://localhost:1", extra_body={"ttl": 1})
    body = json.bind(model, SMALL).kwargs["extra_body"]
    assert body["ttl"] == 1
    assert body["response_format"]["json_schema"]["schema"] == json.schema(SMALL)
    assert body["response_format"]["json_schema"]["strict"] is True


def test_other_clients_are_bound_by_their_profile():
    plain = FakeListChatModel(responses=["x"])
    able = FakeListChatModel(responses=["x"], profile={"structured_output": True})
    assert json.bind(plain, SMALL) is plain
    assert json.bind(able, SMALL).kwargs["response_format"]["type"] == "json_schema"
