"""A calculator that reads what people and models write, and never hangs."""

from __future__ import annotations

from tools import arithmetic
from tools.arithmetic import Number
from tools.expression import Token, plain, tokens
from tools.observation import ToolFailure
from tools.operations import CONSTANTS, FUNCTIONS, MAX_NODES, OPERATORS, TAKE_MANY
from tools.tool import Tool

MAX_LENGTH = 500
MAX_DEPTH = 30

_SIGN_BINDS = 3


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
        return Reader(tokens(text, TAKE_MANY)).value()
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
        while (operator := self._next()) in OPERATORS and (level := OPERATORS[operator][0]) > binds:
            self._at += 1
            # A power binds to the right: 2**3**2 is 2**9.
            right = self._deeper(level - 1) if operator == "**" else self._binary(level)
            left = self._node(OPERATORS[operator][1](left, right))
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
        return not after or after in OPERATORS or after in (")", ",", "!")

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
        if name in CONSTANTS:
            return self._node(CONSTANTS[name])
        if name not in FUNCTIONS:
            raise ToolFailure(f"unknown name {name[:40]!r}: there are {', '.join([*FUNCTIONS, *CONSTANTS])}")
        if not self._take("("):
            raise ToolFailure(f"write {name} with brackets: {name}(…)")
        values = [self._deeper(0)]
        while self._take(","):
            values.append(self._deeper(0))
        self._close()
        function, least, most = FUNCTIONS[name]
        if not least <= len(values) <= most:
            wanted = "1 number" if most == 1 else f"{least} to {most} numbers" if least < most else f"{most} numbers"
            raise ToolFailure(f"{name} takes {wanted}, not {len(values)}")
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
