"""The table: every stop has a status, every number is a field of Limits, 0 means no limit."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.begin import fresh
from nodes.case import Case, limits_in_force
from nodes.context import Context
from nodes.limits import Limits
from nodes.rules import RULES, first_broken, rule_named
from tests.walking import World
from tools.toolbox import Toolbox


def case(limits: Limits, **run: Any) -> Case:
    state: Any = {**fresh("r", "q", "en"), "messages": [], "remaining_steps": 1000}
    state["run"] |= run
    return Case(state, limits, Toolbox(World().tools))


def test_the_table_is_whole() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert (rule.status is not None) == (rule.then == "stop"), rule.name
        assert rule.check.__doc__ and rule_named(rule.name) is rule
        assert all(hasattr(Limits(), field) for field in rule.grants), rule.name
        named = [field for field in rule.limit.split(", ") if not field.startswith("(")]
        assert all(hasattr(Limits(), field) for field in named), rule.name


@pytest.mark.parametrize(
    ("rule", "limits", "below", "at"),
    [
        ("step_limit", {"steps": 3}, {"step": 2}, {"step": 3}),
        ("token_budget", {"tokens": 100}, {"input_tokens": 60, "output_tokens": 39}, {"input_tokens": 60, "output_tokens": 40}),
        ("token_budget", {"tokens": 100}, {"input_tokens": 50, "context_tokens": 50}, {"input_tokens": 50, "context_tokens": 51}),
        ("deadline", {"seconds": 10}, {"seconds": 9.9}, {"seconds": 10.0}),
    ],
)  # fmt: skip
def test_a_limit_holds_at_its_border(rule: str, limits: Any, below: Any, at: Any) -> None:
    assert first_broken(case(Limits(**limits), **below), "before think", "stop") is None
    broken = first_broken(case(Limits(**limits), **at), "before think", "stop")
    assert broken is not None and broken[0].name == rule and broken[1]
    assert first_broken(case(Limits(**dict.fromkeys(limits, 0)), **at), "before think", "stop") is None


def test_what_a_person_granted_is_added() -> None:
    granted = case(Limits(), granted={"steps": 5, "tokens": 100.0}).state
    limits = limits_in_force(Limits(steps=3), granted, Context(max_steps=7))
    assert (limits.steps, limits.tokens) == (12, 50_100)
