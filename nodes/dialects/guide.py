"""The unchanging part of a prompt for the dialects that write calls as text: instructions, tools, worked examples."""

from __future__ import annotations

from collections.abc import Callable

from nodes.dialects import prompts
from nodes.dialects.brief import Language
from nodes.dialects.examples import Example, examples
from nodes.dialects.manual import manual
from nodes.dialects.prompts import LABELS
from nodes.move import Move
from tools.toolbox import Toolbox

Write = Callable[[Move, int], str]
"""How a dialect writes a move as the n-th turn."""


def guide(form: str, toolbox: Toolbox, language: Language, max_steps: int | None, write: Write) -> str:
    """Instructions, the tools' manual and examples in the words of one dialect."""
    told = [prompts.instructions(form, language, max_steps), manual(toolbox, language, form)]
    shown = [worked(example, language, write) for example in examples(toolbox, language)]
    return "\n\n".join([*told, prompts.EXAMPLES[language], *shown])


def worked(example: Example, language: Language, write: Write) -> str:
    """One example from its question to its answer."""
    labels = LABELS[language]
    lines = [labels.line(labels.question, None, example.question)]
    for number, (move, brought) in enumerate(example.turns, 1):
        lines.append(write(move, number))
        if move.calls:
            lines.append(labels.line(labels.observation, number, brought))
    return "\n".join(lines)
