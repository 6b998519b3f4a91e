"""The calls of a native reply, from the raw forms that clients and servers leave them in to a move."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.messages import AIMessage

from nodes.dialects import faults, names
from nodes.dialects.fences import unfenced
from nodes.dialects.inputs import from_value
from nodes.dialects.objects import Unreadable, loads
from nodes.dialects.shapes import ANSWER_DROPPED
from nodes.move import Call, CallError, FormatError, Move
from tools.toolbox import Toolbox

_OPENERS = ("{", "[", '"')
_NESTED = 3
"""How often arguments are decoded again that were encoded as a string."""


@dataclass(frozen=True)
class Asked:
    """A call as it came: nothing about it has been believed yet."""

    name: str
    args: Any
    id: str


def asked(reply: AIMessage) -> list[Asked]:
    """All calls of a reply, wherever the client put them."""
    known = [*reply.tool_calls, *reply.invalid_tool_calls]
    if known:
        return _fresh([Asked(call["name"] or "", call["args"], call["id"] or "") for call in known])
    raw = reply.additional_kwargs.get("tool_calls")
    return _fresh([_raw(call) for call in raw if isinstance(call, Mapping)]) if isinstance(raw, list) else []


def _raw(call: Mapping[str, Any]) -> Asked:
    function = call.get("function")
    inner = function if isinstance(function, Mapping) else call
    args = inner.get("arguments", inner.get("args"))
    return Asked(str(inner.get("name") or ""), args, str(call.get("id") or ""))


def _fresh(made: list[Asked]) -> list[Asked]:
    """An id used twice in one reply becomes a new one: the provider would refuse the history."""
    seen: set[str] = set()
    out = []
    for call in made:
        id = f"call_{uuid.uuid4().hex}" if call.id and call.id in seen else call.id
        seen.add(id)
        out.append(replace(call, id=id))
    return out


def move(made: Sequence[Asked], toolbox: Toolbox) -> Move:
    """The calls that can be read, and why the others cannot.

    Raises:
        FormatError: no call can be read.
    """
    work = [call for call in made if not names.finishes(call.name, toolbox)]
    if not work:
        return Move(answer=_answer(made[0]))
    good, bad = [], []
    for call in work:
        try:
            good.append(_read(call, toolbox))
        except FormatError as error:
            bad.append(CallError(call.name, call.id, error.kind, error.sentence))
    if not good:
        raise FormatError(bad[0].error, bad[0].sentence)
    dropped = (ANSWER_DROPPED,) if len(work) < len(made) else ()
    return Move(calls=tuple(good), call_errors=tuple(bad), dropped=dropped)


def _answer(call: Asked) -> str:
    try:
        answer = names.answer_in(decoded(call.args)).strip()
    except Unreadable:
        answer = str(call.args).strip()
    if not answer:
        raise faults.empty_answer()
    return answer


def _read(call: Asked, toolbox: Toolbox) -> Call:
    tool = names.tool_named(call.name, toolbox)
    try:
        value = decoded(call.args)
    except Unreadable as error:
        raise faults.unreadable_input(tool, str(error)) from error
    return Call(tool.name, from_value(tool, value), call.id)


def decoded(args: Any) -> Any:
    """Arguments as a value: fences and a glued language tag cut, strings that hold JSON read, however often encoded.

    Raises:
        Unreadable: they begin as JSON and are none.
    """
    for _ in range(_NESTED):
        if not isinstance(args, str):
            break
        bare = _bare(args)
        if bare in ("", "null", "None"):
            return None
        if not bare.startswith(_OPENERS):
            return bare
        args = loads(bare)
    return args


def _bare(text: str) -> str:
    """The text without the fence around it and without the word that names its language."""
    text = unfenced(text)[0].strip()
    rest = text.removeprefix("json").lstrip()
    return rest if rest != text and rest.startswith(_OPENERS) else text
