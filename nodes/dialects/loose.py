"""Moves without any label: a reply that is one object, or words that end in a call."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from nodes.dialects import actions, faults
from nodes.dialects.objects import Unreadable, first
from nodes.dialects.shapes import move_from, named
from nodes.move import Move
from tools.toolbox import Toolbox

AFTER_DROPPED = "what you wrote after the object: one object is one turn"
_FENCE_LINE = re.compile(r"```[\w+#.-]{0,32}[^\S\n]{0,32}\n?\s{0,64}|(?:json|JSON)\s{1,8}(?=[{\[｛])")
_CALL_LIKE = re.compile(
    r"[\"'“]?(?:name|action|action_input|tool|tool_name|function|arguments|tool_calls|final_answer|thought)[\"'”]?\s{0,8}[=:：]",
    re.I,
)
_LINE_START = re.compile(r"^[^\S\n]{0,64}(?=[{\[｛])", re.M)


def whole(text: str, toolbox: Toolbox, *, truncated: bool = False, wanted: bool = False) -> Move | None:
    """The move of a reply that begins with an object, fenced or not; None if it does not.

    `wanted` says that an object was asked for, so that any other kind of object is an error.

    Raises:
        FormatError: it is an object of a call or an answer, and cannot be read.
    """
    text = text.strip()
    fence = _FENCE_LINE.match(text)
    at = fence.end() if fence else 0
    if at >= len(text) or text[at] not in "{[｛":
        return None
    if text[at] == "[" and (calls := actions.several(text[at:], toolbox)) is not None:
        return Move(calls=calls)
    try:
        value, end = first(text, at, truncated=truncated)
    except Unreadable as error:
        if not wanted and not (text[at] in "{｛" and _CALL_LIKE.search(text[at : at + 400])):
            return None
        raise faults.truncated() if error.cut and truncated else faults.bad_shape(str(error)) from error
    rest = text[end:].strip().removeprefix("```").strip()
    if not wanted and rest and not _registered(value, toolbox):
        return None
    return _shaped(value, rest, toolbox, wanted)


def _shaped(value: Any, rest: str, toolbox: Toolbox, wanted: bool) -> Move | None:
    move = move_from(value, toolbox)
    if move is None:
        if wanted:
            raise faults.bad_shape("your object has neither an action nor an answer")
        return None
    return replace(move, dropped=(*move.dropped, AFTER_DROPPED)) if rest else move


def ending(text: str, toolbox: Toolbox, *, anywhere: bool = False, truncated: bool = False) -> Move | None:
    """The move of words that end in a call of registered tools: an object, a list of calls, or one line of code.

    With `anywhere`, an object may stand in the middle of its line and have words after it.
    """
    text = text.rstrip()
    if text.endswith("```") and (at := text.rfind("```", 0, len(text) - 3)) >= 0:
        return _last(text[:at], text[at + 3 : -3].partition("\n")[2] or text[at + 3 : -3], toolbox)
    if anywhere:
        return _inside(text, toolbox, truncated)
    start = _LINE_START.search(text)
    if start and (move := _last(text[: start.start()], text[start.end() :], toolbox)):
        return move
    before, _, line = text.rpartition("\n")
    call = actions.single(line, toolbox)
    return Move(before.strip(), (call,)) if call else None


def _last(before: str, text: str, toolbox: Toolbox) -> Move | None:
    text = text.strip()
    if calls := actions.several(text, toolbox):
        return Move(before.strip(), calls)
    if call := actions.single(text, toolbox):
        return Move(before.strip(), (call,))
    try:
        value, end = first(text)
    except Unreadable:
        return None
    if text[end:].strip() or not _registered(value, toolbox):
        return None
    move = move_from(value, toolbox)
    return replace(move, thought=move.thought or before.strip()) if move else None


def _inside(text: str, toolbox: Toolbox, truncated: bool) -> Move | None:
    at = min((place for mark in "{｛" if (place := text.find(mark)) >= 0), default=-1)
    if at < 0:
        return None
    try:
        value, _ = first(text, at, truncated=truncated)
    except Unreadable as error:
        raise faults.truncated() if error.cut and truncated else faults.bad_shape(str(error)) from error
    move = move_from(value, toolbox)
    return replace(move, thought=move.thought or text[:at].strip().removesuffix("```json").strip()) if move else None


def _registered(value: Any, toolbox: Toolbox) -> bool:
    """Whether every call in the value is one of a registered tool."""
    calls = value if isinstance(value, list) else [value]
    found = [named(call) for call in calls]
    return bool(found) and all(name is not None and toolbox.find(name[:128]) is not None for name in found)


def inside_fence(text: str, at: int) -> bool:
    """Whether the place lies between two fence lines."""
    return len(re.findall(r"^[^\S\n]{0,64}```", text[:at], re.M)) % 2 == 1
