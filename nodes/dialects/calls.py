"""The calls of a native reply, from the raw forms that clients and servers leave them in to a move."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.messages import AIMessage

from nodes.move import Call, CallError, FormatError, Move
from tools.arguments import InvalidArguments, coerce, plain
from tools.tool import Tool
from tools.toolbox import Toolbox

_SPECIAL = re.compile(r"<\|?|\|>")
_FINISHING = {"finish", "final_answer", "finalanswer", "final answer"}
_ANSWERS = ("answer", "final_answer", "output", "result", "text", "content", "input")
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
    work = [call for call in made if not _finishes(call, toolbox)]
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
    dropped = ("an answer given together with calls",) if len(work) < len(made) else ()
    return Move(calls=tuple(good), call_errors=tuple(bad), dropped=dropped)


def _finishes(call: Asked, toolbox: Toolbox) -> bool:
    return call.name.casefold() in _FINISHING and toolbox.find(call.name) is None


def _answer(call: Asked) -> str:
    args = decoded(call.args)
    if isinstance(args, Mapping):
        found = next((args[key] for key in _ANSWERS if key in args), next(iter(args.values()), ""))
        args = found
    text = args if isinstance(args, str) else json.dumps(args, ensure_ascii=False)
    if args is None or not text.strip():
        raise FormatError("empty_output", f"{call.name} was called without an answer. Give the answer.")
    return text.strip()


def _read(call: Asked, toolbox: Toolbox) -> Call:
    tool = toolbox.find(call.name) or toolbox.find(_SPECIAL.split(call.name)[0])
    if tool is None:
        raise _unknown(call.name, toolbox)
    return Call(tool.name, _arguments(tool, call.args), call.id)


def _unknown(name: str, toolbox: Toolbox) -> FormatError:
    if not name:
        return FormatError("missing_action_name", f"A call has no name. The tools are: {', '.join(toolbox)}.")
    near = toolbox.nearest(name)
    hint = f" Did you mean {near}?" if near else ""
    return FormatError("unknown_tool", f"There is no tool {name[:80]!r}. The tools are: {', '.join(toolbox)}.{hint}")


def _arguments(tool: Tool, args: Any) -> dict[str, Any]:
    value = decoded(args)
    try:
        if value is None or isinstance(value, Mapping):
            return coerce(tool, value or {})
        if isinstance(value, str) and not value.startswith(("{", "[")):
            return coerce(tool, plain(tool, value))
    except InvalidArguments as error:
        raise FormatError("invalid_arguments", str(error)) from error
    raise FormatError("invalid_arguments", f"The arguments of {tool.name} are not one valid JSON object.")


def decoded(args: Any) -> Any:
    """Arguments as a value: fences and a glued language tag cut, strings that hold JSON read, however often encoded."""
    for _ in range(_NESTED):
        if not isinstance(args, str):
            break
        bare = _bare(args)
        if bare in ("", "null", "None"):
            return None
        try:
            args = json.loads(bare)
        except (ValueError, RecursionError):
            return bare
    return args


def _bare(text: str) -> str:
    """The text without the fence around it and without the word that names its language."""
    text = text.strip()
    if text.startswith("```") and text.endswith("```") and len(text) > 6:
        text = text[3:-3].strip()
    rest = text.removeprefix("json")
    return rest.strip() if rest != text and rest.lstrip().startswith(("{", "[", '"')) else text
