"""At a limit: a person extends it, hints, answers or ends the run; whatever is unclear is asked again."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.limits import Limits
from nodes.rules import RULES
from tests.walking import calls, look, walk

LIMITS: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "step_limit": ([look("a"), "A"], {"steps": 1}),
    "token_budget": ([calls(("look", {"what": "a"}), tokens=900), calls(("look", {"what": "b"}), tokens=20), "A"], {"tokens": 1000}),
    "repeated_call": ([look("a"), look("a"), "A"], {"repeats": 2}),
    "tool_limit": ([look("a"), look("b"), look("c"), "A"], {"tool_calls": 2}),
    "unreadable": (["Thought: hm.", "Thought: hm.", "A"], {"repairs_in_a_row": 1}),
}  # fmt: skip


@pytest.mark.parametrize("rule", LIMITS)
def test_every_limit_can_be_extended(rule: str) -> None:
    replies, numbers = LIMITS[rule]
    walked = walk(replies, ["extend"], Limits(**numbers, on_limit="ask"))
    assert walked.state["status"] == "finished" and walked.state["answer"] == "A"
    assert [question["rule"] for question in walked.questions] == [rule]


@pytest.mark.parametrize("answer", [{"type": "abort"}, '{"type": "abort"}', [{"type": "abort"}], " ABORT "], ids=str)
def test_every_form_of_an_answer(answer: Any) -> None:
    walked = walk([look("a")], [answer], Limits(steps=1, on_limit="ask"))
    assert walked.state["status"] == "aborted" and "a person ended the run" in walked.state["reason"]


def test_what_is_unclear_is_asked_again_and_says_why() -> None:
    unclear = ["more?", 7, {"type": "hint"}, {"type": "answer", "message": ""}, {"type": "go"}, True]
    walked = walk([look("a"), "A"], [*unclear, "extend"], Limits(steps=1, on_limit="ask"))
    assert walked.state["answer"] == "A" and len(walked.questions) == 7
    assert all("answer with one of" in question["error"] for question in walked.questions[1:])


def test_a_limit_without_grants_ends_the_run_even_where_a_person_is_asked() -> None:
    assert {rule.name for rule in RULES if rule.then == "stop" and not rule.grants} == {
        "recursion_limit",
        "rejected_again",
    }


def test_the_last_message_says_how_it_ended_and_no_call_stays_open() -> None:
    walked = walk([calls(("note", {"text": "a"}), ("note", {"text": "b"}), ("note", {"text": "c"}))], approve="none")
    texts = [message.text for message in walked.state["messages"]]
    assert walked.state["status"] == "tool_limit" and walked.world.effects == []
    assert sum(text.startswith("not executed") for text in texts) == 3 and texts[-1].startswith("Stopped: ")
