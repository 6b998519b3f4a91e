"""The JSON Schema of one turn, in the subset that OpenAI's strict mode and llama.cpp's grammars both enforce."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from tools.tool import Tool
from tools.toolbox import Toolbox

FINISH = "finish"
_KEPT = ("type", "description", "enum", "const", "pattern", "minimum", "maximum", "minItems", "maxItems")
_TEXT = {"type": "string"}
_ANSWER = {
    "type": "object",
    "properties": {"answer": _TEXT},
    "required": ["answer"],
    "additionalProperties": False,
}


class _Open(Exception):
    """A schema holds something that strict mode cannot express."""


@lru_cache(maxsize=64)
def turn(toolbox: Toolbox) -> tuple[dict[str, Any], bool]:
    """The schema of a turn, and whether strict mode can enforce it.

    The root is a plain object: strict mode refuses a choice there, so the choice is between the arguments.
    """
    defined: dict[str, Any] = {}
    strict = True
    variants = []
    for tool in toolbox.values():
        try:
            variants.append(_arguments(tool, defined))
        except _Open:
            variants.append({"type": "object"})
            strict = False
    names = [*toolbox, *([] if toolbox.find(FINISH) else [FINISH])]
    properties = {
        "thought": _TEXT,
        "action": {"type": "string", "enum": names},
        "args": _either([*variants, _ANSWER]),
    }
    schema = _closed(properties)
    return ({**schema, "$defs": defined} if defined else schema), strict


def _either(variants: list[dict[str, Any]]) -> dict[str, Any]:
    different: list[dict[str, Any]] = []
    for variant in variants:
        if variant not in different:
            different.append(variant)
    return different[0] if len(different) == 1 else {"anyOf": different}


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _arguments(tool: Tool, defined: dict[str, Any]) -> dict[str, Any]:
    prefix = f"{tool.name}_"
    own = {prefix + name: _strict(about, prefix) for name, about in tool.schema.get("$defs", {}).items()}
    made = _object(tool.schema, prefix)
    defined |= own
    return made


def _object(schema: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """All properties, in strict mode every one of them required: an optional one may be null instead."""
    if schema.get("additionalProperties"):
        raise _Open
    required = set(schema.get("required", ()))
    properties = {}
    for name, about in schema.get("properties", {}).items():
        made = _strict(about, prefix)
        properties[name] = made if name in required or nullable(about) else {"anyOf": [made, {"type": "null"}]}
    return _closed(properties)


def _strict(about: Any, prefix: str) -> dict[str, Any]:
    if not isinstance(about, Mapping) or {"allOf", "not", "if", "prefixItems", "patternProperties"} & set(about):
        raise _Open
    if "$ref" in about:
        return {"$ref": str(about["$ref"]).replace("#/$defs/", f"#/$defs/{prefix}")}
    if choice := about.get("anyOf") or about.get("oneOf"):
        return {"anyOf": [_strict(one, prefix) for one in choice]}
    kept = {key: about[key] for key in _KEPT if key in about}
    if about.get("type") == "object":
        if "properties" not in about:
            raise _Open
        return kept | _object(about, prefix)
    if about.get("type") == "array":
        return kept | {"items": _strict(about.get("items"), prefix)}
    if not {"type", "enum", "const"} & set(kept):
        raise _Open
    return kept


def nullable(about: Any) -> bool:
    """Whether a parameter takes null as a value."""
    if not isinstance(about, Mapping):
        return False
    kinds = about.get("type", ())
    if kinds == "null" or "null" in kinds or None in about.get("enum", ()):
        return True
    return any(map(nullable, [*about.get("anyOf", ()), *about.get("oneOf", ())]))
