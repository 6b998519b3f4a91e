"""One value, turned into what a schema wants: text into numbers, lists and objects, and nothing that loses meaning."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

_INTEGER = re.compile(r"[+-]?\d{1,4000}(\.0+)?")
_NUMBER = re.compile(r"[+-]?(\d{1,400}(\.\d{0,400})?|\.\d{1,400})([eE][+-]?\d{1,3})?")
_BOOLEANS = {"true": True, "false": False}
_NULLS = {"null", "none"}
TYPES: dict[str, tuple[type, ...]] = {
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


def wanted_types(about: Any, root: Mapping[str, Any]) -> list[str]:
    """The JSON types that a schema allows; empty where it does not say."""
    types: list[str] = []
    for branch in branches(about, root):
        given = branch.get("type", [])
        types += [given] if isinstance(given, str) else [one for one in given if isinstance(one, str)]
    return list(dict.fromkeys(types))


def branches(about: Any, root: Mapping[str, Any], hops: int = 0) -> Iterator[Mapping[str, Any]]:
    """The plain alternatives of a schema: local references followed, anyOf, oneOf and allOf opened."""
    if not isinstance(about, Mapping) or hops > _HOPS:
        return
    reference = about.get("$ref")
    if isinstance(reference, str):
        yield from branches(_referred(reference, root), root, hops + 1)
        return
    inner = [one for key in ("anyOf", "oneOf", "allOf") for one in about.get(key, ())]
    if not inner:
        yield about
    for one in inner[:_HOPS]:
        yield from branches(one, root, hops + 1)


def _referred(reference: str, root: Mapping[str, Any]) -> Any:
    if not reference.startswith("#"):
        return None
    found: Any = root
    for part in reference[1:].split("/")[1:]:
        found = found.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(found, Mapping) else None
    return found


def coerced(value: Any, about: Any, root: Mapping[str, Any], depth: int = 0) -> Any:
    """`value` as the schema `about`, part of the schema `root`, wants it; unchanged where that is not sure."""
    kinds = list(branches(about, root))
    wanted = wanted_types(about, root)
    if depth > _HOPS or not wanted:
        return value
    if not _is(value, wanted):
        value = _as_text(value, wanted) if not isinstance(value, str) else _from_text(value, wanted)
    fitting = next((one for one in kinds if _is(value, wanted_types(one, root))), {})
    if isinstance(value, list) and "items" in fitting:
        return [coerced(one, fitting["items"], root, depth + 1) for one in value]
    if isinstance(value, dict):
        inner = fitting.get("properties", {})
        return {key: coerced(one, inner.get(key), root, depth + 1) for key, one in value.items()}
    return value


def _is(value: Any, wanted: list[str]) -> bool:
    if isinstance(value, bool):
        return "boolean" in wanted
    return any(isinstance(value, TYPES.get(kind, ())) for kind in wanted)


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
