"""A policy gives every call one verdict, and where it cannot tell, a person is asked."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.argument_rule import VERDICTS, ArgumentRule, PolicyError
from nodes.policy import DEFAULTS, EFFECTS, Policy
from tools.tool import Tool

KINDS = (*EFFECTS[:-1], None)


def made(effect: Any = "write", name: str = "refund") -> Tool:
    return Tool(name, name, None, effect=effect)


def rule(then: Any = "ask", **compared: Any) -> ArgumentRule:
    return ArgumentRule("refund", "amount", then, **compared)


def word(policy: Policy, tool: Tool, args: Any = None, tainted: bool = False) -> str:
    return policy.verdict(tool, args or {}, tainted)[0]


def broken(_: Any) -> Any:
    raise RuntimeError("the secret is 42")


@pytest.mark.parametrize(
    ("default", "verdicts"),
    [("risky", "allow allow ask ask ask"), ("all", "ask ask ask ask ask"), ("none", "allow allow allow allow allow")],
)
def test_the_three_words(default: str, verdicts: str) -> None:
    assert [word(Policy.of(default), made(kind)) for kind in KINDS] == verdicts.split()


def test_a_policy_is_taken_as_it_is() -> None:
    policy = Policy(tools={"refund": "deny"})
    assert Policy.of(policy) is policy
    assert Policy.of("all") == Policy(default="all") and hash(policy) == hash(Policy())


@pytest.mark.parametrize("given", [None, True, False, 0, "", "All", "risky ", "ask", [], {}, ("risky",), Policy])
def test_nothing_else_is_a_policy(given: Any) -> None:
    with pytest.raises(PolicyError, match="approve must be one of risky, all, none"):
        Policy.of(given)


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (Policy("none", {"write": "ask"}), "ask"),
        (Policy("all", {"write": "allow"}), "allow"),
        (Policy("all", {"read": "allow", "unknown": "allow"}), "ask"),
        (Policy("none", {"write": "deny"}, {"refund": "allow"}), "allow"),
        (Policy("none", {"write": "allow"}, {"refund": "deny"}), "deny"),
        (Policy("none", {}, {"other": "deny"}), "allow"),
        (Policy("none", {}, {"refund": "deny"}, (rule("allow", under=100),)), "allow"),
        (Policy("none", {}, {"refund": "deny"}, (rule("allow", under=10),)), "deny"),
        (Policy("none", {}, {"refund": lambda args: "ask" if args["amount"] > 10 else "allow"}), "ask"),
        (Policy("none", {}, {"refund": lambda args: "ask" if args["amount"] > 99 else "allow"}), "allow"),
        (Policy("all", {}, {"refund": "allow"}, (rule("allow", over=1), rule("ask", over=2))), "ask"),
        (Policy("all", {}, {}, (rule("deny", over=2), rule("ask", over=1), rule("allow", over=0))), "deny"),
        (Policy("none", {}, {}, (ArgumentRule("other", "amount", "deny", over=1),)), "allow"),
    ],
)
def test_the_closest_word_counts(policy: Policy, expected: str) -> None:
    assert word(policy, made(), {"amount": 50}) == expected


def test_an_unknown_effect_has_its_own_entry() -> None:
    assert word(Policy(effects={"unknown": "deny"}), made(None)) == "deny"


@pytest.mark.parametrize(
    ("value", "compared", "expected"),
    [
        (51, {"over": 50}, True), (50, {"over": 50}, False), (50.01, {"over": 50}, True), ("50.01", {"over": 50}, True),
        (" 50 ", {"over": 50}, False), (Decimal("50.10"), {"over": 50.1}, False), ("50.10", {"over": 50.1}, False),
        ("5e1", {"over": 49}, True), (10**4000, {"over": 50}, True), (-1, {"under": 0}, True), ("-0.5", {"under": 0}, True),
        (15, {"over": 10, "under": 20}, True), (20, {"over": 10, "under": 20}, False),
        ("EUR", {"equals": "EUR"}, True), ("eur", {"equals": "EUR"}, False), ("", {"equals": ""}, True),
        (5, {"equals": 5}, True), ("5.0", {"equals": 5}, True), (6, {"equals": 5}, False), (0, {"equals": 0}, True),
        (True, {"equals": True}, True), (False, {"equals": False}, True), (True, {"equals": False}, False),
        ("ab", {"matches": "a."}, True), ("abc", {"matches": "a."}, False), ("ab\n", {"matches": "ab$"}, False),
        ("x", {"not_in": ("a", "b")}, True), ("a", {"not_in": ("a", "b")}, False), ("a", {"not_in": (1, "a")}, False),
        (2, {"not_in": [1, 3]}, True), ("b", {"matches": "[ab]", "not_in": ("a",)}, True),
        ("a", {"matches": "[ab]", "not_in": ("a",)}, False),
    ],
)  # fmt: skip
def test_a_rule_compares(value: Any, compared: dict[str, Any], expected: bool) -> None:
    assert [rule(then, **compared).applies({"amount": value}) for then in VERDICTS] == [expected] * 3


@pytest.mark.parametrize("compared", [{"over": 50}, {"under": 50}, {"equals": 50}, {"not_in": (50,)}])
@pytest.mark.parametrize(
    "value",
    [
        None, True, float("nan"), float("inf"), "-inf", "NaN", Decimal("sNaN"), "", "fifty", "12,50", "$12", "1_000", "٥٠", "0x10", "1e9999999999999999999999",
        "9" * 10_001, [60], {"value": 60}, object(), 60j,
    ],
)  # fmt: skip
def test_what_is_no_number_is_never_let_through(value: Any, compared: dict[str, Any]) -> None:
    assert [rule(then, **compared).applies({"amount": value}) for then in VERDICTS] == [False, True, True]


@pytest.mark.parametrize(
    ("value", "compared"),
    [
        (5, {"matches": "5"}), ("a" * 10_001, {"matches": "a*"}), (["a"], {"matches": "a"}), (1, {"equals": True}), ("true", {"equals": True}),
        (5, {"equals": "5"}), (5, {"not_in": ("a",)}), ("b", {"not_in": (1, "a")}), (60, {"over": 50, "matches": ".*"}),
    ],
)  # fmt: skip
def test_values_of_another_kind_are_never_let_through(value: Any, compared: dict[str, Any]) -> None:
    assert [rule(then, **compared).applies({"amount": value}) for then in VERDICTS] == [False, True, True]


def test_a_missing_argument_is_never_let_through() -> None:
    assert [rule(then, over=50).applies({"sum": 1}) for then in VERDICTS] == [False, True, True]
    assert "amount is missing" in Policy(rules=(rule("deny", over=50),)).verdict(made(), {})[1]


@pytest.mark.parametrize(
    ("kind", "taint", "tainted", "expected"),
    [
        ("read", True, True, "allow"), ("egress", True, True, "ask"), ("write", True, True, "ask"),
        ("irreversible", True, True, "ask"), (None, True, True, "ask"), ("egress", False, True, "allow"),
        ("egress", True, False, "allow"), (None, False, True, "allow"),
    ],
)  # fmt: skip
def test_taint_takes_the_allows(kind: Any, taint: bool, tainted: bool, expected: str) -> None:
    for policy in (Policy("none", taint=taint), Policy("all", {}, {"refund": "allow"}, taint=taint)):
        assert word(policy, made(kind), tainted=tainted) == expected


def test_taint_leaves_deny_and_says_why() -> None:
    assert word(Policy(tools={"refund": "deny"}), made(), tainted=True) == "deny"
    assert "untrusted" in Policy("none").verdict(made(), {}, True)[1]


@pytest.mark.parametrize(
    ("policy", "reason"),
    [
        (Policy(), "its effect is write"),
        (Policy("all"), "every call is asked about"),
        (Policy("none"), "nobody is asked by default"),
        (Policy(effects={"write": "deny"}), "the policy says deny where the effect is write"),
        (Policy(tools={"refund": "deny"}), "the policy says deny for this tool"),
        (Policy(tools={"refund": lambda _: "deny"}), "the policy says deny for these arguments"),
        (Policy(rules=(rule(over=10, under=90),)), "a rule says ask where amount is over 10 and under 90"),
        (Policy(rules=(rule("deny", not_in=(1, 2)),)), "a rule says deny where amount is not one of (1, 2)"),
    ],
)
def test_the_reason(policy: Policy, reason: str) -> None:
    assert policy.verdict(made(), {"amount": 50})[1] == reason


ODD = [
    None,
    True,
    1,
    "Allow",
    "allow ",
    "",
    b"allow",
    ("allow",),
    ["allow"],
    object(),
    type("Text", (str,), {})("allow"),
]


@pytest.mark.parametrize("said", ODD)
def test_a_predicate_that_gives_no_verdict_means_ask(said: Any) -> None:
    assert word(Policy("none", {}, {"refund": lambda _: said}), made()) == "ask"


def test_the_error_of_a_predicate_is_not_shown() -> None:
    assert Policy("none", {}, {"refund": broken}).verdict(made(), {}) == ("ask", "the policy for this tool failed")


def test_a_predicate_cannot_change_the_call() -> None:
    args = {"amount": 1, "lines": [1]}

    def meddling(given: Any) -> Any:
        given["amount"] = 100
        given["lines"].append(2)
        return "allow"

    assert word(Policy(tools={"refund": meddling}), made(), args) == "allow"
    assert args == {"amount": 1, "lines": [1]}


def test_what_was_checked_stays() -> None:
    tools: dict[str, Any] = {"refund": "deny"}
    policy = Policy(tools=tools)
    tools["refund"] = "allow"
    assert word(policy, made()) == "deny"


async def later(_: Any) -> Any:
    return "allow"


class Later:
    async def __call__(self, _: Any) -> Any:
        return "allow"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"default": "Risky"}, "default must be one of risky, all, none"),
        ({"default": None}, "default must be"),
        ({"effects": ["write"]}, "effects must be a table"),
        ({"effects": {"writes": "ask"}}, "must be one of read, egress, write, irreversible, unknown, got 'writes'"),
        ({"effects": {None: "ask"}}, "unknown, got None"),
        ({"effects": {"write": "never"}}, "write in effects must be one of allow, ask, deny"),
        ({"effects": {"write": lambda _: "ask"}}, "write in effects must be one of"),
        ({"tools": "refund"}, "tools must be a table"),
        ({"tools": {"refund": "alow"}}, "refund in tools must be one of allow, ask, deny, got 'alow'"),
        ({"tools": {"refund": True}}, "refund in tools must be"),
        ({"tools": {" refund": "ask"}}, "without spaces around it"),
        ({"tools": {3: "ask"}}, "a name in tools must be"),
        ({"tools": {"refund": later}}, "write def, not async def"),
        ({"tools": {"refund": Later()}}, "write def, not async def"),
        ({"rules": rule(over=1)}, "rules must be a tuple of ArgumentRule"),
        ({"rules": ({"tool": "refund"},)}, "rules must be a tuple of ArgumentRule"),
        ({"rules": None}, "rules must be a tuple of ArgumentRule"),
        ({"taint": 1}, "taint must be true or false"),
        ({"other_person": "no"}, "other_person must be true or false"),
        ({"unanswered_hours": -1}, "unanswered_hours must be a number from 0"),
        ({"unanswered_hours": float("nan")}, "unanswered_hours must be"),
        ({"unanswered_hours": float("inf")}, "unanswered_hours must be"),
        ({"unanswered_hours": 10**5000}, "unanswered_hours must be"),
        ({"use_minutes": "15"}, "use_minutes must be"),
        ({"use_minutes": True}, "use_minutes must be"),
    ],
)
def test_a_wrong_policy_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        Policy(**fields)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "give it something to compare with: over, under, equals, matches, not_in"),
        ({"then": "stop", "over": 1}, "then must be one of allow, ask, deny"),
        ({"tool": "", "over": 1}, "the tool of a rule must be a name"),
        ({"argument": None, "over": 1}, "the argument of a rule on refund must be a name"),
        ({"over": "50"}, "over must be a finite number without quotes"),
        ({"under": True}, "under must be a finite number"),
        ({"over": float("nan")}, "over must be a finite number"),
        ({"under": float("inf")}, "under must be a finite number"),
        ({"over": 100, "under": 50}, "write two rules"),
        ({"over": 50, "under": 50}, "write two rules"),
        ({"equals": 5, "over": 1}, "equals must be its only comparison"),
        ({"equals": [1]}, "equals takes text, numbers, true and false"),
        ({"equals": float("nan")}, "equals takes"),
        ({"matches": "("}, "matches must be a regular expression"),
        ({"matches": "a{99999999999999}"}, "matches must be a regular expression"),
        ({"matches": 5}, "matches must be a regular expression in quotes"),
        ({"not_in": "abc"}, "not_in must be a list"),
        ({"not_in": ()}, "not_in must be a list with at least one value"),
        ({"not_in": {"a"}}, "not_in must be a list"),
        ({"not_in": (None,)}, "not_in takes"),
    ],
)
def test_a_wrong_rule_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        ArgumentRule(**{"tool": "refund", "argument": "amount", "then": "ask", **fields})


NUMBERS = st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False))
SCALARS = st.one_of(NUMBERS, st.booleans(), st.text(max_size=5))
VALUES = st.one_of(SCALARS, st.none(), st.floats(), st.decimals(), st.binary(), st.lists(SCALARS, max_size=2))
COMPARED = st.one_of(
    st.fixed_dictionaries({"over": NUMBERS}),
    st.fixed_dictionaries({"under": NUMBERS}),
    st.fixed_dictionaries({"equals": SCALARS}),
    st.fixed_dictionaries({"matches": st.sampled_from(["", ".*", r"\d+", "[a-z]?"])}),
    st.fixed_dictionaries({"not_in": st.lists(SCALARS, min_size=1, max_size=3).map(tuple)}),
)
RULES = st.builds(
    lambda tool, argument, then, compared: ArgumentRule(tool, argument, then, **compared),
    st.sampled_from(["refund", "other"]), st.sampled_from(["amount", "to"]), st.sampled_from(VERDICTS), COMPARED,
)  # fmt: skip
PREDICATES = st.one_of(st.sampled_from([*VERDICTS, *ODD]).map(lambda said: lambda _: said), st.just(broken))
POLICIES = st.builds(
    Policy,
    st.sampled_from(DEFAULTS),
    st.dictionaries(st.sampled_from(EFFECTS), st.sampled_from(VERDICTS)),
    st.dictionaries(st.sampled_from(["refund", "other"]), st.one_of(st.sampled_from(VERDICTS), PREDICATES)),
    st.lists(RULES, max_size=4).map(tuple),
    st.booleans(),
)
ARGS = st.dictionaries(st.sampled_from(["amount", "to", "note"]), VALUES)
TOOLS = st.sampled_from(KINDS).map(made)


@given(POLICIES, TOOLS, ARGS)
def test_taint_never_makes_a_verdict_laxer(policy: Policy, tool: Tool, args: dict[str, Any]) -> None:
    clean, tainted = word(policy, tool, args), word(policy, tool, args, tainted=True)
    assert VERDICTS.index(tainted) >= VERDICTS.index(clean)  # type: ignore[arg-type]
    assert (tainted == "deny") == (clean == "deny")


@given(POLICIES, RULES, TOOLS, ARGS, st.booleans())
def test_deny_in_a_rule_that_applies_always_wins(
    policy: Policy, added: ArgumentRule, tool: Tool, args: dict[str, Any], tainted: bool
) -> None:
    policy = Policy(policy.default, policy.effects, policy.tools, (*policy.rules, added), policy.taint)
    denied = any(each.tool == tool.name and each.then == "deny" and each.applies(args) for each in policy.rules)
    if denied:
        assert word(policy, tool, args, tainted) == "deny"


@given(POLICIES, TOOLS, ARGS, st.booleans())
def test_a_raising_predicate_never_gives_allow(policy: Policy, tool: Tool, args: dict[str, Any], tainted: bool) -> None:
    policy = Policy(policy.default, policy.effects, {tool.name: broken}, (), policy.taint)
    said, reason = policy.verdict(tool, args, tainted)
    assert said == "ask" and "42" not in reason


@given(POLICIES, TOOLS, ARGS, st.booleans())
def test_a_call_that_is_asked_about_could_be(policy: Policy, tool: Tool, args: dict[str, Any], tainted: bool) -> None:
    said, reason = policy.verdict(tool, args, tainted)
    assert said in VERDICTS and reason
    if said == "ask":
        assert policy.may_ask(tool, tainted_possible=tainted)


@given(COMPARED, VALUES)
def test_an_unclear_value_asks_and_never_allows(compared: dict[str, Any], value: Any) -> None:
    applied = [rule(then, **compared).applies({"amount": value}) for then in VERDICTS]
    assert applied in ([True] * 3, [False] * 3, [False, True, True])


@pytest.mark.parametrize(
    ("policy", "kind", "tainted", "expected"),
    [
        (Policy(), "read", True, False), (Policy(), "egress", False, False), (Policy(), "egress", True, True),
        (Policy(), "write", False, True), (Policy("none"), "write", False, False), (Policy("none"), "write", True, True),
        (Policy("none", taint=False), "write", True, False), (Policy("all"), "read", False, True),
        (Policy(tools={"refund": "deny"}), "write", True, False),
        (Policy(tools={"refund": lambda _: "allow"}), "read", False, True),
        (Policy(tools={"refund": "deny"}, rules=(rule("allow", under=9),)), "write", True, True),
        (Policy(tools={"refund": "deny"}, rules=(rule("allow", under=9),)), "write", False, False),
        (Policy("none", rules=(rule("ask", over=9),)), "read", False, True),
        (Policy("none", rules=(rule("deny", over=9),)), "read", False, False),
    ],
)  # fmt: skip
def test_whether_a_tool_could_need_a_person(policy: Policy, kind: Any, tainted: bool, expected: bool) -> None:
    assert policy.may_ask(made(kind), tainted) is expected
