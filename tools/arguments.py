"""Arguments of a call: from what a model wrote to what the tool's schema wants."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from tools.tool import Tool
from tools.toolbox import normal

_INTEGER = re.compile(r"[+-]?\d{1,4000}(\.0+)?")
_NUMBER = re.compile(r"[+-]?(\d{1,400}(\.\d{0,400})?|\.\d{1,400})([eE][+-]?\d{1,3})?")
_BOOLEANS = {"true": True, "false": False}
_NULLS = {"null", "none"}
_SCHEMA_KEYS = {"type", "description", "title", "format", "enum", "default", "items", "properties", "anyOf", "required"}
_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}
_HOPS = 32
"""How far `$ref` is followed, and how deep values are looked into."""

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
    coerced: dict[str, Any] = {}
    for name, value in named.items():
        about = tool.parameters.get(name, {})
        if value is None and name not in tool.required and "null" not in _wanted(about, tool.schema):
            continue
        _refuse_echo(tool, name, value, about)
        coerced[name] = _coerced(value, about, tool.schema)
    missing = [name for name in tool.required if name not in coerced]
    if missing:
        raise _wrong(tool, f"{_listed(missing)} missing")
    _check(tool, coerced)
    return coerced


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
        wanted = _choices(about, tool.schema) or "|".join(_wanted(about, tool.schema)) or "any"
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
    if "type" not in declared and (len(value) > 1 or value["type"] in _TYPES):
        raise _wrong(tool, f"{name} holds a piece of the schema instead of a value")


def _wanted(about: Any, root: Mapping[str, Any]) -> list[str]:
    """The JSON types that a schema allows; empty where it does not say."""
    types: list[str] = []
    for branch in _branches(about, root):
        given = branch.get("type", [])
        types += [given] if isinstance(given, str) else [one for one in given if isinstance(one, str)]
    return list(dict.fromkeys(types))


def _choices(about: Any, root: Mapping[str, Any]) -> str:
    values = [value for branch in _branches(about, root) for value in branch.get("enum", ())]
    return "|".join(_shown(value) for value in values[:12])


def _branches(about: Any, root: Mapping[str, Any], hops: int = 0) -> Iterator[Mapping[str, Any]]:
    """The plain alternatives of a schema: local references followed, anyOf, oneOf and allOf opened."""
    if not isinstance(about, Mapping) or hops > _HOPS:
        return
    reference = about.get("$ref")
    if isinstance(reference, str):
        yield from _branches(_referred(reference, root), root, hops + 1)
        return
    inner = [one for key in ("anyOf", "oneOf", "allOf") for one in about.get(key, ())]
    if not inner:
        yield about
    for one in inner[:_HOPS]:
        yield from _branches(one, root, hops + 1)


def _referred(reference: str, root: Mapping[str, Any]) -> Any:
    if not reference.startswith("#"):
        return None
    found: Any = root
    for part in reference[1:].split("/")[1:]:
        found = found.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(found, Mapping) else None
    return found


def _coerced(value: Any, about: Any, root: Mapping[str, Any], depth: int = 0) -> Any:
    branches = list(_branches(about, root))
    wanted = _wanted(about, root)
    if depth > _HOPS or not wanted:
        return value
    if not _is(value, wanted):
        value = _as_text(value, wanted) if not isinstance(value, str) else _from_text(value, wanted)
    fitting = next((one for one in branches if _is(value, _wanted(one, root))), {})
    if isinstance(value, list) and "items" in fitting:
        return [_coerced(one, fitting["items"], root, depth + 1) for one in value]
    if isinstance(value, dict):
        inner = fitting.get("properties", {})
        return {key: _coerced(one, inner.get(key), root, depth + 1) for key, one in value.items()}
    return value


def _is(value: Any, wanted: list[str]) -> bool:
    if isinstance(value, bool):
        return "boolean" in wanted
    return any(isinstance(value, _TYPES.get(kind, ())) for kind in wanted)


def _as_text(value: Any, wanted: list[str]) -> Any:
    """A number or boolean where a text is wanted, a whole number written with a point."""
    if isinstance(value, float) and "integer" in wanted and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if "string" in wanted and isinstance(value, (bool, int, float)):
        return _digits(value)
    return value


def _digits(value: bool | int | float) -> Any:
    try:
        return json.dumps(value)
    except ValueError:
        # More digits than Python turns into text.
        return value


def _from_text(text: str, wanted: list[str]) -> Any:
    """A text where no text is wanted, read as what is."""
    bare = text.strip()
    if "integer" in wanted and _INTEGER.fullmatch(bare):
        return int(bare.partition(".")[0])
    if "number" in wanted and _NUMBER.fullmatch(bare):
        return int(bare) if _INTEGER.fullmatch(bare) and "." not in bare else float(bare)
    if "boolean" in wanted and bare.casefold() in _BOOLEANS:
        return _BOOLEANS[bare.casefold()]
    if "null" in wanted and bare.casefold() in _NULLS:
        return None
    if "object" in wanted or "array" in wanted:
        value = _decoded(bare)
        return value if _is(value, [kind for kind in wanted if kind in ("object", "array")]) else text
    return text


def _decoded(text: str) -> Any:
    """The list or object that a text holds, as JSON or as a Python literal; None if it holds none."""
    if not text.startswith(("{", "[")) or len(text) > 32_768:
        return None
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_refused)
    except KeyError:
        return None
    except (ValueError, RecursionError):
        pass
    if "\\" in text:
        # Python warns of escapes it does not know, and reads others differently.
        return None
    try:
        tree = ast.parse(text, mode="eval")
        value = None if any(map(_repeats, ast.walk(tree))) else ast.literal_eval(tree)
        return json.loads(json.dumps(value, allow_nan=False))
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None


def _repeats(node: ast.AST) -> bool:
    keys = [one.value for one in node.keys if isinstance(one, ast.Constant)] if isinstance(node, ast.Dict) else []
    return len(set(keys)) != len(keys)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise KeyError("a key stands twice")
    return made


def _refused(constant: str) -> Any:
    raise KeyError(f"{constant} is not JSON")


def _check(tool: Tool, args: dict[str, Any]) -> None:
    try:
        found = next(_validator(tool).iter_errors(args), None)
    except Exception as error:
        # A schema with a reference that leads nowhere or a pattern that is none: the tool's fault, told as such.
        raise InvalidArguments(f"The schema of {tool.name} cannot be used: {type(error).__name__}.") from error
    if found is not None:
        raise _wrong(tool, _fault(found))


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
