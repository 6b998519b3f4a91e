"""JSON values out of text: what is mended, what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.dialects.objects import Unreadable, first, loads

MENDED = {
    "full-width colon": ('{"city"："北京"}', {"city": "北京"}),
    "full-width comma": ('{"city": "北京"，"days"：2}', {"city": "北京", "days": 2}),
    "curly quotes": ("{“city”：“北京”}", {"city": "北京"}),
    "straight quotes in curly ones": ('{‘code’: ‘print("hi")’}', {"code": 'print("hi")'}),
    "bare key": ('{city: "北京"}', {"city": "北京"}),
    "bare value": ("{city: 北京}", {"city": "北京"}),
    "python words": ("{'a': True, 'b': None, 'c': [False]}", {"a": True, "b": None, "c": [False]}),
    "apostrophe": ("{'a': 'it's'}", {"a": "it's"}),
    "apostrophe escaped": ('{"query": "today\\\'s menu"}', {"query": "today's menu"}),
    "backslash of a path": ('{"p": "C:\\dir"}', {"p": "C:\\dir"}),
    "raw line break": ('{"a": "x\ny"}', {"a": "x\ny"}),
    "trailing comma": ('{"a": [1, 2,],}', {"a": [1, 2]}),
    "missing comma": ('{"a": 1\n"b": 2}', {"a": 1, "b": 2}),
    "comment": ('{"a": 1 // one\n}', {"a": 1}),
    "quotes inside": ('{"q": "the "Aurora" model"}', {"q": 'the "Aurora" model'}),
    "code with quotes": ('{"code": "print("a", "b")"}', {"code": 'print("a", "b")'}),
    "triple quotes": ('{"code": """say "x" """}', {"code": 'say "x" '}),
    "one brace missing": ('{"a": {"b": 1}', {"a": {"b": 1}}),
}
REFUSED = {
    "duplicate key": '{"a": 1, "a": 2}',
    "duplicate key, mended": "{'a': 1, a: 2}",
    "NaN": '{"a": NaN}',
    "Infinity": "[-Infinity]",
    "too large a number": '{"a": 1e999}',
    "too many digits": f'{{"a": {"1" * 4301}}}',
    "too deep": f"{'[' * 33}{']' * 33}",
    "far too deep": "[" * 30_000,
    "deep and open": '{"a":' * 20_000,
    "too long": f'"{"x" * 70_000}"',
    "cut in a string": '{"a": "x',
    "cut in a list": '{"a": [1, 2',
    "crossed": '{"a": [1, 2}',
    "glued keys": '{"name="edit_file", "arguments": {"path": "s.ts"}}',
    "missing quote": '{"a": "x" "b": "y"}',
    "odd quote": '{"mode": fast"}',
    "no JSON": "{tram to the airport}",
    "words": "hello",
    "more text": '{"a": 1} and so on',
    "nothing": "",
    "a brace alone": "{",
}


@pytest.mark.parametrize(("text", "value"), MENDED.values(), ids=MENDED.keys())
def test_slips_with_one_meaning_are_mended(text, value):
    assert loads(text) == value


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED.keys())
def test_what_has_no_one_meaning_is_refused(text):
    with pytest.raises(Unreadable):
        loads(text)


def test_a_missing_brace_is_not_forgiven_when_the_reply_was_cut():
    with pytest.raises(Unreadable) as refused:
        loads('{"a": 1', truncated=True)
    assert refused.value.cut


def test_the_first_value_ends_where_its_bracket_closes():
    text = 'x {"a": "}"} {"b": 1}'
    assert first(text, 2) == ({"a": "}"}, 12)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(JSON, st.booleans())
def test_valid_json_reads_as_it_is(value, ascii_only):
    import json

    assert loads(json.dumps(value, ensure_ascii=ascii_only)) == value


@given(st.text(st.sampled_from("{}[]\"'\\:,ab1 \n“”：，/*-"), max_size=60))
def test_no_text_raises_anything_else(text):
    try:
        loads(f"{{{text}")
    except Unreadable as error:
        assert str(error)
