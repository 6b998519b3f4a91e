"""The rules: every way a run can be bent or ended, one function a rule, one table."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from nodes.approval import call_fingerprint
from nodes.case import Case
from nodes.loops import (
    cycled_once,
    cycling,
    failing,
    near_duplicates,
    near_duplicates_soon,
    repeated_once,
    repeating,
)
from nodes.state import Status

When = Literal["before think", "after think"]
Then = Literal["stop", "correct", "tell"]


def steps_left(case: Case) -> str | None:
    """The run may call the model `steps` times."""
    limit, taken = case.limits.steps, case.state["run"]["step"]
    return f"the limit of {limit} steps was reached" if 0 < limit <= taken else None


def supersteps_left(case: Case) -> str | None:
    """LangGraph's own `recursion_limit` must never be what ends a run."""
    return "the caller's recursion_limit leaves no room for another step" if case.state["remaining_steps"] < 5 else None


def tokens_left(case: Case) -> str | None:
    """The next request must fit in the tokens of the run."""
    run, limit = case.state["run"], case.limits.tokens
    used = run["input_tokens"] + run["output_tokens"]
    if 0 < limit <= used or 0 < limit < used + run["context_tokens"]:
        return f"{used:,} of {limit:,} tokens are used, too many for another call of the model"
    return None


def seconds_left(case: Case) -> str | None:
    """The run may work for so many seconds, waiting for people excluded."""
    limit, spent = case.limits.seconds, case.state["run"]["seconds"]
    return f"the run worked for {spent:.1f} of {limit:g} seconds" if 0 < limit <= spent else None


def unreadable(case: Case) -> str | None:
    """A reply that cannot be read is answered with what was wrong, a few times."""
    run, limits = case.state["run"], case.limits
    if "error" not in case.state["turn"]:
        return None
    sentence = case.state["turn"]["error"]["sentence"]
    if 0 < limits.repairs_in_a_row < run["repairs_in_a_row"]:
        return f"{run['repairs_in_a_row']} replies in a row could not be read, the last because: {sentence}"
    if 0 < limits.repairs < run["repairs"]:
        return f"{run['repairs']} replies of this run could not be read, the last because: {sentence}"
    return None


def misread(case: Case) -> str | None:
    """The model is told exactly what was wrong with its reply."""
    return case.state["turn"]["error"]["sentence"] if "error" in case.state["turn"] else None


def tool_used_up(case: Case) -> str | None:
    """Calls of one tool in one run: its cap, or `tool_calls`, or `tool_writes` where it writes."""
    used = dict(case.state["run"]["calls"])
    for call in case.calls:
        tool = case.toolbox.get(call["name"])
        if tool is None:
            continue
        used[tool.name] = used.get(tool.name, 0) + 1
        usual = case.limits.tool_writes if tool.writes else case.limits.tool_calls
        cap = usual if tool.cap is None else tool.cap + int(case.state["run"]["granted"].get("tool_calls", 0))
        if 0 < cap < used[tool.name]:
            return f"{tool.name} may be called {cap} times in one run"
    return None


def rejected_again(case: Case) -> str | None:
    """A call that a person rejected is refused without asking; asked for once more, it ends the run."""
    limit, refused = case.limits.rejections, case.state["run"]["refused"]
    for call in case.calls:
        if 0 < limit <= refused.count(call_fingerprint(call["name"], call["args"])):
            return f"{call['name']} was asked for {limit} times more after a person rejected this call"
    return None


def needs_tool(case: Case) -> str | None:
    """An answer counts only after a tool was used."""
    if case.limits.require_tool and "answer" in case.state["turn"] and not case.state["run"]["observations"]:
        return "Use a tool before you answer: an answer must rest on an observation."
    return None


def needs_citation(case: Case) -> str | None:
    """An answer must cite observation numbers that exist."""
    turn, made = case.state["turn"], case.state["run"]["observations"]
    if not case.limits.require_citation or "answer" not in turn:
        return None
    cited = [int(number) for number in re.findall(r"\[(\d{1,6})\]", turn["answer"])]
    if cited and all(1 <= number <= made for number in cited):
        return None
    known = f"they are numbered 1 to {made}" if made else "there are none yet, so call a tool first"
    return f"Cite the observations the answer rests on, like [1]; {known}."


@dataclass(frozen=True)
class Rule:
    """One row of the table."""

    name: str
    when: When
    then: Then
    check: Callable[[Case], str | None]
    """The reason as a sentence, or None."""
    limit: str
    """Fields of `Limits` it goes by."""
    status: Status | None = None
    """How the run ends, where it ends it."""
    grants: Mapping[str, float] = field(default_factory=dict)
    """What a person adds who lets the run go on, by field of `Limits`; nothing means that it must end."""


RULES: tuple[Rule, ...] = (
    Rule("step_limit", "before think", "stop", steps_left, "steps", "step_limit", {"steps": 5}),
    Rule("recursion_limit", "before think", "stop", supersteps_left, "(recursion_limit)", "step_limit"),
    Rule("token_budget", "before think", "stop", tokens_left, "tokens", "token_budget", {"tokens": 25_000}),
    Rule("deadline", "before think", "stop", seconds_left, "seconds", "deadline", {"seconds": 60}),
    Rule("repeated_call", "before think", "stop", repeating, "repeats", "loop", {"repeats": 2}),
    Rule("cycle", "before think", "stop", cycling, "cycle_period, cycle_rounds", "loop", {"cycle_rounds": 1}),
    Rule("near_duplicates", "before think", "stop", near_duplicates, "near_duplicates", "loop", {"near_duplicates": 3}),
    Rule("unreadable", "after think", "stop", unreadable, "repairs_in_a_row, repairs", "unreadable",
         {"repairs_in_a_row": 1, "repairs": 1}),
    Rule("tool_limit", "after think", "stop", tool_used_up, "tool_calls, tool_writes", "tool_limit",
         {"tool_calls": 3, "tool_writes": 3}),
    Rule("rejected_again", "after think", "stop", rejected_again, "rejections", "rejected"),
    Rule("format", "after think", "correct", misread, "repairs_in_a_row, repairs"),
    Rule("tool_before_answer", "after think", "correct", needs_tool, "require_tool"),
    Rule("citation", "after think", "correct", needs_citation, "require_citation"),
    Rule("repetition", "before think", "tell", repeated_once, "repeats"),
    Rule("circle", "before think", "tell", cycled_once, "cycle_rounds"),
    Rule("similar_calls", "before think", "tell", near_duplicates_soon, "near_duplicates"),
    Rule("failing_tool", "before think", "tell", failing, "failures"),
)  # fmt: skip


_ASKED: dict[tuple[When, Then], list[Rule]] = {}
for _rule in RULES:
    _ASKED.setdefault((_rule.when, _rule.then), []).append(_rule)


def first_broken(case: Case, when: When, then: Then) -> tuple[Rule, str] | None:
    """The first rule of the table that is broken, with its reason."""
    for rule in _ASKED.get((when, then), ()):
        if (why := rule.check(case)) is not None:
            return rule, why
    return None


def rule_named(name: str) -> Rule | None:
    """The row with this name."""
    return next((rule for rule in RULES if rule.name == name), None)
