"""The policy of approval: which calls run, which wait for a person, and which never run."""

from __future__ import annotations

import copy
import inspect
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any, Literal, get_args

from nodes.approval import PolicyError
from tools.tool import Effect, Tool

Verdict = Literal["allow", "ask", "deny"]
Predicate = Callable[[Mapping[str, Any]], Verdict]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)  # from the laxest to the strictest
DEFAULTS = ("risky", "all", "none")
EFFECTS = (*get_args(Effect), "unknown")
COMPARISONS = {"over": "over", "under": "under", "equals": "equal to", "matches": "like", "not_in": "not one of"}

_TEN_YEARS = {"unanswered_hours": 87_600, "use_minutes": 5_256_000}  # more would overflow a date
_LONGEST_TEXT = 10_000  # a pattern is not tried on longer text: the model writes the text
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")


@dataclass(frozen=True)
class ArgumentRule:
    """A verdict on the calls whose argument compares as said; with several comparisons, all must hold.

    `equals` and `matches` know only the spellings they name; to let known values through and stop all others, say
    `not_in` with ask or deny.
    """

    tool: str
    argument: str
    then: Verdict
    over: float | Decimal | None = None
    under: float | Decimal | None = None
    equals: Any = field(default=None, hash=False)
    """Text, a number, true or false; compared as written."""
    matches: str | None = None
    """A regular expression that fits the whole text."""
    not_in: tuple[Any, ...] | None = field(default=None, hash=False)

    def __post_init__(self) -> None:
        _name("the tool of a rule", self.tool)
        _name(f"the argument of a rule on {self.tool}", self.argument)
        _one_of(f"{self._where}: then", self.then, VERDICTS)
        if isinstance(self.not_in, list):
            object.__setattr__(self, "not_in", tuple(self.not_in))
        if problem := self._problem():
            raise PolicyError(f"{self._where}: {problem}")

    @property
    def _where(self) -> str:
        return f"the rule on {self.tool}.{self.argument}"

    def _problem(self) -> str | None:
        """What is wrong with the comparisons, and what to write instead."""
        given = {name: getattr(self, name) for name in COMPARISONS if getattr(self, name) is not None}
        if not given:
            return f"give it something to compare with: {', '.join(COMPARISONS)}"
        for name in ("over", "under"):
            if name in given and (isinstance(given[name], str) or _number(given[name]) is None):
                return f"{name} must be a finite number without quotes, got {shown(given[name])}"
        if "over" in given and "under" in given and _ordered(self.over, operator.ge, self.under):
            return "no number is over the one and under the other: write two rules"
        if "equals" in given and len(given) > 1:
            return "equals must be its only comparison: write a rule for each"
        return _not_comparable("equals", [self.equals] if "equals" in given else []) or (
            _not_a_pattern(self.matches) or _not_a_list(self.not_in)
        )

    def holds(self, args: Mapping[str, Any]) -> bool | None:
        """Whether the argument compares as said; None where it is missing or cannot be compared."""
        if (value := args.get(self.argument)) is None:
            return None
        found: list[bool | None] = []
        if self.over is not None:
            found.append(_ordered(value, operator.gt, self.over))
        if self.under is not None:
            found.append(_ordered(value, operator.lt, self.under))
        if self.equals is not None:
            found.append(_same(value, self.equals))
        if self.matches is not None:
            fits = isinstance(value, str) and len(value) <= _LONGEST_TEXT
            found.append(re.fullmatch(self.matches, value) is not None if fits else None)
        if self.not_in is not None:
            alike = [_same(value, listed) for listed in self.not_in]
            found.append(False if True in alike else None if None in alike else True)
        return None if None in found else all(found)

    def applies(self, args: Mapping[str, Any]) -> bool:
        """Whether the verdict counts for this call; where that cannot be told, the strict ones do, allow does not."""
        held = self.holds(args)
        return self.then != "allow" if held is None else held

    def reason(self, args: Mapping[str, Any]) -> str:
        """Why it applies, without the value: the model wrote that."""
        if self.holds(args) is None:
            return f"{self.argument} is missing or cannot be compared, and a rule says {self.then}"
        given = {words: getattr(self, name) for name, words in COMPARISONS.items()}
        said = " and ".join(f"{words} {shown(than)}" for words, than in given.items() if than is not None)
        return f"a rule says {self.then} where {self.argument} is {said}"


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
        _one_of("default", self.default, DEFAULTS)
        for name in ("effects", "tools"):
            if not isinstance(given := getattr(self, name), Mapping):
                raise PolicyError(f"{name} must be a table of names and verdicts, got {shown(given)}")
            object.__setattr__(self, name, dict(given))  # a copy: what was checked here stays as it was
        if not isinstance(self.rules, tuple | list) or not all(isinstance(rule, ArgumentRule) for rule in self.rules):
            raise PolicyError(f"rules must be a tuple of ArgumentRule, got {shown(self.rules)}")
        object.__setattr__(self, "rules", tuple(self.rules))
        for effect, word in self.effects.items():
            _one_of("a name in effects", effect, EFFECTS)
            _one_of(f"{effect} in effects", word, VERDICTS)
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


def _number(value: Any) -> Decimal | None:
    """The value as a number, also where it is one written as text; a float counts as it is written, 0.1 as 0.1."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | str):
        return None
    if isinstance(value, str) and (len(value) > _LONGEST_TEXT or not _NUMBER.fullmatch(value.strip())):
        return None
    try:
        number = Decimal(float.__repr__(value) if isinstance(value, float) else value)
    except (InvalidOperation, ValueError):  # an exponent beyond what Decimal holds
        return None
    return number if number.is_finite() else None


def _ordered(value: Any, by: Callable[[Decimal, Decimal], bool], than: Any) -> bool | None:
    number, limit = _number(value), _number(than)
    return None if number is None or limit is None else by(number, limit)


def _same(value: Any, wanted: Any) -> bool | None:
    """Whether two values are one; None where they are of different kinds."""
    for kind in (bool, str):
        if isinstance(wanted, kind):
            return value == wanted if isinstance(value, kind) else None
    return _ordered(value, operator.eq, wanted)


def _not_comparable(name: str, values: Any) -> str | None:
    for value in values:
        if not isinstance(value, bool | str) and _number(value) is None:
            return f"{name} takes text, numbers, true and false, got {shown(value)}"
    return None


def _not_a_pattern(given: Any) -> str | None:
    if given is None:
        return None
    if not isinstance(given, str):
        return f"matches must be a regular expression in quotes, got {shown(given)}"
    try:
        re.compile(given)
    except (re.error, OverflowError, RecursionError) as error:
        return f"matches must be a regular expression, and {shown(given)} is not: {error}"
    return None


def _not_a_list(given: Any) -> str | None:
    if given is not None and (not isinstance(given, tuple) or not given):
        return f"not_in must be a list with at least one value, got {shown(given)}"
    return _not_comparable("not_in", given or ())


def _name(what: str, given: Any) -> None:
    if not isinstance(given, str) or not given or given != given.strip():
        raise PolicyError(f"{what} must be a name without spaces around it, got {shown(given)}")


def _entry(name: Any, entry: Any) -> None:
    _name("a name in tools", name)
    if not callable(entry):
        _one_of(f"{name} in tools", entry, VERDICTS)
    elif inspect.iscoroutinefunction(entry) or inspect.iscoroutinefunction(getattr(entry, "__call__", None)):  # noqa: B004
        raise PolicyError(f"{name} in tools must be a plain function: write def, not async def")


def _one_of(what: str, given: Any, words: tuple[str, ...]) -> None:
    if type(given) is not str or given not in words:
        raise PolicyError(f"{what} must be one of {', '.join(words)}, got {shown(given)}")


def shown(value: Any) -> str:
    """A value in a message, cut where it is long."""
    try:
        text = repr(value)
    except Exception:  # an integer of thousands of digits has no repr
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= 80 else text[:79] + "…"
