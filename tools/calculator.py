"""A calculator that reads what people and models write, and never hangs."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from tools import arithmetic
from tools.arithmetic import Number
from tools.expression import Token, plain, tokens
from tools.observation import ToolFailure
from tools.tool import Tool

MAX_LENGTH = 500
MAX_NODES = 200
MAX_DEPTH = 30

_CONSTANTS: dict[str, Number] = {"pi": math.pi, "e": math.e}
_FUNCTIONS: dict[str, tuple[Callable[..., Number], int, int]] = {
    "sqrt": (arithmetic.root, 1, 1),
    "abs": (abs, 1, 1),
    "round": (arithmetic.rounded, 1, 2),
    "floor": (lambda value: Fraction(math.floor(value)), 1, 1),
    "ceil": (lambda value: Fraction(math.ceil(value)), 1, 1),
    "min": (lambda *values: min(values), 1, MAX_NODES),
    "max": (lambda *values: max(values), 1, MAX_NODES),
    "sum": (lambda *values: sum(values, Fraction(0)), 1, MAX_NODES),
    "pow": (arithmetic.power, 2, 2),
    "factorial": (arithmetic.factorial, 1, 1),
    "ln": (arithmetic.natural, 1, 1),
    "log": (arithmetic.logarithm, 1, 2),
    "log10": (arithmetic.logarithm, 1, 1),
    "log2": (lambda value: arithmetic.logarithm(value, Fraction(2)), 1, 1),
    "exp": (arithmetic.exponential, 1, 1),
    "sin": (arithmetic.wave(math.sin), 1, 1),
    "cos": (arithmetic.wave(math.cos), 1, 1),
    "tan": (arithmetic.wave(math.tan), 1, 1),
}
_OPERATORS: dict[str, tuple[int, Callable[[Number, Number], Number]]] = {
    "+": (1, lambda a, b: a + b),
    "-": (1, lambda a, b: a - b),
    "*": (2, arithmetic.multiply),
    "x": (2, arithmetic.multiply),
    "of": (2, arithmetic.multiply),
    "/": (2, lambda a, b: a / b),
    "//": (2, lambda a, b: Fraction(a // b)),
    "%": (2, lambda a, b: a % b),
    "**": (4, arithmetic.power),
}
_SIGN_BINDS = 3
_TAKE_MANY = frozenset(name for name, (_, _, most) in _FUNCTIONS.items() if most > 1)


def calculate(expression: str) -> str:
    """The value of an expression, as text.

    Raises:
        ToolFailure: it cannot be read, has no finite real value, or is too large; the message says which.
    """
    return arithmetic.shown(evaluate(expression))


def evaluate(expression: str) -> Number:
    """The value of an expression, exact where it is rational.

    Raises:
        ToolFailure: as for `calculate`.
    """
    if len(expression) > MAX_LENGTH or len(text := plain(expression)) > MAX_LENGTH:
        raise ToolFailure(f"the expression is longer than {MAX_LENGTH} characters")
    if not text:
        raise ToolFailure("give an expression such as 12*(3+4)")
    try:
        return Reader(tokens(text, _TAKE_MANY)).value()
    except ZeroDivisionError:
        raise ToolFailure("division by zero") from None
    except OverflowError:
        raise ToolFailure("the result is too large") from None


class Reader:
    """Computes while it reads: each number and each operation is a node."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0
        self.nodes = 0

    def value(self) -> Number:
        """The value of all tokens."""
        found = self._binary(0)
        if self._at < len(self._tokens):
            raise ToolFailure(f"did not expect {self._tokens[self._at].text!r} there: put an operator before it")
        return arithmetic.fit(found)

    def _next(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._tokens[at].text if at < len(self._tokens) else ""

    def _take(self, *wanted: str) -> bool:
        taken = self._next() in wanted
        self._at += taken
        return taken

    def _node(self, value: Number) -> Number:
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise ToolFailure(f"the expression has more than {MAX_NODES} parts")
        return arithmetic.fit(value)

    def _binary(self, binds: int) -> Number:
        left = self._operand()
        while (operator := self._next()) in _OPERATORS and (level := _OPERATORS[operator][0]) > binds:
            self._at += 1
            # A power binds to the right: 2**3**2 is 2**9.
            right = self._deeper(level - 1) if operator == "**" else self._binary(level)
            left = self._node(_OPERATORS[operator][1](left, right))
        return left

    def _deeper(self, binds: int) -> Number:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ToolFailure(f"the expression is nested deeper than {MAX_DEPTH}")
        found = self._binary(binds)
        self._depth -= 1
        return found

    def _operand(self) -> Number:
        if self._take("+"):
            return self._deeper(_SIGN_BINDS)
        if self._take("-"):
            return self._node(-self._deeper(_SIGN_BINDS))
        found = self._primary()
        while True:
            if self._take("!"):
                found = self._node(arithmetic.factorial(found))
            elif self._next() == "%" and self._is_percent():
                self._at += 1
                found = self._node(found / 100)
            else:
                return found

    def _is_percent(self) -> bool:
        """Whether this % has no number after it to be the remainder of; `50% + 1` is a percentage, `50 % -7` is not."""
        after = self._next(1)
        if after in ("+", "-"):
            return self._tokens[self._at].glued
        return not after or after in _OPERATORS or after in (")", ",", "!")

    def _primary(self) -> Number:
        if self._at >= len(self._tokens):
            raise ToolFailure("the expression ends too early")
        token = self._tokens[self._at]
        self._at += 1
        if token.kind == "number":
            return self._node(arithmetic.number(token.text.replace(",", "").replace("_", "")))
        if token.kind == "name":
            return self._named(token.text)
        if token.text != "(":
            raise ToolFailure(f"a number is missing before {token.text!r}")
        found = self._deeper(0)
        self._close()
        return found

    def _named(self, name: str) -> Number:
        if name in _CONSTANTS:
            return self._node(_CONSTANTS[name])
        if name not in _FUNCTIONS:
            raise ToolFailure(f"unknown name {name[:40]!r}: there are {', '.join([*_FUNCTIONS, *_CONSTANTS])}")
        if not self._take("("):
            raise ToolFailure(f"write {name} with brackets: {name}(…)")
        values = [self._deeper(0)]
        while self._take(","):
            values.append(self._deeper(0))
        self._close()
        function, least, most = _FUNCTIONS[name]
        if not least <= len(values) <= most:
            raise ToolFailure(
                f"{name} takes {least if least == most else f'{least} to {most}'} numbers, not {len(values)}"
            )
        return self._node(function(*values))

    def _close(self) -> None:
        if not self._take(")"):
            raise ToolFailure("a closing bracket is missing")


calculator = Tool(
    "calculator",
    "Computes an arithmetic expression exactly, for example 12*(3+4), 15% of 80, 2**64, sqrt(2), round(10/3, 2). "
    "Use it for every sum. log is to base 10, angles are in radians.",
    calculate,
    {
        "type": "object",
        "properties": {"expression": {"type": "string", "description": "numbers, + - * / // % ** and functions"}},
        "required": ["expression"],
    },
    effect="read",
    idempotent=True,
)
"""Computes an arithmetic expression."""
