"""A run in words: the lines that both the live tree and a plain terminal are made of."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from typing import Any

from nodes.approval import visible
from reasonact.progress import Action, Round

CALL_CHARS = 300
OBSERVATION_CHARS = 600


def one_line(text: str, most: int) -> str:
    """`text` on one line, without marks that a terminal would obey, cut at `most` characters."""
    flat = visible(" ".join(text.split()))
    return flat if len(flat) <= most else f"{flat[: most - 1]}…"


def call_line(name: str, args: Mapping[str, Any]) -> str:
    """A call as code: `calculator(expression="17*23")`."""
    inside = ", ".join(f"{field}={json.dumps(value, ensure_ascii=False, default=str)}" for field, value in args.items())
    return one_line(f"{name}({inside})", CALL_CHARS)


def observation_line(action: Action) -> str:
    """What came of a call."""
    failed = "" if action.code in ("ok", "responded") else f"[{action.code}] "
    return failed + one_line(action.text or "", OBSERVATION_CHARS)


def cost(seconds: float, tokens: int) -> str:
    """Time and tokens, as far as they are known."""
    return f"{seconds:.1f} s" + (f" · {tokens:,} tokens" if tokens else "")


def round_lines(made: Round) -> list[str]:
    """A step on a plain terminal."""
    said = [f"Step {made.number} ({cost(made.seconds, made.tokens)})"]
    if made.thought:
        said.append(f"  Thought: {one_line(made.thought, OBSERVATION_CHARS)}")
    if made.answers:
        said.append("  Answers")
    if made.error:
        said.append(f"  Not understood: {one_line(made.error, OBSERVATION_CHARS)}")
    for action in made.actions:
        said.append(f"  Action: {call_line(action.name, action.args)}")
        if action.text is not None:
            said.append(f"  Observation: {observation_line(action)} ({action.seconds:.1f} s)")
    return said


def harmless(text: str) -> str:
    """An answer for a terminal: as it is, but without control codes that the terminal would obey."""
    kept = ("\n", "\t")
    return "".join(
        mark if mark in kept or unicodedata.category(mark) not in ("Cc", "Cs") else visible(mark) for mark in text
    )
