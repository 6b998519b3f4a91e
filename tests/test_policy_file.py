"""A policy file is understood whole or not at all."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nodes.argument_rule import ArgumentRule, PolicyError
from nodes.policy import Policy
from nodes.policy_file import check_names, read_policy
from tools.tool import Tool
from tools.toolbox import Toolbox


def made(name: str, *arguments: str, **schema: Any) -> Tool:
    return Tool(name, name, None, {"type": "object", "properties": {each: {} for each in arguments}, **schema})


BOX = Toolbox(
    [
        made("place_order", "item"),
        made("refund_order", "amount", "reason"),
        made("now"),
        made("any", additionalProperties={}),
    ]
)
EXAMPLE = """
default = "all"              # risky, all or none
taint = false
other_person = true
unanswered_hours = 2.5
use_minutes = 5

[effects]
egress = "ask"
unknown = "deny"

[tools]
place_order = "allow"

[[rules]]
tool = "refund_order"
argument = "amount"
over = 50
then = "ask"

[[rules]]
tool = "refund_order"
argument = "reason"
not_in = ["broken", "late"]
then = "deny"
"""
RULE = '[[rules]]\ntool = "refund_order"\nargument = "amount"\nthen = "ask"\n'


def written(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "policy.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_reads_everything(tmp_path: Path) -> None:
    assert read_policy(written(tmp_path, EXAMPLE), BOX) == Policy(
        default="all",
        effects={"egress": "ask", "unknown": "deny"},
        tools={"place_order": "allow"},
        rules=(
            ArgumentRule("refund_order", "amount", "ask", over=50),
            ArgumentRule("refund_order", "reason", "deny", not_in=("broken", "late")),
        ),
        taint=False,
        unanswered_hours=2.5,
        use_minutes=5,
        other_person=True,
    )


@pytest.mark.parametrize("text", ["", "# nothing\n", b"\xef\xbb\xbfdefault = 'risky'\r\n"])
def test_what_is_not_said_stays_as_it_is(tmp_path: Path, text: str | bytes) -> None:
    assert read_policy(written(tmp_path, text)) == Policy()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("default = ", "not TOML"),
        ("taint = true\ntaint = false", "not TOML"),
        ("a = " + "[" * 20_000, "not TOML"),
        ("use_minutes = " + "9" * 5000, "not TOML"),
        (b"\xff\xfe", "UTF-8"),
        ('defualt = "all"', "key 'defualt' that means nothing, did you mean 'default'"),
        ('approval = "all"', "write one of default, effects, tools, rules"),
        ('[tool]\nx = "ask"', "key 'tool' that means nothing, did you mean 'tools'"),
        ("default = true", "default must be one of risky, all, none"),
        ('default = "ask"', "default must be one of risky, all, none, got 'ask'"),
        ('taint = "no"', "taint must be true or false"),
        ("use_minutes = -1", "use_minutes must be a number from 0"),
        ("unanswered_hours = nan", "unanswered_hours must be a number"),
        ("unanswered_hours = 0x" + "f" * 5000, "unanswered_hours must be a number"),
        ("unanswered_hours = 10:00:00", "unanswered_hours must be a number"),
        ('effects = "ask"', r"write \[effects\] above its lines"),
        ('[[tools]]\nplace_order = "ask"', r"write \[tools\] above its lines"),
        ('[effects]\nwrites = "ask"', "a name in effects must be one of"),
        ("[effects]\negress = 1", "egress in effects must be one of allow, ask, deny"),
        ('[effects]\negress = "ask"\ntaint = false', "taint stands under .effects.: move it above"),
        ("[tools]\nother_person = true", "other_person stands under .tools.: move it above"),
        ('[tools]\nplace_order = "alow"', "place_order in tools must be one of allow, ask, deny, got 'alow'"),
        ('[tools.place_order]\nthen = "ask"', "place_order in tools must be one of"),
        ('[rules]\ntool = "x"', r"write \[\[rules\]\] above each"),
        ("rules = [1]", r"write \[\[rules\]\] above each"),
        ("[[rules]]", "rule 1: add a line for tool, argument, then"),
        (RULE, "rule 1: the rule on refund_order.amount: give it something to compare with"),
        (RULE + "over = 1\n" + RULE + "ovr = 1", "rule 2 has a key 'ovr' that means nothing, did you mean 'over'"),
        (RULE + "over = 1\ntaint = false", "rule 1 has a key 'taint' that means nothing"),
        (RULE + "over = '1'", "rule 1: .*over must be a finite number without quotes"),
        (RULE + "over = [1]", "over must be a finite number"),
        (RULE + "equals = 2020-01-01", "equals takes text, numbers, true and false"),
        (RULE + "matches = '['", "matches must be a regular expression"),
        (RULE + "not_in = []", "not_in must be a list with at least one value"),
        (RULE + "not_in = [[1]]", "not_in takes"),
        (RULE.replace('"ask"', '"Ask"') + "over = 1", "then must be one of allow, ask, deny, got 'Ask'"),
        (RULE.replace('"amount"', "1") + "over = 1", "the argument of a rule on refund_order must be a name"),
    ],
)  # fmt: skip
def test_a_wrong_line_is_an_error_that_names_the_file(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(PolicyError, match=message) as error:
        read_policy(written(tmp_path, text))
    assert "policy.toml: " in str(error.value) and len(str(error.value)) < 1000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[tools]\nplace_ordr = "deny"', "tools: there is no tool 'place_ordr', did you mean 'place_order'?"),
        ('[tools]\nPlaceOrder = "deny"', "there is no tool 'PlaceOrder', did you mean 'place_order'?"),
        ('[tools]\nzzz = "deny"', "there is no tool 'zzz', write one of place_order, refund_order, now, any"),
        (RULE.replace("refund_order", "refund_orders") + "over = 1", "rule 1: there is no tool 'refund_orders', did you"),
        (RULE.replace("amount", "amuont") + "over = 1", "rule 1: refund_order has no argument 'amuont', did you mean 'amount'?"),
        (RULE.replace("amount", "zzz") + "over = 1", "refund_order has no argument 'zzz', write one of amount, reason"),
        (RULE.replace("refund_order", "now") + "over = 1", "now has no argument 'amount', take it out"),
    ],
)  # fmt: skip
def test_names_must_exist_where_the_tools_are_known(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path, text)
    assert isinstance(read_policy(path), Policy)
    with pytest.raises(PolicyError, match=message.replace("?", r"\?")) as error:
        read_policy(path, BOX)
    assert str(path) in str(error.value)
    with pytest.raises(PolicyError):
        read_policy(path, Toolbox())


def test_a_tool_that_takes_any_argument_may_have_rules_on_any() -> None:
    check_names(Policy(rules=(ArgumentRule("any", "amount", "ask", over=1),)), BOX)


@pytest.mark.parametrize("name", ["missing.toml", "", "a\x00b"])
def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(PolicyError, match="cannot be read"):
        read_policy(tmp_path / name)


WORDS = st.sampled_from(
    [
        "default", "taint", "other_person", "unanswered_hours", "use_minutes", "effects", "tools", "rules", "[effects]",
        "[tools]", "[[rules]]", "tool", "argument", "then", "over", "under", "equals", "matches", "not_in", "egress", "write",
        "place_order", '"allow"', '"ask"', '"deny"', '"risky"', '"none"', "true", "false", "1", "-1", "0.5", "nan", "inf",
        "[1]", '["a"]', "{}", '"("', "1979-05-27",
    ]
)  # fmt: skip
LINES = st.one_of(
    st.tuples(WORDS, WORDS).map(" = ".join),
    st.sampled_from(["[effects]", "[tools]", "[[rules]]", "[rules]", RULE, RULE + "over = 1"]),
    st.text(max_size=20),
)
TEXTS = st.one_of(st.text(), st.binary(), st.lists(LINES, max_size=8).map("\n".join))


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TEXTS, st.booleans())
def test_any_text_is_a_policy_or_an_error(tmp_path: Path, text: str | bytes, known: bool) -> None:
    raw = text if isinstance(text, bytes) else text.encode(errors="replace")
    try:
        policy = read_policy(written(tmp_path, raw), BOX if known else None)
    except PolicyError as error:
        assert "policy.toml: " in str(error)
    else:
        assert isinstance(policy, Policy)


KEYS = [
    line.split(" = ")[0]
    for line in EXAMPLE.splitlines()
    if " = " in line and line.split(" = ")[0] not in ("place_order", "egress", "unknown")
]


@given(st.sampled_from(sorted(set(KEYS))), st.integers(0, 30), st.sampled_from("abcxyz_"))
def test_a_misspelt_key_is_never_ignored(tmp_path_factory: Any, key: str, place: int, mark: str) -> None:
    place = min(place, len(key))
    wrong = f"{key[:place]}{mark}{key[place:]}"
    path = written(tmp_path_factory.mktemp("policy"), EXAMPLE.replace(f"\n{key} = ", f"\n{wrong} = "))
    assert wrong in path.read_text() and tomllib.loads(path.read_text())
    with pytest.raises(PolicyError):
        read_policy(path)
