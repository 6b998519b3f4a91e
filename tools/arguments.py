"""Arguments of a call: from what a model wrote to what the tool's schema wants."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from tools.coercion import TYPES, branches, coerced, wanted_types
from tools.storable import DEEP, storable
from tools.tool import Tool
from tools.toolbox import normal

_SCHEMA_KEYS = {"type", "description", "title", "format", "enum", "default", "items", "properties", "anyOf", "required"}

PLAIN: dict[str, type] = {"string": str, "integer": int, "boolean": bool}
PLAIN_KEYS = {"type", "title", "description", "default"}
PLAIN_ROOT = {"type", "properties", "required", "title", "description", "additionalProperties", "$schema"}
"""Schemas of these words alone are checked at a glance; `_named` has seen to names, `coerce` to what is missing."""

# Schemas are not hashable; the schema kept beside its validator keeps the id from being given to another one.
_checks: dict[int, tuple[Mapping[str, Any], Any]] = {}


class InvalidArguments(ValueError):
    """Arguments that do not fit the tool; the message names the parameter and shows what is wanted."""


def coerce(tool: Tool, args: Mapping[str, Any]) -> dict[str, Any]:
    """`args` with each value brought to the type its schema wants, and checked.

    A text becomes a number, a boolean, a list or an object only where the schema wants that and not a text; a number
    becomes a text where a text is wanted. An optional parameter given as null is left out.

    Raises:
        InvalidArguments: they do not fit, and cannot be made to without guessing.
    """
    if not isinstance(args, Mapping):
        raise _wrong(tool, f"the arguments must be an object, not {_shown(args)}")
    named = _named(tool, args)
    fitted: dict[str, Any] = {}
    for name, value in named.items():
        about = tool.parameters.get(name, {})
        if value is None and name not in tool.required and "null" not in wanted_types(about, tool.schema):
            continue
        _refuse_echo(tool, name, value, about)
        fitted[name] = coerced(value, about, tool.schema)
    missing = [name for name in tool.required if name not in fitted]
    if missing:
        raise _wrong(tool, f"{_listed(missing)} missing")
    _check(tool, fitted)
    if not storable(fitted):
        raise _wrong(tool, f"they hold a number of more than 64 bits, or more than {DEEP} levels")
    return fitted


def positional(tool: Tool, values: list[Any]) -> dict[str, Any]:
    """Values without names, given to the parameters in the order of the schema, and coerced.

    Raises:
        InvalidArguments: more values than parameters, or they do not fit.
    """
    names = list(tool.parameters)
    if len(values) > len(names):
        raise _wrong(tool, f"{len(values)} values were given and it takes {len(names)}")
    return coerce(tool, dict(zip(names, values, strict=False)))


def plain(tool: Tool, text: str) -> dict[str, Any]:
    """Plain text as the one input of a tool with exactly one required parameter, or a single one; coerced.

    Raises:
        InvalidArguments: the tool takes several parameters, or none, or the text does not fit.
    """
    name = sole_parameter(tool)
    if name is None:
        raise _wrong(tool, "the input must be a JSON object with its parameters by name")
    return coerce(tool, {name: text})


def sole_parameter(tool: Tool) -> str | None:
    """The parameter that plain text goes to, if there is no doubt which."""
    required = tool.required
    if len(required) == 1:
        return required[0]
    names = list(tool.parameters)
    return names[0] if len(names) == 1 else None


def signature(tool: Tool) -> str:
    """The tool's parameters as a model can read them at a glance: `add(a: integer, b?: integer)`."""
    parts = []
    for name, about in tool.parameters.items():
        wanted = _choices(about, tool.schema) or "|".join(wanted_types(about, tool.schema)) or "any"
        parts.append(f"{name}{'' if name in tool.required else '?'}: {wanted}")
    shown = f"{tool.name}({', '.join(parts)})"
    return shown if len(shown) <= 400 else f"{shown[:399]}…"


def _wrong(tool: Tool, what: str) -> InvalidArguments:
    return InvalidArguments(f"Wrong arguments for {tool.name}: {what}. It takes {signature(tool)}.")


def _listed(names: list[str]) -> str:
    return f"{', '.join(names)} {'is' if len(names) == 1 else 'are'}"


def _shown(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=True, default=str)
    except (ValueError, RecursionError):
        text = type(value).__name__
    return text if len(text) <= 60 else f"{text[:59]}…"


def _named(tool: Tool, args: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments under the schema's own names; a name that differs in case or separators alone is meant."""
    open_ended = bool(tool.schema.get("additionalProperties")) or "patternProperties" in tool.schema
    named: dict[str, Any] = {}
    for given, value in args.items():
        name = given if given in tool.parameters else _alike(tool, str(given))
        if name is None and not open_ended:
            raise _wrong(tool, f"it has no parameter {_shown(given)}")
        name = str(given) if name is None else name
        if name in named:
            raise _wrong(tool, f"{name} was given twice")
        named[name] = value
    return named


def _alike(tool: Tool, given: str) -> str | None:
    if len(given) > 128:
        return None
    alike = [name for name in tool.parameters if normal(name) == normal(given)]
    return alike[0] if len(alike) == 1 else None


def _refuse_echo(tool: Tool, name: str, value: Any, about: Any) -> None:
    """A piece of the schema given back as the value is no value."""
    if not isinstance(value, Mapping) or "type" not in value or not set(value) <= _SCHEMA_KEYS:
        return
    declared = about.get("properties", {}) if isinstance(about, Mapping) else {}
    if "type" not in declared and (len(value) > 1 or value["type"] in TYPES):
        raise _wrong(tool, f"{name} holds a piece of the schema instead of a value")


def _choices(about: Any, root: Mapping[str, Any]) -> str:
    values = [value for branch in branches(about, root) for value in branch.get("enum", ())]
    return "|".join(_shown(value) for value in values[:12])


def _check(tool: Tool, args: dict[str, Any]) -> None:
    if _plainly_right(tool, args):
        return
    try:
        found = next(_validator(tool).iter_errors(args), None)
    except Exception as error:
        # A schema with a reference that leads nowhere or a pattern that is none: the tool's fault, told as such.
        raise InvalidArguments(f"The schema of {tool.name} cannot be used: {type(error).__name__}.") from error
    if found is not None:
        raise _wrong(tool, _fault(found))


def _plainly_right(tool: Tool, args: dict[str, Any]) -> bool:
    """Whether every value is of the one type that a plain schema asks for; then there is nothing more to check."""
    for name, value in args.items():
        about = tool.parameters.get(name)
        if not isinstance(about, Mapping) or not PLAIN_KEYS.issuperset(about):
            return False
        kind = about.get("type")
        if not isinstance(kind, str) or type(value) is not PLAIN.get(kind):
            return False
    return PLAIN_ROOT.issuperset(tool.schema)


def _fault(found: Any) -> str:
    path = ".".join(str(part) for part in found.absolute_path) or "the arguments"
    if found.validator == "type":
        kinds = found.validator_value
        wanted = kinds if isinstance(kinds, str) else " or ".join(kinds)
        return f"{path} must be of type {wanted}, not {_shown(found.instance)}"
    if found.validator == "enum":
        choices = ", ".join(_shown(value) for value in found.validator_value[:12])
        return f"{path} must be one of {choices}, not {_shown(found.instance)}"
    if found.validator in ("anyOf", "oneOf"):
        return f"{path} does not fit, it was {_shown(found.instance)}"
    message = str(found.message)
    return f"{path}: {message if len(message) <= 160 else message[:159] + '…'}"


def _validator(tool: Tool) -> Any:
    known = _checks.get(id(tool.schema))
    if known is None:
        from jsonschema import Draft202012Validator

        if len(_checks) >= 1024:
            _checks.clear()
        known = _checks[id(tool.schema)] = (tool.schema, Draft202012Validator(cast(dict[str, Any], tool.schema)))
    return known[1]
