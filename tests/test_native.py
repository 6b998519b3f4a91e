"""The native dialect: calls as clients and servers leave them, and a history that goes out as it is."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI

from nodes.dialects import native
from nodes.dialects.brief import Brief
from nodes.move import Call, FormatError, Move
from tests.wild import BOX, CALLS, THOUGHTS, made, thread
from tools.toolbox import Toolbox

CITY = Toolbox(
    [made("get_weather", city={"type": "string"}), made("list_dirs"), made("jsonformat", text={"type": "string"})]
)


def raw(*calls, content="", reason="tool_calls", **fields):
    """A reply as ChatOpenAI hands it over, of calls given as (name, arguments) or (name, arguments, id)."""
    good, bad = [], []
    for number, (name, args, *id) in enumerate(calls, 1):
        call = {"name": name, "args": loaded(args), "id": (id or [f"c{number}"])[0]}
        if isinstance(call["args"], dict):
            good.append({**call, "type": "tool_call"})
        else:
            bad.append({**call, "args": args, "type": "invalid_tool_call", "error": "no JSON object"})
    told = {"finish_reason": reason}
    return AIMessage(content, tool_calls=good, invalid_tool_calls=bad, additional_kwargs=fields, response_metadata=told)


def loaded(args):
    try:
        return json.loads(args) if isinstance(args, str) else args
    except ValueError:
        return None


def kind(reply, box=CITY):
    with pytest.raises(FormatError) as error:
        native.parse(reply, box)
    assert error.value.sentence
    return error.value.kind


@settings(max_examples=200, deadline=None)
@given(thought=THOUGHTS, calls=st.lists(CALLS, min_size=1, max_size=4))
def test_calls_read_back_as_they_stand_in_the_history(thought, calls):
    move = Move(thought, tuple(Call(call.name, call.args, f"c{n}") for n, call in enumerate(calls)))
    asked = [{"name": call.name, "args": call.args, "id": call.id, "type": "tool_call"} for call in move.calls]
    assert native.parse(AIMessage(thought, tool_calls=asked), BOX) == move
    encoded = [(call.name, json.dumps(call.args), call.id) for call in move.calls]
    assert native.parse(raw(*encoded, content=thought), BOX) == move


@pytest.mark.parametrize(
    "arguments",
    [
        '{"city": "Lima"}',
        {"city": "Lima"},
        '"{\\"city\\": \\"Lima\\"}"',
        json.dumps(json.dumps(json.dumps({"city": "Lima"}))),
        'json\n{"city": "Lima"}',
        'json{"city": "Lima"}',
        '```json\n{"city": "Lima"}\n```',
        '```\n{"city": "Lima"}\n```',
        "Lima",
        '"Lima"',
    ],
)
def test_arguments_are_decoded_from_what_servers_send(arguments):
    assert native.parse(raw(("get_weather", arguments)), CITY).calls == (Call("get_weather", {"city": "Lima"}, "c1"),)


@pytest.mark.parametrize("arguments", ['{"city": "Lima"}', {"city": "Lima"}, '```json\n{"city": "Lima"}\n```'])
def test_calls_left_in_the_servers_form_are_read(arguments):
    call = {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": arguments}}
    reply = AIMessage("")
    reply.additional_kwargs["tool_calls"] = [call]
    assert native.parse(reply, CITY).calls == (Call("get_weather", {"city": "Lima"}, "c1"),)


@pytest.mark.parametrize("arguments", ["", None, "null", "{}", {}, " ", '""'])
def test_nothing_is_no_arguments(arguments):
    assert native.parse(raw(("list_dirs", arguments)), CITY).calls == (Call("list_dirs", {}, "c1"),)


def test_a_text_that_holds_json_stays_a_text():
    move = native.parse(raw(("jsonformat", '{"text": "{\\"debug\\": true}"}')), CITY)
    assert move.calls[0].args == {"text": '{"debug": true}'}


def test_calls_the_client_could_not_read_are_read_here():
    invalid = [{"name": "get_weather", "args": '```json\n{"city": "Lima"}\n```', "id": "c1", "error": "bad"}]
    reply = AIMessage("", invalid_tool_calls=[{**call, "type": "invalid_tool_call"} for call in invalid])
    assert native.parse(reply, CITY).calls == (Call("get_weather", {"city": "Lima"}, "c1"),)


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("get_weather", '{"city": fast"}', "invalid_arguments"),
        ("get_weather", '{"city": ', "invalid_arguments"),
        ("get_weather", "[1, 2]", "invalid_arguments"),
        ("get_weather", "{}", "invalid_arguments"),
        ("default_api:view", "{}", "unknown_tool"),
        ("json_format", '{"text": "x"}', "unknown_tool"),
        ("multi_tool_use.parallel", '{"tool_uses": []}', "unknown_tool"),
        ("", "{}", "missing_action_name"),
        ("final_answer", '{"answer": " "}', "empty_output"),
        ("final_answer", "", "empty_output"),
    ],
)
def test_a_call_that_cannot_be_read_is_named(name, arguments, expected):
    assert kind(raw((name, arguments))) == expected


def test_an_unknown_tool_is_answered_with_the_names_and_a_hint():
    with pytest.raises(FormatError) as error:
        native.parse(raw(("json_format", "{}")), CITY)
    assert "get_weather, list_dirs, jsonformat" in error.value.sentence
    assert "jsonformat?" in error.value.sentence


def test_one_good_call_runs_beside_a_bad_one():
    move = native.parse(raw(("get_weather", '{"city": "Oslo"}'), ("get_weather", '{"city": ')), CITY)
    assert move.calls == (Call("get_weather", {"city": "Oslo"}, "c1"),)
    assert [(error.id, error.error) for error in move.call_errors] == [("c2", "invalid_arguments")]


def test_nothing_runs_of_a_reply_that_was_cut():
    assert kind(raw(("list_dirs", "{}"), reason="length")) == "truncated"
    assert kind(raw(("list_dirs", "{}"), reason="max_tokens")) == "truncated"
    assert kind(raw(reason="length", reasoning="The user wants")) == "truncated"


def test_an_id_used_twice_becomes_a_new_one():
    calls = native.parse(raw(("list_dirs", "{}", "x:1"), ("list_dirs", "{}", "x:1")), CITY).calls
    assert calls[0].id == "x:1"
    assert calls[1].id not in ("", "x:1")


def test_a_missing_id_is_left_to_the_thinker():
    assert native.parse(raw(("list_dirs", "{}", None)), CITY).calls == (Call("list_dirs", {}, ""),)


@pytest.mark.parametrize("name", ["list_dirs<|channel|>commentary", "list_dirs<|im_end|>", "list-dirs", "ListDirs"])
def test_names_are_cut_at_special_tokens_and_normalised(name):
    assert native.parse(raw((name, "{}")), CITY).calls == (Call("list_dirs", {}, "c1"),)


def test_a_finishing_call_is_the_answer_and_gives_way_to_work():
    finish = ("final_answer", '{"answer": "It is in stock."}')
    assert native.parse(raw(finish, content="Done."), CITY) == Move("Done.", answer="It is in stock.")
    both = native.parse(raw(("list_dirs", "{}"), finish), CITY)
    assert both.calls == (Call("list_dirs", {}, "c1"),)
    assert both.answer is None and both.dropped


def test_a_registered_tool_named_finish_is_a_tool():
    box = Toolbox([made("finish")])
    assert native.parse(raw(("finish", "{}")), box).calls == (Call("finish", {}, "c1"),)


@pytest.mark.parametrize("content", ["", "  \n", [], [{"type": "reasoning", "reasoning": "Hm."}]])
def test_an_empty_reply_is_empty(content):
    assert kind(AIMessage(content, response_metadata={"finish_reason": "stop"})) == "empty_output"


def test_plain_content_is_the_answer():
    assert native.parse(AIMessage("It rains in Lima."), CITY) == Move(answer="It rains in Lima.")


@pytest.mark.parametrize(
    "leaked",
    [
        'Thought: check\nAction: get_weather\nAction Input: {"city": "Lima"}',
        'check\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Lima"}}\n</tool_call>',
    ],
)
def test_calls_that_leak_into_the_content_are_read(leaked):
    assert native.parse(AIMessage(leaked), CITY) == Move("check", (Call("get_weather", {"city": "Lima"}),))


@pytest.mark.parametrize(
    ("content", "fields"),
    [
        ("I look.", {"reasoning_content": "Hm."}),
        ("I look.", {"reasoning": "Hm."}),
        ("I look.", {"reasoning": {"summary": [{"text": "Hm."}]}}),
        ([{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "I look."}], {}),
        ([{"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]}, "I look."], {}),
    ],
)
def test_thought_and_reasoning_are_kept_apart(content, fields):
    move = native.parse(raw(("list_dirs", "{}"), content=content, **fields), CITY)
    assert (move.thought, move.reasoning) == ("I look.", "Hm.")


def test_the_history_goes_out_as_it_is():
    messages = thread()
    _, *chat = native.render(messages, BOX)
    assert all(sent is kept for sent, kept in zip(chat, messages, strict=True))


def test_what_holds_for_this_call_is_added_to_a_copy():
    messages = thread()
    _, *chat = native.render(messages, BOX, Brief(steps_left=3))
    assert isinstance(chat[-1], ToolMessage) and chat[-1].tool_call_id == "c1"
    assert chat[-1].content == "It rains.\n\n[3 steps left]"
    assert messages[-1].content == "It rains."


def test_a_line_after_an_answer_is_a_message_of_its_own():
    *_, last = native.render([HumanMessage("Hi"), AIMessage("Hello")], BOX, Brief(note="Check it."))
    assert (last.type, last.content) == ("human", "[Check it.]")


def test_the_schemas_are_openais_and_made_once():
    bound = native.bind(ChatOpenAI(model="m", api_key="k", base_url="http://localhost:1"), CITY)
    assert [tool["function"]["name"] for tool in bound.kwargs["tools"]] == list(CITY)
    assert bound.kwargs["tools"][0]["function"]["parameters"]["required"] == ["city"]
    assert native.schemas(CITY) is native.schemas(CITY)


def test_without_tools_nothing_is_bound():
    model = FakeListChatModel(responses=["x"])
    assert native.bind(model, Toolbox()) is model
