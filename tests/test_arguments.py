"""Arguments brought to the types of a tool's schema, or refused with a sentence that helps."""

from typing import Any, Literal

import pytest
from pydantic import BaseModel

from tools.arguments import InvalidArguments, coerce, plain, positional
from tools.tool import Tool


def made(required=None, /, **properties):
    names = list(properties) if required is None else required
    return Tool("t", "", None, {"type": "object", "properties": properties, "required": names})


def one(about, value):
    return coerce(made(x=about), {"x": value})["x"]


STRING, INTEGER, NUMBER = {"type": "string"}, {"type": "integer"}, {"type": "number"}
COERCED = [
    (INTEGER, "4", 4),
    (INTEGER, " -4 ", -4),
    (INTEGER, "4.0", 4),
    (INTEGER, 4.0, 4),
    (NUMBER, "4.5", 4.5),
    (NUMBER, "4", 4),
    ({"type": "boolean"}, "true", True),
    ({"type": "boolean"}, "False", False),
    (STRING, 4, "4"),
    (STRING, 4.5, "4.5"),
    (STRING, True, "true"),
    (STRING, "4", "4"),
    (STRING, "90071992547409931234", "90071992547409931234"),
    (STRING, '{"debug": true}', '{"debug": true}'),
    ({"type": "object"}, '{"a": 1}', {"a": 1}),
    ({"type": "array", "items": INTEGER}, "['1', 2]", [1, 2]),
    ({"type": "array", "items": INTEGER}, ["1", 2], [1, 2]),
    ({"anyOf": [INTEGER, {"type": "null"}]}, "4", 4),
    ({"anyOf": [INTEGER, {"type": "null"}]}, "null", None),
    ({"anyOf": [INTEGER, STRING]}, "4", "4"),
    ({"type": ["integer", "null"]}, "4", 4),
    ({"type": "integer", "enum": [1, 2]}, "2", 2),
    ({"type": "object", "properties": {"n": INTEGER}}, {"n": "3"}, {"n": 3}),
    ({}, "4", "4"),
]


@pytest.mark.parametrize(("about", "value", "wanted"), COERCED)
def test_a_value_takes_the_type_its_schema_wants(about, value, wanted):
    found = one(about, value)
    assert found == wanted and type(found) is type(wanted)


REFUSED = [
    (INTEGER, "four", "x must be of type integer"),
    (INTEGER, "4.5", "x must be of type integer"),
    (INTEGER, True, "x must be of type integer"),
    (STRING, {"a": 1}, "x must be of type string"),
    (STRING, {"description": "The text", "type": "str"}, "piece of the schema"),
    (STRING, None, "x must be of type string"),
    ({"type": "string", "enum": ["a", "b"]}, "c", 'one of "a", "b"'),
    ({"type": "array", "items": STRING}, "a, b", "x must be of type array"),
    ({"type": "object"}, '{"a": 1, "a": 2}', "x must be of type object"),
]


@pytest.mark.parametrize(("about", "value", "says"), REFUSED)
def test_a_value_that_does_not_fit_is_refused_by_name(about, value, says):
    with pytest.raises(InvalidArguments, match="t\\(x: ") as refused:
        one(about, value)
    assert says in str(refused.value)


def test_unknown_and_missing_parameters_are_named():
    tool = made(["a"], a=STRING, b=INTEGER)
    with pytest.raises(InvalidArguments, match='no parameter "c"'):
        coerce(tool, {"a": "x", "c": 1})
    with pytest.raises(InvalidArguments, match="a is missing"):
        coerce(tool, {"b": 1})


def test_a_name_that_differs_in_case_or_separators_is_meant():
    assert coerce(made(fileName=STRING), {"file_name": "a"}) == {"fileName": "a"}
    with pytest.raises(InvalidArguments, match="given twice"):
        coerce(made(fileName=STRING), {"file_name": "a", "fileName": "b"})


def test_null_for_an_optional_parameter_is_left_out():
    assert coerce(made(["a"], a=STRING, b=INTEGER), {"a": "x", "b": None}) == {"a": "x"}


def test_positions_follow_the_schema():
    tool = made(["a"], a=INTEGER, b=STRING)
    assert positional(tool, ["1", 2]) == {"a": 1, "b": "2"}
    with pytest.raises(InvalidArguments, match="3 values"):
        positional(tool, [1, 2, 3])


def test_plain_text_needs_one_place_to_go():
    assert plain(made(["a"], a=STRING, b=INTEGER), "x") == {"a": "x"}
    assert plain(made([], a=INTEGER), "3") == {"a": 3}
    with pytest.raises(InvalidArguments, match="by name"):
        plain(made(a=STRING, b=STRING), "x")
    with pytest.raises(InvalidArguments):
        plain(made(), "x")


class Place(BaseModel):
    city: str
    zoom: int = 3


def test_schemas_of_functions_with_models_inside():
    def show(place: Place, size: Literal["s", "m"] = "s", tags: list[int] | None = None) -> str:
        """Show a place."""
        return ""

    tool = Tool.of(show)
    found = coerce(tool, {"place": '{"city": "Oslo", "zoom": "4"}', "tags": ["1"]})
    assert found == {"place": {"city": "Oslo", "zoom": 4}, "tags": [1]}
    with pytest.raises(InvalidArguments, match='one of "s", "m"'):
        coerce(tool, {"place": {"city": "Oslo"}, "size": "l"})


def test_a_schema_that_refers_to_nothing_is_told_and_to_itself_ends():
    with pytest.raises(InvalidArguments, match="schema of t"):
        one({"$ref": "#/$defs/nothing"}, "x")
    root = {"type": "object", "properties": {"x": {"$ref": "#/properties/x"}}, "required": ["x"]}
    with pytest.raises(InvalidArguments):
        coerce(Tool("t", "", None, root), {"x": 1})


@pytest.mark.parametrize("value", [2**70, -(2**64), [[2**63]], {"a": {"b": 2**64}}])
def test_what_no_checkpoint_can_hold_is_refused(value: Any) -> None:
    anything = Tool("anything", "Take anything.", lambda value: value, {"type": "object", "properties": {"value": {}}})
    with pytest.raises(InvalidArguments, match="64 bits"):
        coerce(anything, {"value": value})
    deep: Any = "x"
    for _ in range(200):
        deep = [deep]
    with pytest.raises(InvalidArguments, match="levels"):
        coerce(anything, {"value": deep})
    assert coerce(anything, {"value": 2**62}) == {"value": 2**62}
