"""The rules: every way a run can be bent or ended, one function a rule, one table."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from langchain_core.messages import AIMessage

from nodes.approval import call_fingerprint
from nodes.context import Context
from nodes.limits import Limits
from nodes.state import State, Status
from nodes.trail import Trace, trail
from tools.toolbox import Toolbox

When = Literal["before think", "after think"]
Then = Literal["stop", "correct", "tell"]


@dataclass(frozen=True)
class Case:
    """What a rule judges: the state, the limits in force and the tools."""

    state: State
    limits: Limits
    toolbox: Toolbox

    @property
    def calls(self) -> list[Any]:
        """The calls of the present turn."""
        last = self.state["messages"][-1]
        return list(last.tool_calls) if isinstance(last, AIMessage) else []

    @property
    def closing(self) -> bool:
        """Whether a limit was reached and only the best answer so far is still asked for."""
        return bool(self.state["run"]["closing"])

    @cached_property
    def trail(self) -> list[Trace]:
        """The newest steps, as many as the longest cycle needs."""
        window = max(12, self.limits.cycle_period * self.limits.cycle_rounds, self.limits.repeats)
        return trail(self.state["messages"], self.state["run"]["since"], window)

    def repeatable(self, trace: Trace) -> bool:
        """Whether a tool of the step declares that it may be asked the same again."""
        return any((tool := self.toolbox.get(name)) is not None and tool.repeatable for name in trace.tools)


def limits_in_force(limits: Limits, state: State, context: Context) -> Limits:
    """The built limits, with the caller's steps for this run and what a person granted on top."""
    if context.max_steps is not None:
        limits = replace(limits, steps=context.max_steps)
    granted = state["run"]["granted"]
    return (
        replace(limits, **{name: getattr(limits, name) + more for name, more in granted.items()}) if granted else limits
    )


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


def _repeats(case: Case) -> int:
    traces = case.trail
    if not traces or case.repeatable(traces[-1]):
        return 0
    same = 0
    for trace in reversed(traces):
        if trace.signature != traces[-1].signature:
            break
        same += 1
    return same


def repeating(case: Case) -> str | None:
    """The same call with the same observation, `repeats` times in a row."""
    limit = case.limits.repeats
    return f"the same call gave the same observation {limit} times in a row" if 0 < limit <= _repeats(case) else None


def cycling(case: Case) -> str | None:
    """A cycle of steps up to `cycle_period` long, `cycle_rounds` times over."""
    if period := _cycle(case, case.limits.cycle_rounds):
        return f"a cycle of {period} steps went round {case.limits.cycle_rounds} times without anything new"
    return None


def _cycle(case: Case, rounds: int) -> int | None:
    traces = case.trail if case.limits.cycle_rounds else []
    signatures = [trace.signature for trace in traces]
    for period in range(2, case.limits.cycle_period + 1):
        tail = signatures[-period * rounds :]
        whole = len(tail) == period * rounds and len(set(tail)) > 1
        if whole and all(tail[i] == tail[i + period] for i in range(len(tail) - period)):
            return None if any(map(case.repeatable, traces[-period:])) else period
    return None


def near_duplicates(case: Case) -> str | None:
    """Calls that differ little and learn the same."""
    limit = case.limits.near_duplicates
    found = _similar(case) if limit else 0
    return f"{found} similar calls in a row of twelve steps learned nothing new" if 0 < limit <= found else None


def _similar(case: Case) -> int:
    traces = case.trail[-12:]
    if not traces or case.repeatable(traces[-1]):
        return 0
    newest = traces[-1]
    alike = [trace for trace in traces if trace.outcomes == newest.outcomes and trace.tools == newest.tools]
    if len(alike) < 3:
        return 0
    compared = difflib.SequenceMatcher(b=newest.text[:400])
    similar = 0
    for trace in alike:
        compared.set_seq1(trace.text[:400])
        similar += compared.ratio() >= 0.8
    return similar


def near_duplicates_soon(case: Case) -> str | None:
    """Two similar calls before the run would end, the model is told."""
    if case.limits.near_duplicates > 2 and _similar(case) >= case.limits.near_duplicates - 2:
        return "Your last calls hardly differ and learned nothing new. Try something else, or answer with what you have."
    return None


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
    for call in case.calls:
        if case.state["run"]["refused"].count(call_fingerprint(call["name"], call["args"])) > 1:
            return f"{call['name']} was asked for again, twice, after a person rejected this call"
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


def repeated_once(case: Case) -> str | None:
    """One repetition before the run would end, the model is told."""
    same = _repeats(case)
    if same < 2 or same != case.limits.repeats - 1:
        return None
    return (
        "The same call gave the same observation again. "
        "Change your approach: other arguments, another tool, or answer with what you have."
    )


def cycled_once(case: Case) -> str | None:
    """One round before a cycle would end the run, the model is told."""
    if case.limits.cycle_rounds > 1 and _cycle(case, case.limits.cycle_rounds - 1):
        return "You are going round in a circle. Change your approach, or answer with what you have."
    return None


def failing(case: Case) -> str | None:
    """The same tool failed twice in a row."""
    last = case.trail[-2:]
    if len(last) == 2 and len(shared := set(last[0].tools) & set(last[1].tools)) >= 1:
        for name in sorted(shared):
            if all(_failed(trace, name) for trace in last):
                return (
                    f"{name} failed twice in a row. Use another tool or other arguments, or say that it cannot be had."
                )
    return None


def _failed(trace: Trace, name: str) -> bool:
    return all(code != "ok" for tool, code in zip(trace.tools, trace.codes, strict=True) if tool == name)


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
    Rule("rejected_again", "after think", "stop", rejected_again, "(two more requests)", "rejected"),
    Rule("format", "after think", "correct", misread, "repairs_in_a_row, repairs"),
    Rule("tool_before_answer", "after think", "correct", needs_tool, "require_tool"),
    Rule("citation", "after think", "correct", needs_citation, "require_citation"),
    Rule("repetition", "before think", "tell", repeated_once, "repeats"),
    Rule("circle", "before think", "tell", cycled_once, "cycle_rounds"),
    Rule("similar_calls", "before think", "tell", near_duplicates_soon, "near_duplicates"),
    Rule("failing_tool", "before think", "tell", failing, "(two failures)"),
)  # fmt: skip


def first_broken(case: Case, when: When, then: Then) -> tuple[Rule, str] | None:
    """The first rule of the table that is broken, with its reason."""
    for rule in RULES:
        if rule.when == when and rule.then == then and (why := rule.check(case)) is not None:
            return rule, why
    return None


def rule_named(name: str) -> Rule | None:
    """The row with this name."""
    return next((rule for rule in RULES if rule.name == name), None)
