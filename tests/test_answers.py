"""Every client's way of answering an approval is read; nothing else ever counts as one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.answers import UnclearAnswer, decide
from nodes.approval import Facts, call_fingerprint, request, visible
from tools.tool import tool


@tool(effect="irreversible")
def pay(amount: int, to: str = "ann") -> str:
    """Pay."""
    return "paid"


CALL = {"name": "pay", "args": {"amount": 5, "to": "ann"}, "id": "c1"}
SAME = call_fingerprint("pay", CALL["args"])  # type: ignore[arg-type]
FACTS: Facts = {
    "sha256": "0" * 64, "expires_at": "2026-12-02T00:00:00+00:00", "effect_class": "once", "why": "its effect is irreversible",
    "untrusted": [],
}  # fmt: skip


@pytest.mark.parametrize(
    "answer",
    [
        {"decisions": [{"type": "approve"}]}, {"type": "approve"}, [{"type": "accept", "args": None}],
        [{"type": "accept", "args": {"action": "pay", "args": {"amount": "5", "to": "ann"}}}],
        {"approved": True}, True, "yes", "Y", "approve", " OK ", "同意", '{"type": "approve"}', "true",
        {"__agui_resume_map__": {"i1": {"status": "ok", "payload": {"approved": True}}}}, {"payload": "yes"},
        {"decisions": [{"type": "approve", "args": {"amount": 5, "to": "ann"}}]},
    ],
    ids=str,
)  # fmt: skip
def test_approvals(answer: Any) -> None:
    assert decide(answer, CALL, pay) == {"type": "approve", "call": SAME}


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"decisions": [{"type": "reject", "message": "no"}]}, "no"), ([{"type": "ignore", "args": None}], ""),
        (False, ""), ("n", ""), ({"approved": False}, ""), ({"__agui_cancelled__": True}, "cancelled"), ("拒绝", ""),
    ],
    ids=str,
)  # fmt: skip
def test_rejections(answer: Any, message: str) -> None:
    assert decide(answer, CALL, pay) == {"type": "reject", "call": SAME, "message": message}


@pytest.mark.parametrize(
    "answer",
    [
        {"decisions": [{"type": "edit", "edited_action": {"name": "pay", "args": {"amount": "3", "to": "bob"}}}]},
        {"type": "edit", "editedAction": {"args": {"amount": 3, "to": "bob"}}},
        [{"type": "edit", "args": {"action": "pay", "args": {"amount": "3", "to": "bob"}}}],
        {"type": "edit", "args": {"amount": 3, "to": "bob"}},
    ],
    ids=str,
)
def test_edits_are_brought_to_the_schema(answer: Any) -> None:
    decision = decide(answer, CALL, pay)
    assert decision["type"] == "edit" and decision["args"] == {"amount": 3, "to": "bob"}
    assert decision["call"] == call_fingerprint("pay", decision["args"]) != SAME


def test_a_response_stands_as_the_observation() -> None:
    assert decide([{"type": "response", "args": "already paid"}], CALL, pay)["message"] == "already paid"


@pytest.mark.parametrize(
    "answer",
    [
        None, "", "sure, go ahead", "yes please", 1, 0.5, [], {}, {"decisions": []}, {"type": "aprove"},
        {"decisions": [{"type": "approve"}, {"type": "approve"}]}, {"type": "respond"}, {"type": "respond", "message": " "},
        {"type": "edit"}, {"type": "edit", "edited_action": {"name": "wipe", "args": {"amount": 1}}},
        {"type": "edit", "edited_action": {"name": "pay", "args": {"amount": "many"}}},
        {"type": "edit", "edited_action": {"name": "pay", "args": {"sum": 1}}},
        [{"type": "accept", "args": {"action": "delete_all", "args": {}}}],
        {"type": "approve", "args": {"amount": 6, "to": "ann"}}, {"type": "reject", "message": {"a": 1}}, "[[[[[[[[[true]]]]]]]]]",
    ],
    ids=str,
)  # fmt: skip
def test_what_is_unclear_is_asked_again(answer: Any) -> None:
    with pytest.raises(UnclearAnswer) as unclear:
        decide(answer, CALL, pay)
    assert str(unclear.value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12) | st.sampled_from(["approve", "edit", "yes", "pay"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["type", "decisions", "args", "action", "name", "message", "edited_action", "payload", "approved", "x"]), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@settings(max_examples=2000, deadline=None)
@given(JSON)
def test_any_answer_is_a_decision_or_unclear(answer: Any) -> None:
    try:
        decision = decide(answer, CALL, pay)
    except UnclearAnswer:
        return
    assert decision["type"] in ("approve", "edit", "reject", "respond")
    if decision["type"] == "approve":
        assert decision["call"] == SAME
    if decision["type"] == "edit":
        assert isinstance(decision["args"]["amount"], int)


def test_the_request_has_the_keys_of_every_client() -> None:
    asked = request(CALL, pay, "because", FACTS, "try again")
    assert asked["action_requests"] == [
        {
            "name": "pay",
            "args": CALL["args"],
            "arguments": CALL["args"],
            "description": asked["description"],
            "tool_call_id": "c1",
        }
    ]
    review = asked["review_configs"][0]
    assert review["allowed_decisions"] == review["allowedDecisions"] == ["approve", "edit", "reject", "respond"]
    assert asked["action_request"] == {"action": "pay", "args": CALL["args"]} and asked["config"]["allow_accept"]
    assert asked["type"] == "tool_approval" and asked["call"] == SAME and asked["effect"] == "irreversible"
    assert "try again" in asked["description"] and asked["thought"] == "because"


def test_nothing_invisible_is_shown_as_it_is() -> None:
    assert visible("a\u202eb\u200bc\x1b[31m\nd\U000e0041") == "a\\u202eb\\u200bc\\u001b[31m\\nd\\U000e0041"


@pytest.mark.parametrize("mark", ["\n", "\r", "\u2028", "\x85", "\x0b"])
def test_no_value_can_look_like_another_argument(mark: str) -> None:
    call = {**CALL, "args": {"amount": 5, "to": f"ann{mark}  amount: 1"}}
    shown = request(call, pay, f"fine{mark}  amount: 1", FACTS)["description"]
    assert [line for line in shown.splitlines() if line.strip().startswith("amount")] == ["  amount: 5"]


def test_the_reason_of_a_consent_is_kept() -> None:
    assert decide({"type": "approve", "message": "checked"}, CALL, pay)["message"] == "checked"
    assert decide({"type": "edit", "args": {"amount": 2}, "message": "less"}, CALL, pay)["message"] == "less"
    assert "message" not in decide({"type": "approve", "message": " "}, CALL, pay)
