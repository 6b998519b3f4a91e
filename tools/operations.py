"""What the calculator can do: its constants, functions and operators, each bounded."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from tools import arithmetic
from tools.arithmetic import Number

MAX_NODES = 200
"""Numbers and operations in one expression."""

CONSTANTS: dict[str, Number] = {"pi": math.pi, "e": math.e}
FUNCTIONS: dict[str, tuple[Callable[..., Number], int, int]] = {
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
"""What it computes, and how few and how many numbers it takes."""
OPERATORS: dict[str, tuple[int, Callable[[Number, Number], Number]]] = {
    "+": (1, lambda a, b: a + b),
    "-": (1, lambda a, b: a - b),
    "*": (2, arithmetic.multiply),
    "x": (2, arithmetic.multiply),
    "of": (2, arithmetic.multiply),
    "/": (2, lambda a, b: a / b),
    "//": (2, lambda a, b: Fraction(a // b)),
    "%": (2, lambda a, b: a % b),
    "mod": (2, lambda a, b: a % b),
    "**": (4, arithmetic.power),
}
"""How strongly it binds, and what it computes."""
TAKE_MANY = frozenset(name for name, (_, _, most) in FUNCTIONS.items() if most > 1)
"""Functions between whose brackets a comma parts two numbers."""
