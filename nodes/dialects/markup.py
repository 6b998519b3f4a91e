"""Calls in the markup of chat templates: `<tool_call>`, `<function=…>`, `<invoke …>`, `[TOOL_CALLS]` and relatives."""

from __future__ import annotations

import re
from dataclasses import dataclass

from nodes.dialects import faults, inputs, names
from nodes.dialects.objects import Unreadable, first
from nodes.dialects.shapes import joined, move_from
from nodes.move import Call, CallError, FormatError, Move
from tools.toolbox import Toolbox

_OPENS = re.compile(
    r"<(?:\w{1,20}:)?(?:tool_?calls?|function_?calls?)>|<function=|<invoke\s|<\|tool_calls?(?:_section)?(?:_begin)?\|?>"
    r"|<\|python_(?:start|tag)\|>|\[TOOL_CALLS\]|<｜tool▁calls?▁begin｜>|<\|tool▁calls?▁begin\|>",
    re.I,
)
_CLOSES = re.compile(
    r"</(?:\w{1,20}:)?(?:tool_?calls?|function_?calls?|function|invoke)>|<\|?/?(?:tool_call|tool_calls|tool_call_end|"
    r"tool_calls_section_end)\|>|<\|/tool_calls?\|?>|<\|python_end\|>|\[/TOOL_CALLS\]|<｜tool▁calls?▁end｜>",
    re.I,
)
_RESULT = re.compile(r"<\|?/?(?:tool_response|tool_result|tool_output|function_results?|observation)\b", re.I)
_NAMED = re.compile(r"<?(?:function=|invoke\s+name=)\s*[\"']?([^\s\"'<>]{1,200})[\"']?\s*>")
_VALUE = re.compile(
    r"<parameter(?:\s+name)?=[\"']?(?P<name>[^\s\"'<>]{1,200})[\"']?[^<>]{0,200}>"
    r"|<arg_key>(?P<key>[^<]{1,200})</arg_key>\s{0,64}<arg_value>"
)
_INNER_NAME = re.compile(r"<(?:name|tool_name|function)>([^<]{1,200})</(?:name|tool_name|function)>")
_INNER_ARGS = re.compile(r"<(?:arguments|args|parameters|input)>")
_INNER_TAG = re.compile(r"<([\w.-]{1,128})>")
_HEAD = re.compile(
    r"(?:function\s*<｜tool▁sep｜>|call:)?\s*(?:functions\.)?([\w.-]{1,128}?)(?::\d{1,6})?\s*"
    r"(?:\[ARGS\]|<\|tool_call_argument_begin\|>|<\|tool▁sep\|>|```json|<｜tool▁sep｜>|(?=<arg_key>)|\s)*"
    r"(?=[{｛]|<arg_key>|\Z)"
)


@dataclass(frozen=True)
class Marked:
    """The calls of a text, what stood before the first, and what after the last."""

    before: str
    move: Move
    after: str


def opening(text: str) -> int:
    """Where the first markup of a call starts, -1 if there is none; quoted in backticks it is none."""
    for opens in _OPENS.finditer(text):
        if text[opens.start() - 1 : opens.start()] not in ("`", '"', "'"):
            return opens.start()
    return -1


def marked(text: str, at: int, toolbox: Toolbox, *, truncated: bool = False) -> Marked:
    """All calls from the markup at `at` on, up to a tool's result that the model invented.

    Raises:
        FormatError: none of the calls can be read.
    """
    result = _RESULT.search(text, at)
    end = result.start() if result else len(text)
    moves: list[Move] = []
    errors: list[CallError] = []
    first_error: FormatError | None = None
    place = at
    while opens := _OPENS.search(text, place, end):
        start = opens.start() if opens[0][:5].lower() in ("<func", "<invo") and opens[0][-1] != ">" else opens.end()
        try:
            found, place = _block(text, start, end, toolbox, truncated and result is None)
            moves += found
            # Markup that opens and is nothing more must not be looked at for ever.
            place = max(place, opens.end())
        except FormatError as error:
            if error.kind in ("truncated", "invalid_call_shape"):
                raise
            first_error = first_error or error
            errors.append(CallError("", "", error.kind, error.sentence))
            place = _past(text, start, end)
    if not moves and first_error is None:
        raise faults.truncated() if truncated else faults.bad_shape("there is no call between the tags")
    return Marked(text[:at].strip(), joined(moves, errors, first_error), text[place:])


def _past(text: str, start: int, end: int) -> int:
    closes = _CLOSES.search(text, start, end)
    return closes.end() if closes else end


def _block(text: str, start: int, end: int, toolbox: Toolbox, truncated: bool) -> tuple[list[Move], int]:
    """The calls of one block that starts at `start`, and where it ends; a block that only wraps others has none."""
    while start < end and text[start].isspace():
        start += 1
    if text[start : start + 3] == "```":
        start = text.find("\n", start, end) + 1 or end
    if text[start : start + 1] in ("{", "[", "｛") and start < end:
        return _objects(text[:end], start, toolbox, truncated)
    if _OPENS.match(text, start, end) and not _NAMED.match(text, start, end):
        return [], start
    closes = _CLOSES.search(text, start, end)
    body = text[start : closes.start() if closes else end]
    place = closes.end() if closes else end
    if not body.strip() or _OPENS.match(body) and not _NAMED.match(body):
        return [], start if _OPENS.match(body) else place
    if closes is None and truncated:
        raise faults.truncated()
    return [_tagged(body, toolbox)], place


def _objects(text: str, start: int, toolbox: Toolbox, truncated: bool) -> tuple[list[Move], int]:
    moves: list[Move] = []
    while start < len(text) and text[start] in "{[｛":
        try:
            value, start = first(text, start, truncated=truncated)
        except Unreadable as error:
            raise faults.truncated() if error.cut and truncated else faults.bad_shape(str(error)) from error
        move = move_from(value, toolbox)
        if move is None:
            raise faults.bad_shape("the object does not say which tool")
        moves.append(move)
        while start < len(text) and text[start] in " \t\r\n,;":
            start += 1
    return moves, start


def _tagged(body: str, toolbox: Toolbox) -> Move:
    """One call whose name and arguments are told by tags."""
    name, rest = _name(body, toolbox)
    tool = names.tool_named(name, toolbox)
    values = _values(rest)
    if values or not rest.strip():
        return Move(calls=(Call(tool.name, inputs.from_value(tool, values or None)),))
    args = _INNER_ARGS.search(rest)
    rest = rest[args.end() :] if args else rest
    bare = re.sub(r"</[\w.-]{1,128}>\s*\Z", "", rest).strip()
    return Move(calls=(Call(tool.name, inputs.from_input(tool, bare)),))


def _name(body: str, toolbox: Toolbox) -> tuple[str, str]:
    for pattern in (_NAMED, _INNER_NAME):
        if found := pattern.search(body[:600]):
            return found[1], body[found.end() :]
    tag = _INNER_TAG.match(body)
    if tag and tag[1] in toolbox:
        return tag[1], body[tag.end() :].rstrip().removesuffix(f"</{tag[1]}>")
    head = _HEAD.match(body.strip())
    if head is None:
        raise faults.bad_shape("no tool is named between the tags")
    return head[1], body.strip()[head.end() :].removesuffix("```")


def _values(text: str) -> dict[str, str]:
    """Parameters between tags of their own: texts, and only the line breaks around them are not theirs."""
    values: dict[str, str] = {}
    place = 0
    while tag := _VALUE.search(text, place):
        closer = "</parameter>" if tag["name"] else "</arg_value>"
        end = text.find(closer, tag.end())
        name = (tag["name"] or tag["key"]).strip()
        if end < 0 or name in values:
            raise faults.bad_shape(
                f"the parameter {faults.shown(name)} {'is not closed' if end < 0 else 'stands twice'}"
            )
        values[name] = text[tag.end() : end].removeprefix("\n").removesuffix("\n")
        place = end + len(closer)
    return values


def channelled(
    parts: list[tuple[str, str]], toolbox: Toolbox, *, truncated: bool = False
) -> tuple[list[Move], str, str]:
    """The calls, the words meant to be seen, and the reasoning of a reply in channels."""
    calls: list[Move] = []
    visible: list[str] = []
    reasoning: list[str] = []
    for head, message in parts:
        to = re.search(r"to=(?:functions\.)?([^\s<]{1,200})", head)
        if to:
            tool = names.tool_named(to[1], toolbox)
            args = inputs.from_input(tool, message, truncated=truncated) if message.strip() else inputs.nothing(tool)
            calls.append(Move(calls=(Call(tool.name, args),)))
        else:
            (reasoning if head.startswith("analysis") else visible).append(message.strip())
    return calls, "\n".join(visible), "\n".join(reasoning)
