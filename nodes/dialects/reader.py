"""A reply's text, read as a move: labels, brackets, JSON, markup, whatever style it is written in."""

from __future__ import annotations

from dataclasses import replace

from nodes.dialects import faults, loose, markup, names, steps, tokens
from nodes.dialects.labels import sections, unwrapped, without_residue
from nodes.dialects.shapes import joined
from nodes.move import FormatError, Move
from tools.toolbox import Toolbox

LONGEST = 65_536
"""Characters of a reply that are read."""


def read(text: str, toolbox: Toolbox, *, truncated: bool = False, unlabelled_is_answer: bool = True) -> Move:
    """What the reply decides.

    `truncated` says that the output limit cut the reply; `unlabelled_is_answer` whether words without any label are an
    answer or a format error.

    Raises:
        FormatError: the reply cannot be read; nothing else is ever raised.
    """
    if len(text) <= LONGEST:
        return _read(text, toolbox, truncated, unlabelled_is_answer)
    try:
        return _read(text[:LONGEST], toolbox, True, unlabelled_is_answer)
    except FormatError as error:
        raise faults.too_long() if error.kind == "truncated" else error from error


def _read(text: str, toolbox: Toolbox, truncated: bool, unlabelled_is_answer: bool) -> Move:
    text = text.replace("\r\n", "\n")
    reasoned = ""
    if parts := tokens.channels(text):
        calls, text, reasoned = markup.channelled(parts, toolbox, truncated=truncated)
        if calls:
            return replace(joined(calls, [], None), thought=text.strip(), reasoning=reasoned)
    text, block, inside = tokens.apart(tokens.opened(text))
    visible = without_residue(tokens.bare(text))
    if not visible.strip():
        raise faults.truncated() if truncated else faults.empty()
    move = _visible(visible, toolbox, truncated and not inside, unlabelled_is_answer)
    return replace(move, reasoning="\n".join(filter(None, (reasoned, block))))


def _visible(text: str, toolbox: Toolbox, truncated: bool, unlabelled_is_answer: bool) -> Move:
    """The move in what is left when reasoning and special tokens are gone."""
    if move := loose.whole(text, toolbox, truncated=truncated, wanted=not unlabelled_is_answer):
        return move
    parts = sections(unwrapped(text))
    if move := _marked(text, parts[0].body, toolbox, truncated):
        return move
    if len(parts) > 1:
        return steps.decide(parts, toolbox, truncated=truncated)
    if move := loose.ending(text, toolbox, anywhere=not unlabelled_is_answer, truncated=truncated):
        return move
    if truncated:
        raise faults.truncated()
    if not unlabelled_is_answer:
        raise faults.no_action("Your reply was not a JSON object.")
    if names.nothing(text) and len(text) < 16:
        raise faults.no_action()
    return Move(answer=text.strip())


def _marked(text: str, words: str, toolbox: Toolbox, truncated: bool) -> Move | None:
    """Markup before any label; whatever follows it is not of this turn."""
    at = markup.opening(words)
    if at < 0:
        return None
    found = markup.marked(text, at, toolbox, truncated=truncated)
    return replace(found.move, thought=found.move.thought or found.before)
