"""Arithmetic that is exact where it can be and bounded before it is computed."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction

from tools.observation import ToolFailure

Number = Fraction | float
"""Fractions are exact (integers and decimals); floats stand where a result is irrational."""

MAX_BITS = 4_096
MAX_FACTORIAL = 500
_MAX_EXPONENT = 1_200
_TOO_LARGE = f"the result is too large: numbers of more than {MAX_BITS} bits are not computed"


def number(text: str) -> Number:
    """The exact value of digits with an optional point and exponent."""
    _, _, exponent = text.lower().partition("e")
    if exponent and (len(exponent) > 6 or abs(int(exponent)) > _MAX_EXPONENT):
        raise ToolFailure(f"the exponent of {text[:40]} is beyond {_MAX_EXPONENT}")
    return fit(Fraction(text))


def fit(value: Number) -> Number:
    """`value` if it is finite and small enough; a fraction that is only too precise becomes a float."""
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ToolFailure("the result is not a finite number")
        return value
    if _bits(value) <= MAX_BITS:
        return value
    if value.denominator == 1:
        raise ToolFailure(_TOO_LARGE)
    return _not_lost(float(value))


def _bits(value: Number) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length()) if isinstance(value, Fraction) else 64


def _not_lost(value: float) -> float:
    if value == 0:
        raise ToolFailure("the result is too close to zero")
    return value


def multiply(a: Number, b: Number) -> Number:
    """The product."""
    if _whole(a) and _whole(b) and _bits(a) + _bits(b) > MAX_BITS + 1:
        raise ToolFailure(_TOO_LARGE)
    return fit(a * b)


def power(base: Number, exponent: Number) -> Number:
    """Base to the exponent, exact while that is small enough to write down."""
    if base == 0 and exponent < 0:
        raise ToolFailure("division by zero")
    if isinstance(base, Fraction) and isinstance(exponent, Fraction) and exponent.denominator == 1:
        # A number of n bits is at least 2**(n - 1), so 0, 1 and -1 may be raised to anything.
        if (_bits(base) - 1) * abs(exponent.numerator) <= MAX_BITS:
            return fit(base**exponent.numerator)
        if base.denominator == 1:
            raise ToolFailure(_TOO_LARGE if exponent > 0 else "the result is too close to zero")
    elif base < 0 and exponent != int(exponent):
        raise ToolFailure("a negative number has no real power of that kind")
    elif exponent == Fraction(1, 2):
        return root(base)
    return fit(_not_lost(float(base) ** float(exponent)) if base else 0.0)


def root(value: Number) -> Number:
    """The square root, exact for squares."""
    if value < 0:
        raise ToolFailure("a negative number has no real square root")
    if isinstance(value, Fraction):
        top, bottom = math.isqrt(value.numerator), math.isqrt(value.denominator)
        if (top * top, bottom * bottom) == (value.numerator, value.denominator):
            return Fraction(top, bottom)
    return math.sqrt(value)


def factorial(value: Number) -> Number:
    """n!, for whole numbers up to 500."""
    if not _whole(value) or not 0 <= value <= MAX_FACTORIAL:
        raise ToolFailure(f"factorial takes whole numbers from 0 to {MAX_FACTORIAL}")
    return Fraction(math.factorial(int(value)))


def rounded(value: Number, places: Number = Fraction(0)) -> Number:
    """The nearest number with so many decimals; a half goes away from zero, as taught at school."""
    if not _whole(places) or not -100 <= places <= 100:
        raise ToolFailure("round takes a whole number of decimals up to 100")
    scale = Fraction(10) ** int(places)
    near = Fraction(math.floor(abs(Fraction(value)) * scale + Fraction(1, 2))) / scale
    return fit(-near if value < 0 else near)


def exponential(value: Number) -> Number:
    """E to the power of `value`."""
    return _not_lost(math.exp(value))


def logarithm(value: Number, base: Number = Fraction(10)) -> Number:
    """The logarithm, by default to base 10."""
    if value <= 0 or base <= 0 or base == 1:
        raise ToolFailure("logarithms take numbers above zero, and a base other than 1")
    if base in (2, 10) and _whole(value):
        return (math.log2 if base == 2 else math.log10)(int(value))
    return natural(value) / natural(base)


def natural(value: Number) -> float:
    """The natural logarithm."""
    if value <= 0:
        raise ToolFailure("ln takes numbers above zero")
    return math.log(int(value)) if _whole(value) else math.log(value)


def wave(function: Callable[[float], float]) -> Callable[[Number], Number]:
    """`function` of an angle in radians, without the dust that a rounded pi leaves where it is zero or has no value."""

    def of(value: Number) -> Number:
        angle = float(value)
        if abs(angle) > 1e9:
            raise ToolFailure("the angle is too large")
        found = function(angle)
        if abs(found) > 1e14:
            raise ToolFailure("the function has no value there")
        return Fraction(0) if abs(found) < 1e-15 * max(1.0, abs(angle)) < abs(angle) else found

    return of


def _whole(value: Number) -> bool:
    return isinstance(value, Fraction) and value.denominator == 1


def shown(value: Number) -> str:
    """`value` as a person writes it: whole numbers and short decimals exactly, the rest to ten digits or more."""
    if isinstance(value, float):
        return shown(Fraction(int(value))) if value.is_integer() and abs(value) < 1e14 else f"{value:.14g}"
    if value.denominator == 1:
        return str(value.numerator)
    with localcontext() as context:
        context.prec = len(str(abs(value.numerator) // value.denominator)) + 40
        exact = Decimal(value.numerator) / Decimal(value.denominator)
        if Fraction(exact) == value and -int(exact.normalize().as_tuple().exponent) <= 20:
            return f"{exact.normalize():f}"
        context.prec = 10 if abs(value) < 1 else len(str(abs(value.numerator) // value.denominator)) + 10
        near = (+exact).normalize()
        return f"{near:f}" if abs(value) > 1e-9 else f"{near:e}"
