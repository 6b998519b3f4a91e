"""The commands that run no agent: tools, graph, rules, migrate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

Approve = Literal["risky", "all", "none"]
ApproveOption = Annotated[
    Approve | None,
    typer.Option(
        help="Which calls wait for your approval: those that may change something, all, none.  [default: the policy "
        "file, else risky]"
    ),
]
PolicyOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="TOML file that says which calls wait; --approve wins over it.  [default: REASONACT_APPROVALS, else "
        "approvals.toml in the folder of the threads]",
    ),
]


def tools(approve: ApproveOption = None, policy: PolicyOption = None) -> None:
    """List the tools: arguments, effect, what the policy in force says, and limits."""
    from reasonact.settings import Settings
    from reasonact.tables import print_tools

    print_tools(Settings(approve=approve or "", policy=str(policy or "")))


def graph() -> None:
    """Print the graph as Mermaid text."""
    from reasonact.tables import print_graph

    print_graph()


def rules() -> None:
    """List the rules that correct or end a run."""
    from reasonact.tables import print_rules

    print_rules()


def migrate(
    database: Annotated[
        str | None,
        typer.Option(metavar="URL", help="The database.  [default: REASONACT_DATABASE, else a file in the folder]"),
    ] = None,
) -> None:
    """Make or renew the tables of checkpoints, ledger and audit log; nothing is lost."""
    from reasonact.migration import make_tables

    make_tables(database)
