"""The policy of approval: which calls run, which wait for a person, and which never run."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from nodes.argument_rule import VERDICTS, ArgumentRule, PolicyError, Verdict, name_of, one_of, shown
from tools.effects import Effect
from tools.tool import Tool

Predicate = Callable[[Mapping[str, Any]], Verdict]
DEFAULTS = ("risky", "all", "none")
EFFECTS = (*get_args(Effect), "unknown")

_TEN_YEARS = {"unanswered_hours": 87_600, "use_minutes": 5_256_000}  # more would overflow a date


@dataclass(frozen=True)
class Policy:
    """Who decides on a call: the strictest rule that applies, else the tool's entry, its effect's, the default.

    Text from an untrusted source turns every allow into ask, but for tools that only read.
    """

    default: Literal["risky", "all", "none"] = "risky"
    """Asked about: what may change the world (risky), every call (all), or no call (none)."""
    effects: Mapping[str, Verdict] = field(default_factory=dict, hash=False)
    """By what a call does: read, egress, write, irreversible or unknown."""
    tools: Mapping[str, Verdict | Predicate] = field(default_factory=dict, hash=False)
    """By tool name: a verdict, or a function that gives one from the validated arguments."""
    rules: tuple[ArgumentRule, ...] = ()
    taint: bool = True
    """Whether a run that read text from an untrusted source loses its allows."""
    unanswered_hours: float = 24
    """How long a question waits for its answer."""
    use_minutes: float = 15
    """How long after the answer the call may still start."""
    other_person: bool = False
    """Whether the person who asked for the run may not approve its calls."""

    def __post_init__(self) -> None:
        one_of("default", self.default, DEFAULTS)
        for name in ("effects", "tools"):
            if not isinstance(given := getattr(self, name), Mapping):
                raise PolicyError(f"{name} must be a table of names and verdicts, got {shown(given)}")
            object.__setattr__(self, name, dict(given))  # a copy: what was checked here stays as it was
        if not isinstance(self.rules, tuple | list) or not all(isinstance(rule, ArgumentRule) for rule in self.rules):
            raise PolicyError(f"rules must be a tuple of ArgumentRule, got {shown(self.rules)}")
        object.__setattr__(self, "rules", tuple(self.rules))
        for effect, word in self.effects.items():
            one_of("a name in effects", effect, EFFECTS)
            one_of(f"{effect} in effects", word, VERDICTS)
        for name, entry in self.tools.items():
            _entry(name, entry)
        for name in ("taint", "other_person"):
            if not isinstance(given := getattr(self, name), bool):
                raise PolicyError(f"{name} must be true or false, got {shown(given)}")
        for name, most in _TEN_YEARS.items():
            given = getattr(self, name)
            if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= most:
                raise PolicyError(f"{name} must be a number from 0 to {most}, got {shown(given)}")

    @classmethod
    def of(cls, given: Policy | str) -> Policy:
        """A policy, or one of the three words as a policy.

        Raises:
            PolicyError: it is neither; a misspelt policy must never mean that nobody is asked.
        """
        if isinstance(given, Policy):
            return given
        if isinstance(given, str) and given in DEFAULTS:
            return cls(default=given)  # type: ignore[arg-type]
        raise PolicyError(f"approve must be one of {', '.join(DEFAULTS)}, or a Policy, got {shown(given)}")

    def verdict(self, tool: Tool, args: Mapping[str, Any], tainted: bool = False) -> tuple[Verdict, str]:
        """What happens to this call, and why."""
        word, reason = self._untainted(tool, args)
        if word == "allow" and tainted and self._taints(tool):
            return "ask", "the run has read text from an untrusted source"
        return word, reason

    def may_ask(self, tool: Tool, tainted_possible: bool) -> bool:
        """Whether any call of this tool could need a person; sometimes yes where none does, never the reverse."""
        entry = self.tools.get(tool.name)
        if callable(entry):
            return True
        words = {rule.then for rule in self.rules if rule.tool == tool.name} | {entry or self._general(tool)[0]}
        return "ask" in words or ("allow" in words and tainted_possible and self._taints(tool))

    def _taints(self, tool: Tool) -> bool:
        return self.taint and tool.effect != "read"

    def _untainted(self, tool: Tool, args: Mapping[str, Any]) -> tuple[Verdict, str]:
        applying = [rule for rule in self.rules if rule.tool == tool.name and rule.applies(args)]
        if applying:
            strictest = max(applying, key=lambda rule: VERDICTS.index(rule.then))
            return strictest.then, strictest.reason(args)
        if (entry := self.tools.get(tool.name)) is None:
            return self._general(tool)
        if not callable(entry):
            return entry, f"the policy says {entry} for this tool"
        return _judged(entry, args)

    def _general(self, tool: Tool) -> tuple[Verdict, str]:
        """The verdict on a tool that nothing names: by its effect, else by default."""
        effect = tool.effect or "unknown"
        if (word := self.effects.get(effect)) is not None:
            return word, f"the policy says {word} where the effect is {effect}"
        if self.default == "risky":
            return ("ask", f"its effect is {effect}") if tool.writes else ("allow", f"its effect is only {effect}")
        return (
            ("allow", "nobody is asked by default") if self.default == "none" else ("ask", "every call is asked about")
        )


def _judged(predicate: Predicate, args: Mapping[str, Any]) -> tuple[Verdict, str]:
    """What a function says; where it fails, a person is asked, and its error stays here: it may quote anything."""
    try:
        said = predicate(copy.deepcopy(dict(args)))  # a copy: the call that runs is the call that was judged
    except Exception:
        return "ask", "the policy for this tool failed"
    if type(said) is not str or said not in VERDICTS:
        return "ask", "the policy for this tool failed: it gave no verdict"
    return said, f"the policy says {said} for these arguments"


def _entry(name: Any, entry: Any) -> None:
    name_of("a name in tools", name)
    if not callable(entry):
        one_of(f"{name} in tools", entry, VERDICTS)
    elif inspect.iscoroutinefunction(entry) or inspect.iscoroutinefunction(getattr(entry, "__call__", None)):  # noqa: B004
        raise PolicyError(f"{name} in tools must be a plain function: write def, not async def")
