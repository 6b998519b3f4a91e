"""How every command of `reasonact` behaves when it cannot do what was asked, and how wide its help is."""

from __future__ import annotations

import typer
from typer.core import TyperGroup

from reasonact.endings import ExitCode, Refused
from tools.addresses import DatabaseError

HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class Commands(TyperGroup):
    """Says what cannot be done in one sentence, without a traceback."""

    def invoke(self, ctx: typer.Context) -> object:  # type: ignore[override]
        """Run the command."""
        try:
            return super().invoke(ctx)
        except (Refused, DatabaseError) as refused:
            typer.echo(f"reasonact: {refused}", err=True)
            raise typer.Exit(ExitCode.REFUSED) from refused
        except KeyboardInterrupt:
            raise typer.Exit(ExitCode.INTERRUPTED) from None
