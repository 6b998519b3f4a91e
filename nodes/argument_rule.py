"""One line of the policy of approval: what an argument must be compared with, and what follows."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any, Literal, get_args

Verdict = Literal["allow", "ask", "deny"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)  # from the laxest to the strictest
COMPARISONS = {"over": "over", "under": "under", "equals": "equal to", "matches": "like", "not_in": "not one of"}

_LONGEST_TEXT = 10_000  # a pattern is not tried on longer text: the model writes the text
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")


class PolicyError(ValueError):
    """A policy of approval that cannot be followed; the message says what to write instead."""


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
        name_of("the tool of a rule", self.tool)
        name_of(f"the argument of a rule on {self.tool}", self.argument)
        one_of(f"{self._where}: then", self.then, VERDICTS)
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


def name_of(what: str, given: Any) -> None:
    """Refuse what is no name."""
    if not isinstance(given, str) or not given or given != given.strip():
        raise PolicyError(f"{what} must be a name without spaces around it, got {shown(given)}")


def one_of(what: str, given: Any, words: tuple[str, ...]) -> None:
    """Refuse what is none of the words."""
    if type(given) is not str or given not in words:
        raise PolicyError(f"{what} must be one of {', '.join(words)}, got {shown(given)}")


def shown(value: Any) -> str:
    """A value in a message, cut where it is long."""
    try:
        text = repr(value)
    except Exception:  # an integer of thousands of digits has no repr
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= 80 else text[:79] + "…"
