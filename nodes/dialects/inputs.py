"""The arguments of a known tool, from whatever was written for them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from nodes.dialects import brackets, faults
from nodes.dialects.by_line import by_line
from nodes.dialects.fences import unfenced
from nodes.dialects.objects import Unreadable, first
from nodes.dialects.sizes import LARGEST, small, too_large
from tools.arguments import InvalidArguments, coerce, plain, positional, sole_parameter
from tools.tool import Tool

_NONE = {"", "none", "null", "nil", "n/a", "na", "无", "{}", "()", "[]", "-"}
_JSON_LIKE = re.compile(r"[{｛]\s*(?:[\"“‘＂]|'[^']{0,128}'\s*[:：]|[\w.$-]{1,128}\s*[:：]\s*[\"'“‘{\[\d])")
_WRAPPED = re.compile(r"[^\W\d][\w.-]{0,63}\s{0,8}\(\s{0,8}(?=[{｛])")
_INVENTED = re.compile(r"\s(?:Observation|观察结果|观察)(?:\s?\d{1,6})?\s?[:：]")


def from_value(tool: Tool, value: Any) -> dict[str, Any]:
    """Arguments given as a JSON value: an object by name, a list by position, one value for the only parameter.

    Raises:
        FormatError: they do not fit the tool.
    """
    if value is None or value == "" or isinstance(value, str) and not value.strip():
        return nothing(tool)
    try:
        return small(tool, _fitted(tool, value))
    except InvalidArguments as error:
        raise faults.wrong_arguments(error) from error


def nothing(tool: Tool) -> dict[str, Any]:
    """No arguments, for a tool that needs none.

    Raises:
        FormatError: it needs some.
    """
    if tool.required:
        raise faults.missing_input(tool)
    return {}


def from_input(tool: Tool, text: str, *, truncated: bool = False) -> dict[str, Any]:
    """Arguments written under a label of their own: JSON, code in a fence, lines by name, or plain text.

    Raises:
        FormatError: they do not fit the tool, or `truncated` cut them.
    """
    if len(text) > LARGEST:
        raise faults.wrong_arguments(too_large(tool))
    text, fenced = unfenced(text)
    if len(text) < 8 and text.strip().lower() in _NONE:
        return nothing(tool)
    try:
        return small(tool, _from_input(tool, text, fenced, truncated))
    except InvalidArguments as error:
        raise faults.wrong_arguments(error) from error


def from_brackets(tool: Tool, inner: str) -> dict[str, Any]:
    """Arguments written in the brackets of a call: JSON, `a="x", n=3`, by position, or plain text.

    Raises:
        FormatError: they do not fit the tool.
    """
    if len(inner) > LARGEST:
        raise faults.wrong_arguments(too_large(tool))
    inner = inner.strip()
    if not inner or (len(inner) < 8 and inner.lower() in _NONE and not tool.required):
        return nothing(tool)
    try:
        return small(tool, _from_brackets(tool, inner))
    except InvalidArguments as error:
        raise faults.wrong_arguments(error) from error


def _fitted(tool: Tool, value: Any) -> dict[str, Any]:
    sole = sole_parameter(tool)
    if isinstance(value, Mapping):
        whole = sole is not None and value and not set(value) & set(tool.parameters) and _takes(tool, sole, "object")
        return coerce(tool, {str(sole): value} if whole else value)
    if isinstance(value, list):
        return coerce(tool, {sole: value}) if sole and _takes(tool, sole, "array") else positional(tool, value)
    if not isinstance(value, str):
        return positional(tool, [value])
    if found := _object_in(tool, value):
        return coerce(tool, found)
    return plain(tool, value) if sole else _from_brackets(tool, value.strip())


def _takes(tool: Tool, name: str, kind: str) -> bool:
    about = tool.parameters.get(name, {})
    return isinstance(about, Mapping) and kind in json.dumps(about.get("type", ""))


def _object_in(tool: Tool, text: str) -> dict[str, Any] | None:
    """The object that is the whole text, if its keys are the tool's parameters."""
    if not text.lstrip().startswith(("{", "｛")):
        return None
    try:
        value, end = first(text)
    except Unreadable:
        return None
    known = isinstance(value, dict) and value and set(value) <= set(tool.parameters)
    return value if known and not text[end:].strip() else None


def _from_input(tool: Tool, text: str, fenced: bool, truncated: bool) -> dict[str, Any]:
    sole = sole_parameter(tool)
    if text[0] in "{｛[［" and (found := _value(tool, text, truncated)) is not None:
        return _fitted(tool, found)
    if wrapped := _WRAPPED.match(text):
        found = _value(tool, text[wrapped.end() :], truncated)
        if isinstance(found, dict) and set(found) <= set(tool.parameters):
            return coerce(tool, found)
    if truncated and not fenced:
        raise faults.truncated()
    if by_name := by_line(tool, text):
        return coerce(tool, by_name)
    by_name = brackets.named(text, tool.parameters)
    if by_name and (sole is None or "\n" not in text and all(map(brackets.is_literal, _values(text)))):
        return coerce(tool, by_name)
    if sole:
        told = _INVENTED.search(text) if not fenced else None
        kept = text[: told.start()] if told else text
        return plain(tool, kept if fenced else brackets.unquoted(kept))
    return _several(tool, text, truncated)


def _values(text: str) -> list[str]:
    return [piece.partition("=")[2] for piece in brackets.pieces(text)]


def _several(tool: Tool, text: str, truncated: bool) -> dict[str, Any]:
    """Several parameters: an object after some words, or values by position."""
    at = min((place for mark in "{｛" if (place := text.find(mark)) >= 0), default=-1)
    if at > 0:
        found = _value(tool, text[at:], truncated)
        if isinstance(found, dict):
            return coerce(tool, found)
    values = brackets.pieces(text)
    if len(values) > 1 and all(map(brackets.is_literal, values)):
        return positional(tool, [brackets.literal(value) for value in values])
    return plain(tool, text)


def _value(tool: Tool, text: str, truncated: bool) -> Any:
    """The JSON value that the text begins with; None if it is plain text that only looks like one.

    Raises:
        FormatError: it is meant as JSON, and cannot be read.
    """
    sole = sole_parameter(tool)
    try:
        value, _ = first(text, truncated=truncated)
    except Unreadable as error:
        if error.cut and truncated:
            raise faults.truncated() from error
        if sole is not None and not _JSON_LIKE.match(text):
            return None
        raise faults.unreadable_input(tool, str(error)) from error
    if isinstance(value, list) and sole and not _takes(tool, sole, "array"):
        return None
    return value


def _from_brackets(tool: Tool, inner: str) -> dict[str, Any]:
    sole = sole_parameter(tool)
    if inner[0] in "{｛" and (found := _braced(tool, inner)) is not None:
        return _fitted(tool, found)
    if by_name := brackets.named(inner, tool.parameters):
        return coerce(tool, by_name)
    if sole and _takes(tool, sole, "array") and inner[0] not in "[［":
        inner = f"[{inner}]"
    values = brackets.pieces(inner) if len(tool.parameters) > 1 else []
    if sole and not (len(values) > 1 and all(map(brackets.is_literal, values))):
        return plain(tool, brackets.unquoted(inner))
    return positional(tool, [brackets.literal(value) for value in values or [inner]])


def _braced(tool: Tool, inner: str) -> Any:
    try:
        value, end = first(inner)
    except Unreadable as error:
        if sole_parameter(tool) is not None and not _JSON_LIKE.match(inner):
            return None
        raise faults.unreadable_input(tool, str(error)) from error
    return value if not inner[end:].strip() else None
