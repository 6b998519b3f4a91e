"""The questions a run asks a person, on the terminal: may this call run, and what now at a limit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from nodes.answers import UnclearAnswer, decide
from nodes.approval import visible
from nodes.halt import CHOICES
from reasonact.editing import NotEdited, edit, spelled
from reasonact.keyboard import forget_typed_ahead, read_line
from tools.toolbox import Toolbox

KEYS = {
    "y": "approve", "yes": "approve", "approve": "approve",
    "n": "reject", "no": "reject", "reject": "reject",
    "e": "edit", "edit": "edit",
    "r": "respond", "reply": "respond", "respond": "respond",
    "x": "extend", "extend": "extend",
    "h": "hint", "hint": "hint",
    "a": "answer", "answer": "answer",
    "q": "quit", "quit": "quit",
    "abort": "abort",
}  # fmt: skip
MENU = "y approve · n reject [reason] · e edit [JSON] · r reply [text] · q leave it waiting"
LIMIT_MENU = "x extend · h hint [text] · a answer [text] · abort · q leave it waiting"


class Left(Exception):
    """The person leaves the question open."""


class Person:
    """Whoever sits at the terminal."""

    def __init__(self, console: Console, toolbox: Toolbox, read: Callable[[str], str] = read_line) -> None:
        self.console, self.toolbox, self.read = console, toolbox, read

    def answer(self, question: Mapping[str, Any]) -> Any:
        """Ask until there is an answer that the run can use.

        Raises:
            Left: the person wants to answer later.
        """
        if question.get("error"):
            self.say(f"The last answer was not used: {question['error']}", "yellow")
        try:
            return self.approval(question) if question.get("type") == "tool_approval" else self.limit(question)
        except (EOFError, KeyboardInterrupt):
            raise Left from None

    def approval(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        """A decision on one call, on the arguments as they are shown."""
        call = {"name": question["name"], "args": dict(question["args"])}
        args = call["args"]
        self.show(question, args)
        while True:
            kind, rest = self.line(MENU)
            try:
                decision = self.decided(kind, rest, call, args)
                checked = decide(decision, call, self.toolbox[call["name"]])
            except (UnclearAnswer, NotEdited) as unclear:
                self.say(f"{unclear}", "yellow")
                continue
            if kind != "edit":
                return decision
            self.changes(args, args := checked["args"])
            self.show(question, args)

    def decided(self, kind: str, rest: str, call: Mapping[str, Any], args: dict[str, Any]) -> Mapping[str, Any]:
        """The decision that a key stands for.

        Raises:
            NotEdited: there are no new arguments.
            UnclearAnswer: the line is no decision.
        """
        action = {"name": call["name"], "args": args}
        if kind == "approve" and not rest:
            return {"type": "approve" if args == call["args"] else "edit", "edited_action": action}
        if kind == "edit":
            return {"type": "edit", "edited_action": {**action, "args": edit(args, rest, self.read)}}
        if kind == "reject":
            return {"type": "reject", "message": rest or self.more("Why? The model is told (Enter: no reason)")}
        if kind == "respond":
            return {
                "type": "respond",
                "message": rest or self.more("What the model reads instead of the tool's result"),
            }
        raise UnclearAnswer("answer with one of the keys; anything else is neither a yes nor a no")

    def limit(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        """What happens at a limit."""
        self.say(str(question.get("message", question)), "bold")
        while True:
            kind, rest = self.line(LIMIT_MENU)
            if kind in ("hint", "answer"):
                rest = rest or self.more("What the model is told" if kind == "hint" else "The answer")
            if kind in CHOICES and (rest or kind in ("extend", "abort")):
                return {"type": kind, "message": rest}
            self.say("answer with one of the keys; hint and answer need a text", "yellow")

    def line(self, menu: str) -> tuple[str, str]:
        """One answer: what its first word stands for, and the rest."""
        forget_typed_ahead()
        self.say(menu, "dim")
        word, _, rest = self.read("> ").strip().partition(" ")
        kind = KEYS.get(word.casefold(), "")
        if kind == "quit":
            raise Left
        return kind, rest.strip()

    def more(self, what: str) -> str:
        """One line from the keyboard."""
        self.say(what, "dim")
        return self.read("> ").strip()

    def show(self, question: Mapping[str, Any], args: Mapping[str, Any]) -> None:
        """The call in full, drawn from the arguments that would run; the model's own words below it."""
        self.console.print()
        self.console.print(
            Text.assemble(
                ("May this run? ", "bold"),
                (visible(question["name"]), "bold magenta"),
                f"  effect: {question['effect']}",
            )
        )
        for name, value in args.items():
            self.console.print(Text(f"  {visible(name)}: {spelled(value)}"), soft_wrap=True)
        if not args:
            self.console.print(Text("  (no arguments)"))
        if question.get("thought"):
            self.console.print(
                Text(f"The model's thought: {visible(' '.join(question['thought'].split()))}", style="dim")
            )

    def changes(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
        """What an edit changed."""
        for name in {**before, **after}:
            if before.get(name) != after.get(name):
                self.say(f"  - {name}: {spelled(before.get(name))}", "red")
                self.say(f"  + {name}: {spelled(after.get(name))}", "green")

    def say(self, text: str, style: str) -> None:
        """One line to the person."""
        self.console.print(Text(text, style=style), soft_wrap=True)


def read_words(text: str, question: Mapping[str, Any], toolbox: Toolbox) -> Any:
    """An answer given on the command line: a word and the rest, or JSON in any form that clients send.

    Raises:
        UnclearAnswer: the run could not use it.
    """
    word, _, rest = text.strip().partition(" ")
    kind = KEYS.get(word.casefold(), "")
    if question.get("type") != "tool_approval":
        if kind in CHOICES and (rest or kind in ("extend", "abort")):
            return {"type": kind, "message": rest.strip()}
        raise UnclearAnswer(f"answer with one of {', '.join(CHOICES)}; hint and answer need a text behind the word")
    call = {"name": question["name"], "args": dict(question["args"])}
    answer: Any = text
    if kind in ("reject", "respond"):
        answer = {"type": kind, "message": rest.strip()}
    elif kind == "edit" and rest:
        answer = {"type": "edit", "edited_action": {"name": call["name"], "args": edit(call["args"], rest)}}
    decide(answer, call, toolbox[call["name"]])
    return answer
