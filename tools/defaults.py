"""The tools an agent has when nobody gives it any: enough to try every kind of call."""

from __future__ import annotations

from tools.database import Database
from tools.tool import Tool


def demo_tools(database: Database | None = None) -> list[Tool]:
    """Calculator, clock, an offline encyclopedia and a small shop; calling this touches no file.

    The shop's tables lie in `database`, else in a file of their own (see `tools.shop.Shop`).
    """
    from tools.calculator import calculator
    from tools.clock import clock
    from tools.corpus import corpus_tools
    from tools.orders import shop_tools

    return [calculator, *corpus_tools(), clock, *shop_tools(database)]
