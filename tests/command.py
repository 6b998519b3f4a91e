"""The command `reasonact` with tools whose effects can be counted: `python -m tests.command ask …`."""

from __future__ import annotations

import os
import time
from pathlib import Path

import tools.defaults
from tools.database import Database
from tools.tool import Tool, tool


@tool(effect="read")
def add(a: int, b: int) -> str:
    """Add two numbers."""
    return str(a + b)


@tool(effect="read")
def wait(name: str) -> str:
    """Take a moment."""
    _count(f"wait {name}")
    time.sleep(float(os.environ.get("WAIT", "1")))
    return f"waited for {name}"


@tool(effect="irreversible")
def pay(to: str, amount: int) -> str:
    """Pay somebody."""
    _count(f"pay {to} {amount}")
    time.sleep(float(os.environ.get("PAY_WAIT", "0")))
    return f"paid {amount} to {to}"


def _count(effect: str) -> None:
    with Path(os.environ["EFFECTS"]).open("a", encoding="utf-8") as effects:
        effects.write(f"{effect}\n")


def counted_tools(database: Database | None = None) -> list[Tool]:
    return [add, wait, pay]


if __name__ == "__main__":
    tools.defaults.demo_tools = counted_tools
    from reasonact.cli import main

    main()
