"""How a run is watched: a live tree on a terminal, plain lines elsewhere, nothing when asked to be quiet."""

from __future__ import annotations

import time
from typing import Protocol

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text
from rich.tree import Tree

from reasonact.lines import call_line, cost, observation_line, one_line, round_lines
from reasonact.progress import Progress, Round


class View(Protocol):
    """Someone who watches."""

    def start(self) -> None:
        """The run goes on."""

    def changed(self) -> None:
        """There is something new in the progress."""

    def stop(self) -> None:
        """The run pauses or has ended; the terminal is free."""


def view_of(progress: Progress, console: Console, quiet: bool) -> View:
    """The view that fits the terminal."""
    if quiet:
        return Silence()
    if console.is_terminal and not console.is_dumb_terminal:
        return LiveTree(progress, console)
    return PlainLines(progress, console)


class Silence:
    """Nothing to see."""

    def start(self) -> None:
        """Show nothing."""

    changed = stop = start


class PlainLines:
    """Every step once, when it is complete."""

    def __init__(self, progress: Progress, console: Console) -> None:
        self.progress, self.console = progress, console
        self.said = 0
        self.named = False

    def start(self) -> None:
        """Say the steps of an earlier process."""
        self.changed()

    def changed(self) -> None:
        """Say the steps that are complete."""
        if self.progress.dialect and not self.named:
            self.named = True
            self.say(Text(f"Dialect {self.progress.dialect}", style="dim"))
        for made in self.progress.rounds[self.said :]:
            if any(action.text is None for action in made.actions):
                break
            self.said += 1
            self.show(made)

    def stop(self) -> None:
        """Say the step that is still open, for its thought and calls are what a question is about."""

    def show(self, made: Round) -> None:
        """One step."""
        for line in round_lines(made):
            self.say(Text(line))

    def say(self, line: RenderableType) -> None:
        """One line, not broken."""
        self.console.print(line, soft_wrap=True)


class LiveTree(PlainLines):
    """Complete steps stand; the open one and what it waits for are drawn anew below them."""

    def __init__(self, progress: Progress, console: Console) -> None:
        super().__init__(progress, console)
        self.live: Live | None = None

    def start(self) -> None:
        """Begin to draw."""
        self.live = Live(
            self, console=self.console, transient=True, refresh_per_second=8, redirect_stdout=False, screen=False
        )
        self.live.start()
        self.changed()

    def stop(self) -> None:
        """Leave the terminal as it was."""
        if self.live is not None:
            self.live.stop()
            self.live = None

    def show(self, made: Round) -> None:
        """One step for good, above what is still drawn."""
        self.console.print(branch(made))

    def __rich__(self) -> RenderableType:
        seconds = time.monotonic() - self.progress.began
        waiting = Spinner("dots", Text(f"{self.progress.doing} {seconds:.1f} s", style="dim"))
        return Group(*map(branch, self.progress.rounds[self.said :]), waiting)


def branch(made: Round) -> Tree:
    """A step as a tree: thought, actions, and below each its observation."""
    tree = Tree(Text.assemble((f"Step {made.number}", "bold"), (f"  {cost(made.seconds, made.tokens)}", "dim")))
    if made.thought:
        tree.add(Text.assemble(("Thought ", "cyan"), one_line(made.thought, 600)))
    if made.answers:
        tree.add(Text("Answers", style="cyan"))
    if made.error:
        tree.add(Text.assemble(("Not understood ", "yellow"), one_line(made.error, 600)))
    for action in made.actions:
        leaf = tree.add(Text.assemble(("Action ", "magenta"), call_line(action.name, action.args)))
        if action.text is not None:
            colour = "green" if action.code in ("ok", "responded") else "yellow"
            spent = (f"  {action.seconds:.1f} s", "dim")
            leaf.add(Text.assemble(("Observation ", colour), observation_line(action), spent))
    return tree
