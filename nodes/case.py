"""What a rule judges: the state, the limits in force, the tools."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from langchain_core.messages import AIMessage

from nodes.context import Context
from nodes.limits import Limits
from nodes.state import Working
from nodes.trail import Trace, trail
from tools.toolbox import Toolbox


@dataclass(frozen=True)
class Case:
    """What a rule judges: the state, the limits in force and the tools."""

    state: Working
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


def limits_in_force(limits: Limits, state: Working, context: Context) -> Limits:
    """The built limits, with the caller's steps for this run and what a person granted on top."""
    if context.max_steps is not None:
        limits = replace(limits, steps=context.max_steps)
    granted = state["run"]["granted"]
    return (
        replace(limits, **{name: getattr(limits, name) + more for name, more in granted.items()}) if granted else limits
    )
