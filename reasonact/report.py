"""How a run is told to have ended: the answer on stdout, everything else on stderr."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import Any

import typer

from reasonact.endings import ExitCode, code_of
from reasonact.keyboard import interactive
from reasonact.lines import cost, harmless
from reasonact.runner import Runner


@dataclass(frozen=True)
class Report:
    """What the person asked to see."""

    json: bool
    quiet: bool

    def tell(self, runner: Runner) -> ExitCode:
        """Print how the run stands; the exit code says it too."""
        ended = runner.outcome()
        code = code_of(ended["status"])
        if self.json:
            utf8 = (sys.stdout.encoding or "").casefold().replace("-", "") == "utf8"
            typer.echo(json.dumps(ended, ensure_ascii=not utf8, default=str))
            return code
        if ended["answer"] is not None:
            typer.echo(harmless(ended["answer"]) if sys.stdout.isatty() else ended["answer"])
        self.explain(runner, ended, code)
        return code

    def explain(self, runner: Runner, ended: dict[str, Any], code: ExitCode) -> None:
        """Why there is no answer, or what to do next."""
        if code in (ExitCode.WAITING, ExitCode.INTERRUPTED):
            if not interactive():
                say(ended["reason"])
            decides = "approval" in ended and not interactive()
            say(f"The run is kept; {runner.how_to_decide(ended['approval']) if decides else runner.how_to_resume()}")
        elif code != ExitCode.FINISHED:
            say(ended["reason"])
        if not self.quiet:
            spent = cost(runner.progress.seconds, ended["tokens"]["total"])
            counted = "1 step" if len(ended["steps"]) == 1 else f"{len(ended['steps'])} steps"
            say(f"{ended['status']} · {counted} · {spent} · thread {runner.thread}")


def say(text: str) -> None:
    """A line on stderr."""
    typer.echo(harmless(text), err=True)
