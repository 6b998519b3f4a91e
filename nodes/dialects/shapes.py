"""The shapes a call or an answer takes as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from nodes.dialects import brackets, faults, inputs, names
from nodes.move import Call, CallError, FormatError, Move
from tools.toolbox import Toolbox, normal

MOST_CALLS = 16
_THOUGHT = ("thought", "thoughts", "thinking", "reasoning", "思考", "想法")
_ACTION = ("action", "tool", "tool_name", "action_name", "function_name", "行动", "动作", "工具")
_NAME = ("function", "name")
_INPUT = ("action_input", "actioninput", "tool_input", "tool_args", "行动输入", "动作输入")
_ARGS = (*_INPUT, "arguments", "args", "parameters", "params", "kwargs", "input", "inputs", "参数", "输入")
_ANSWER = ("final_answer", "finalanswer", "answer", "最终答案", "答案", "回答", "finish")
_CALLS = ("tool_calls", "function_calls", "calls", "actions")
_BESIDE = {"id", "type", "index", "call_id", "tool_call_id"}
_ABSENT = object()


def move_from(value: Any, toolbox: Toolbox) -> Move | None:
    """The move that one JSON value (an object, or a list of calls) stands for; None if it is no such shape.

    Raises:
        FormatError: it is a call or an answer, but a wrong one.
    """
    if isinstance(value, list):
        return _all(value, toolbox) if value and all(named(one) for one in value) else None
    if not isinstance(value, Mapping):
        return None
    fields = _fields(value)
    thought = _text(_pick(fields, _THOUGHT))
    move = _decided(fields, toolbox)
    if move is None and thought and not set(fields) - set(_THOUGHT):
        raise faults.no_action("Your object holds a thought alone.")
    return replace(move, thought=thought or move.thought) if move else None


def named(value: Any) -> str | None:
    """The name that a JSON value calls, if it has the shape of a call at all."""
    if not isinstance(value, Mapping):
        return None
    fields = _fields(value)
    called = _pick(fields, (*_ACTION, *_NAME), None)
    if isinstance(called, Mapping):
        return named(called)
    shaped = any(key in fields for key in (*_ACTION, *_ARGS)) or set(fields) <= {"name", *_BESIDE}
    return called if isinstance(called, str) and shaped else None


def _decided(fields: Mapping[str, Any], toolbox: Toolbox) -> Move | None:
    answer = _pick(fields, _ANSWER, None)
    calls = _pick(fields, _CALLS, None)
    if isinstance(calls, list) and calls:
        return _beside(_all(calls, toolbox), answer)
    called = _pick(fields, (*_ACTION, *_NAME))
    if isinstance(called, Mapping):
        return _beside(move_from(called, toolbox), answer)
    if isinstance(called, str) and names.finishes(called, toolbox):
        return _answer(_pick(fields, _ARGS, answer))
    if isinstance(called, str) and called.strip() and not names.nothing(called):
        return _called(called, fields, answer, toolbox)
    if answer is not None:
        return _answer(answer)
    return _nameless(fields, called, toolbox)


def _called(called: str, fields: Mapping[str, Any], answer: Any, toolbox: Toolbox) -> Move | None:
    args = _pick(fields, _ARGS)
    strong = _pick(fields, _ACTION) is not _ABSENT
    if args is _ABSENT and not strong and (set(fields) - {"name", *_BESIDE} or not names.registered(called, toolbox)):
        # An object that has a name is no call yet.
        return _answer(answer) if answer is not None else None
    if args is _ABSENT and (written := _written(called, toolbox)):
        return _beside(written, answer)
    tool = names.tool_named(called, toolbox)
    if args is _ABSENT:
        known = {*_THOUGHT, *_ACTION, *_NAME, *_ANSWER, *_CALLS, *_BESIDE}
        args = {key: one for key, one in fields.items() if key not in known} or None
    return _beside(Move(calls=(Call(tool.name, inputs.from_value(tool, args)),)), answer)


def _written(called: str, toolbox: Toolbox) -> Move | None:
    """`Search["x"]` or `finish(answer="x")` as the action itself."""
    at = next((place for place, mark in enumerate(called[:200]) if mark in brackets.OPENERS), -1)
    end = brackets.closing(called, at) if at > 0 else -1
    if end < 0:
        return None
    name, inner = called[:at], called[at + 1 : end]
    if names.finishes(name, toolbox):
        return _answer(brackets.unquoted(inner))
    tool = names.tool_named(name, toolbox)
    return Move(calls=(Call(tool.name, inputs.from_brackets(tool, inner)),))


def _nameless(fields: Mapping[str, Any], called: Any, toolbox: Toolbox) -> Move | None:
    if called is not _ABSENT and _pick(fields, _ACTION) is not _ABSENT:
        raise faults.no_action("Your action was none.")
    if any(key in fields for key in _INPUT) or _pick(fields, ("arguments", "args")) is not _ABSENT:
        raise faults.missing_name()
    rest = [key for key in fields if key not in _THOUGHT]
    if len(rest) == 1 and isinstance(fields[rest[0]], Mapping) and (tool := toolbox.get(rest[0])):
        return Move(calls=(Call(tool.name, inputs.from_value(tool, fields[rest[0]])),))
    return None


def _all(values: list[Any], toolbox: Toolbox) -> Move:
    """Several calls; those that cannot be read do not keep the others from running."""
    if len(values) > MOST_CALLS:
        raise faults.bad_shape(f"there are more than {MOST_CALLS} calls")
    moves: list[Move] = []
    errors: list[CallError] = []
    first: FormatError | None = None
    for value in values:
        try:
            moves.append(_one(value, toolbox))
        except FormatError as error:
            first = first or error
            errors.append(CallError(str(named(value) or ""), "", error.kind, error.sentence))
    return joined(moves, errors, first)


def joined(moves: list[Move], errors: list[CallError], first: FormatError | None) -> Move:
    """Several moves of one reply as one: their calls, or the answer if nothing is called.

    Raises:
        FormatError: none of them could be read; `first` says why.
    """
    calls = tuple(call for move in moves for call in move.calls)
    answers = [move.answer for move in moves if move.answer is not None]
    thought = "\n".join(move.thought for move in moves if move.thought)
    if not calls and first:
        raise first
    if len(calls) > MOST_CALLS:
        raise faults.bad_shape(f"there are more than {MOST_CALLS} calls")
    if not calls:
        return Move(thought, answer=answers[0])
    dropped = (ANSWER_DROPPED,) if answers else ()
    return Move(thought, calls, call_errors=tuple(errors), dropped=dropped)


ANSWER_DROPPED = "an answer given together with an action: it was written before the result was known"


def _one(value: Any, toolbox: Toolbox) -> Move:
    move = move_from(value, toolbox)
    if move is None or not (move.calls or move.answer):
        raise faults.bad_shape("one of the calls has no name")
    return move


def _beside(move: Move | None, answer: Any) -> Move | None:
    if move is None or not move.calls or not names.answer_in(answer).strip():
        return move
    return replace(move, dropped=(*move.dropped, ANSWER_DROPPED))


def _answer(value: Any) -> Move:
    answer = names.answer_in(None if value is _ABSENT else value)
    if not answer.strip():
        raise faults.empty_answer()
    return Move(answer=answer)


def _fields(value: Mapping[str, Any]) -> dict[str, Any]:
    """The object by keys without case and separators; an unusual key keeps its spelling."""
    fields: dict[str, Any] = {}
    for key, one in value.items():
        plain = normal(key[:64]) if isinstance(key, str) else str(key)
        fields[plain if plain in _KNOWN and plain not in fields else key] = one
    return fields


_KNOWN = {*_THOUGHT, *_ACTION, *_NAME, *_ARGS, *_ANSWER, *_CALLS, *_BESIDE}


def _pick(fields: Mapping[str, Any], keys: tuple[str, ...], default: Any = _ABSENT) -> Any:
    return next((fields[key] for key in keys if key in fields), default)


def _text(value: Any) -> str:
    if value is _ABSENT or value is None:
        return ""
    return value.strip() if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
