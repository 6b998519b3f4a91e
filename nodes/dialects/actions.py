"""One action written in text: `Tool["x"]`, `tool(a="x")`, a name with its input, an object, or the finish."""

from __future__ import annotations

import re
from typing import Any

from nodes.dialects import brackets, faults, inputs, names
from nodes.dialects.fences import unfenced
from nodes.dialects.finishing import Read, finish, finish_plain, unclosed
from nodes.dialects.labels import label_at
from nodes.dialects.objects import Unreadable, first
from nodes.dialects.shapes import move_from
from nodes.move import Call, Move
from tools.tool import Tool
from tools.toolbox import Toolbox

_OPENS = re.compile(r"[\[(（［【{｛]")
_INLINE = re.compile(r"\s(?:Action[ _]?Inputs?|Action[ _]Args|行动输入|动作输入)(?:\s?\d{1,6})?\s{0,4}[:：]", re.I)
_GLUED = re.compile(r"\s{0,4}[:：]\s{0,64}|\s{1,8}(?=[\"'“‘])|\s{0,8}[,，]\s{0,8}(?=[{｛\"'“‘])")


def action(text: str, given: str | None, toolbox: Toolbox, *, truncated: bool = False) -> Read:
    """The move of one action; `given` is what stood under an input label after it, `truncated` cut the last of both.

    Raises:
        FormatError: the action cannot be read.
    """
    cut_here = truncated and given is None
    text = _undressed(text)
    if not text:
        raise faults.truncated() if cut_here else faults.missing_name()
    if text[0] in "{｛" or re.match(r"[\[［]\s*[{｛]", text):
        return _object(text, given, toolbox, cut_here)
    if (calls := several(text, toolbox)) is not None:
        return Read(Move(calls=calls))
    line = text.partition("\n")[0]
    if given is None and (inline := _INLINE.search(line)) and not _OPENS.search(line, 0, inline.start()):
        text, given = line[: inline.start()], text[inline.end() :]
        line, cut_here = text, False
    opens = _OPENS.search(line)
    whole = names.registered(line, toolbox)
    if opens and names.bare(line[: opens.start()]) and not (whole and line[opens.start() :].strip("()[] ")):
        return _bracketed(text, opens.start(), given, toolbox, truncated, cut_here)
    return Read(_plain(text, line, given, toolbox, truncated, cut_here))


def several(text: str, toolbox: Toolbox) -> tuple[Call, ...] | None:
    """`[a(), b(x=1)]`: a list of calls, if every name in it is registered exactly."""
    text = text.strip()
    end = brackets.closing(text, 0) if text[:1] == "[" else -1
    if end < 0 or text[end + 1 :].strip():
        return None
    calls = [_code(piece.strip(), toolbox) for piece in brackets.pieces(text[1:end])]
    if not calls or len(calls) > 16 or None in calls:
        return None
    return tuple(Call(tool.name, inputs.from_brackets(tool, inner)) for tool, inner in filter(None, calls))


def single(text: str, toolbox: Toolbox) -> Call | None:
    """`search("x")` or `Search["x"]` and nothing else, if the name is registered exactly."""
    found = _code(text.strip(), toolbox)
    return Call(found[0].name, inputs.from_brackets(*found)) if found else None


def _code(text: str, toolbox: Toolbox) -> tuple[Tool, str] | None:
    opens = _OPENS.search(text[:200])
    if opens is None or opens[0] not in brackets.OPENERS or text[: opens.start()] not in toolbox:
        return None
    end = brackets.closing(text, opens.start())
    return (toolbox[text[: opens.start()]], text[opens.start() + 1 : end]) if end == len(text) - 1 else None


def _undressed(text: str) -> str:
    text, _ = unfenced(text)
    if text.startswith(("`", "*")):
        text = text.lstrip("`* ").rstrip("`* \n")
    return text.strip()


def _object(text: str, given: str | None, toolbox: Toolbox, truncated: bool) -> Read:
    try:
        value, end = first(text, truncated=truncated)
    except Unreadable as error:
        raise faults.truncated() if error.cut and truncated else faults.bad_shape(str(error)) from error
    move = move_from(value, toolbox)
    if move is None:
        raise faults.bad_shape("the object does not say which tool")
    return Read(move, text[end:])


def _bracketed(text: str, at: int, given: str | None, toolbox: Toolbox, truncated: bool, cut_here: bool) -> Read:
    name = text[:at]
    if text[at] in "{｛":
        tool = names.tool_named(name, toolbox)
        return Read(_call(tool, inputs.from_input(tool, text[at:], truncated=cut_here)))
    if names.finishes(name, toolbox):
        return finish(text[at:], truncated=cut_here)
    tool = names.tool_named(name, toolbox)
    end = brackets.closing(text, at)
    if end < 0:
        if cut_here:
            raise faults.truncated()
        inner, rest = unclosed(text[at + 1 :].partition("\n")[0]), ""
    else:
        inner, rest = text[at + 1 : end], text[end + 1 :]
    if given is None and label_at(rest, 0) == "input":
        given, rest = rest.partition(":")[2] or rest.partition("：")[2], ""
    if given is not None and (not inner.strip() or _placeholder(inner, tool)):
        return Read(_call(tool, inputs.from_input(tool, given, truncated=truncated)), rest)
    return Read(_call(tool, inputs.from_brackets(tool, inner)), rest)


def _call(tool: Tool, args: dict[str, Any]) -> Move:
    return Move(calls=(Call(tool.name, args),))


def _placeholder(inner: str, tool: Tool) -> bool:
    """The parameters' names where their values belong, copied from the manual."""
    return all(piece.strip(" \"'") in tool.parameters for piece in brackets.pieces(inner))


def _plain(text: str, line: str, given: str | None, toolbox: Toolbox, truncated: bool, cut_here: bool) -> Move:
    name, more = line, text[len(line) :]
    tool = names.registered(line, toolbox)
    glued = _GLUED.search(line)
    if glued and tool is None and (names.finishes(line[: glued.start()], toolbox) or given is None):
        name, more = line[: glued.start()], line[glued.end() :] + more
    if names.finishes(name, toolbox):
        return finish_plain(given if given is not None else more, truncated)
    if given is None and name is line and not _block(more):
        more = ""
    tool = tool or names.tool_named(name if name is line or names.registered(name, toolbox) else line, toolbox)
    if given is None and not more.strip():
        if cut_here:
            raise faults.truncated()
        return _call(tool, inputs.nothing(tool))
    source = given if given is not None else more
    if not source.strip() and truncated:
        raise faults.truncated()
    return _call(tool, inputs.from_input(tool, source, truncated=truncated))


def _block(more: str) -> bool:
    """Lines under the name that are an input without a label: an object or a code fence."""
    return more.lstrip().startswith(("{", "｛", "```", "~~~"))
