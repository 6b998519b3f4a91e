"""The JSON Schema of a Python type, and whether JSON's own values are of that type already."""

from __future__ import annotations

import inspect
import types
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Union, get_args, get_origin

_NAMES: dict[Any, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    dict: "object",
    list: "array",
    Mapping: "object",
    type(None): "null",
}
_ANYTHING = (Any, object, inspect.Parameter.empty)


def about(kind: Any) -> dict[str, Any]:
    """The JSON Schema of a type, without pydantic's titles; words in `Annotated` describe it.

    Raises:
        Exception: pydantic's own, for a type that no JSON can be.
    """
    simple = _simple(kind)
    if simple is not None:
        return simple
    from pydantic import TypeAdapter

    words = [each for each in getattr(kind, "__metadata__", ()) if isinstance(each, str)]
    made = {key: value for key, value in TypeAdapter(kind).json_schema().items() if key != "title"}
    return made | ({"description": words[0]} if words and "description" not in made else {})


def is_json(kind: Any) -> bool:
    """Whether a value as JSON gives it is of this type as it stands."""
    origin = get_origin(kind)
    if origin is None:
        return kind in _ANYTHING or kind in _NAMES
    if origin is Literal:
        return True
    if origin is Annotated:
        described = all(isinstance(each, str) or is_field(each) for each in kind.__metadata__)
        return described and is_json(kind.__origin__)
    return origin in (list, dict, Mapping, Union, types.UnionType) and all(map(is_json, get_args(kind)))


def is_field(thing: Any) -> bool:
    """Whether something is pydantic's `Field(…)`, told without importing pydantic."""
    return type(thing).__name__ == "FieldInfo" and type(thing).__module__.startswith("pydantic")


def _simple(kind: Any) -> dict[str, Any] | None:
    """The schema of a type that needs no library, which would cost a third of a second to import."""
    origin, args = get_origin(kind), get_args(kind)
    if origin is None:
        return {} if kind in _ANYTHING else {"type": _NAMES[kind]} if kind in _NAMES else None
    if origin is Literal and all(isinstance(each, str) for each in args):
        return {"type": "string", "enum": list(args)}
    if origin is Annotated and all(isinstance(each, str) for each in kind.__metadata__):
        plain = _simple(kind.__origin__)
        return None if plain is None else plain | {"description": kind.__metadata__[0]}
    inner = [made for each in args if (made := _simple(each)) is not None]
    if len(inner) < len(args):
        return None
    if origin in (Union, types.UnionType):
        return {"anyOf": inner}
    if origin is list:
        return {"type": "array", "items": inner[0]}
    return {"type": "object", "additionalProperties": inner[1] or True} if origin is dict and args[0] is str else None
