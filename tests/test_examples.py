"""The examples in a prompt are made from the registered tools and are read back by the dialect that shows them."""

import pytest
from langchain_core.messages import AIMessage

from nodes.dialects import json, text
from nodes.dialects.examples import examples
from nodes.dialects.samples import arguments
from tools.tool import Tool
from tools.toolbox import Toolbox


def made(name, effect="read", /, required=None, **properties):
    names = list(properties) if required is None else required
    schema = {"type": "object", "properties": properties, "required": names}
    return Tool(name, f"Does {name}.", None, schema, effect=effect)


STRING, WHOLE = {"type": "string"}, {"type": "integer"}
BOXES = {
    "none": Toolbox(),
    "one": Toolbox([made("search", query=STRING)]),
    "nothing to give": Toolbox([made("now")]),
    "two": Toolbox([made("Search", query=STRING), made("calculator", expression=STRING)]),
    "many parameters": Toolbox(
        [
            made("weather", city=STRING, days=WHOLE, unit={"enum": ["c", "f"]}),
            made("orders.list-all", filter={"type": "object", "properties": {"open": {"type": "boolean"}}}),
            made("tag", tags={"type": "array", "items": STRING}, level={"anyOf": [{"type": "null"}, WHOLE]}),
        ]
    ),
    "Chinese": Toolbox([made("搜索", 关键词=STRING), made("天气", 城市=STRING)]),
}
each_box = pytest.mark.parametrize("box", BOXES.values(), ids=BOXES)
each_language = pytest.mark.parametrize("language", ["en", "zh"])


@each_box
@each_language
def test_two_to_four_examples_end_with_an_answer_and_one_asks_back(box, language):
    shown = examples(box, language)
    assert 2 <= len(shown) <= 4
    assert all(example.turns[-1][0].answer for example in shown)
    assert any(example.turns[-1][0].answer.endswith(("?", "？")) for example in shown)


@each_box
@each_language
def test_examples_use_registered_tools_with_arguments_their_schema_takes(box, language):
    moves = [move for example in examples(box, language) for move, _ in example.turns]
    used = [call for move in moves for call in move.calls]
    assert all(call.name in box for call in used)
    assert bool(used) == bool(box)
    for call in used:
        assert set(call.args) >= set(box[call.name].required)


def test_two_tools_are_chained():
    chains = [[call.name for move, _ in one.turns for call in move.calls] for one in examples(BOXES["two"])]
    assert ["Search", "calculator"] in chains


def test_tools_that_change_nothing_are_shown_first():
    box = Toolbox([made("delete", "irreversible", id=STRING), made("look", id=STRING), made("find", id=STRING)])
    used = {call.name for one in examples(box) for move, _ in one.turns for call in move.calls}
    assert used == {"look", "find"}


@each_box
@each_language
def test_every_text_example_is_read_back(box, language):
    for example in examples(box, language):
        for number, (move, _) in enumerate(example.turns, 1):
            written = text.write(move, number, language, box)
            assert text.parse(AIMessage(written), box) == move
            continued = written.split("：" if language == "zh" else ":", 1)[1]
            assert text.parse(AIMessage(continued), box) == move


@each_box
@each_language
def test_every_json_example_is_read_back(box, language):
    for example in examples(box, language):
        for move, _ in example.turns:
            assert json.parse(AIMessage(json.write(move)), box) == move


@each_language
def test_the_examples_shown_in_the_prompt_are_these(language):
    box = BOXES["two"]
    system = text.render([], box, text.Brief(language=language))[0].content
    for example in examples(box, language):
        assert example.question in system
        for number, (move, brought) in enumerate(example.turns, 1):
            assert text.write(move, number, language, box) in system
            assert brought in system


@pytest.mark.parametrize(
    ("about", "value"),
    [
        ({"type": "string", "examples": ["Lyon"]}, "Lyon"),
        ({"type": "string", "default": "Lyon"}, "Lyon"),
        ({"enum": ["a", "b"]}, "a"),
        ({"const": 7}, 7),
        ({"type": ["integer", "null"], "minimum": 10}, 10),
        ({"type": "integer", "maximum": 1}, 1),
        ({"type": "boolean"}, True),
        ({"type": "array", "items": {"type": "integer"}}, [2]),
        ({"anyOf": [{"type": "null"}, {"type": "boolean"}]}, True),
        ({"type": "string", "format": "date"}, "2030-01-02"),
        (True, "Lake Sample"),
    ],
)
def test_sample_arguments_follow_the_schema(about, value):
    assert arguments(made("tool", thing=about), "en") == {"thing": value}


def test_a_schema_that_cannot_be_met_is_not_shown():
    odd = made("odd", code={"type": "string", "pattern": "^[0-9]{9}$"})
    used = [call for one in examples(Toolbox([odd])) for move, _ in one.turns for call in move.calls]
    assert not used
