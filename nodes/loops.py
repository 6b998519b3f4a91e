"""The rules against going in circles: the same again, cycles, near duplicates, a tool that keeps failing."""

from __future__ import annotations

import difflib

from nodes.case import Case
from nodes.trail import Trace


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
    if rounds < 1:
        return None
    traces = case.trail
    signatures = [trace.signature for trace in traces]
    for period in range(2, min(case.limits.cycle_period, len(traces) // rounds) + 1):
        tail = signatures[-period * rounds :]
        if tail[period:] == tail[:-period] and len(set(tail)) > 1:
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
        return "Your last calls hardly differ and learned nothing new. Try another way, or answer with what you have."
    return None


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
    """One tool failed in so many steps in a row."""
    limit = case.limits.failures
    last = case.trail[-limit:] if limit else []
    if not limit or len(last) < limit:
        return None
    for name in sorted(set(last[-1].tools)):
        if all(name in trace.tools and _failed(trace, name) for trace in last):
            return f"{name} failed {limit} times in a row. Use another tool or other arguments, or say so."
    return None


def _failed(trace: Trace, name: str) -> bool:
    return all(code != "ok" for tool, code in zip(trace.tools, trace.codes, strict=True) if tool == name)
