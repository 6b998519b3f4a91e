"""Amounts of money: whole cents inside, text such as `12.50 USD` outside."""

from __future__ import annotations

import re

from tools.observation import ToolFailure

_MONEY = re.compile(r"\s*(?:\$|USD)?\s*([0-9]{1,9})(?:\.([0-9]{1,2})0*)?\s*(?:USD)?\s*", re.IGNORECASE)


def cents(amount: str) -> int:
    """The cents of a text.

    Raises:
        ToolFailure: it is no amount above zero.
    """
    found = _MONEY.fullmatch(amount)
    value = int(found[1]) * 100 + int((found[2] or "0").ljust(2, "0")) if found else 0
    if value <= 0:
        raise ToolFailure("the amount must be above 0 and written like 12.50")
    return value


def shown(cents: int) -> str:
    """Cents as text."""
    return f"{cents // 100}.{cents % 100:02} USD"
