"""What `tools`, `rules` and `graph` print."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from graphs.react import build, rule_table
from nodes.limits import Limits
from nodes.policy import Policy
from reasonact.equipment import policy_of
from reasonact.settings import Settings
from tools.defaults import demo_tools
from tools.tool import Tool
from tools.toolbox import Toolbox


def print_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table on a terminal; one tab-separated line a row where a program reads it."""
    console = Console(highlight=False)
    if not console.is_terminal:
        for row in rows:
            typer.echo("\t".join(row))
        return
    table = Table(*heads, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*map(Text, row))
    console.print(table)


def print_tools(settings: Settings) -> None:
    """The tools the command runs with, and what the policy in force says about each.

    Raises:
        Refused: the policy cannot be followed.
    """
    limits, toolbox = Limits(), Toolbox(demo_tools())
    policy = policy_of(settings, toolbox)
    rows = [_row(tool, policy, limits) for tool in toolbox.values()]
    print_table(("tool", "arguments", "effect", "verdict", "calls a run", "calls a minute", "seconds"), rows)


def _row(tool: Tool, policy: Policy, limits: Limits) -> tuple[str, ...]:
    wanted = [name if name in tool.required else f"[{name}]" for name in tool.parameters]
    usual = limits.tool_writes if tool.writes else limits.tool_calls
    numbers = (
        usual if tool.cap is None else tool.cap,
        limits.rate if tool.rate is None else tool.rate,
        limits.tool_seconds if tool.timeout is None else tool.timeout,
    )
    verdict = _verdict(tool, policy)
    return tool.name, " ".join(wanted), tool.effect or "unknown", verdict, *(f"{number:g}" for number in numbers)


def _verdict(tool: Tool, policy: Policy) -> str:
    """ask, allow or deny; where it goes by the arguments, what else it may be."""
    word, _ = replace(policy, rules=()).verdict(tool, {})
    others = {str(rule.then) for rule in policy.rules if rule.tool == tool.name} - {word}
    return f"{word} (by arguments: {', '.join(sorted(others))})" if others else word


def print_rules() -> None:
    """The rules."""
    heads = ("rule", "when", "then", "limit", "ends as")
    print_table(heads, [tuple(row[head] for head in heads) for row in rule_table()])


def print_graph() -> None:
    """The graph as Mermaid text."""
    typer.echo(build().get_graph().draw_mermaid(with_styles=False))
