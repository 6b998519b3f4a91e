"""Arguments that a tool would plausibly take, made up from its schema for the examples of a prompt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nodes.dialects.brief import Language
from tools.tool import Tool

SUM, SUM_RESULT = "12 * 3", "36"

_WORDS: list[tuple[tuple[str, ...], str, str]] = [
    (("expression", "formula", "equation", "calculation"), SUM, SUM),
    (("url", "uri", "link"), "https://example.org/page", "https://example.org/page"),
    (("path", "file", "filename", "folder", "directory"), "notes.txt", "notes.txt"),
    (("email", "mail", "recipient"), "robin@example.org", "robin@example.org"),
    (("timezone", "zone", "tz"), "UTC", "UTC"),
    (("datetime", "timestamp"), "2030-01-02T12:00:00Z", "2030-01-02T12:00:00Z"),
    (("date", "day"), "2030-01-02", "2030-01-02"),
    (("city", "place", "location", "town"), "Sampleville", "示例市"),
    (("id", "order", "number", "code", "sku", "key"), "EX-01", "EX-01"),
    (("name", "person", "user", "who"), "Robin Sample", "示例用户"),
]
_TEXT = {"en": "Lake Sample", "zh": "示例湖"}
_FORMATS = {"date": "2030-01-02", "date-time": "2030-01-02T12:00:00Z", "email": "robin@example.org"}
_DEEP = 5


def arguments(tool: Tool, language: Language) -> dict[str, Any]:
    """What an example calls the tool with: its required parameters, or the first one where none is required."""
    names = tool.required or list(tool.parameters)[:1]
    return {name: _sample(name, tool.parameters.get(name, {}), language) for name in names}


def _sample(name: str, about: Any, language: Language, depth: int = 0) -> Any:
    if not isinstance(about, Mapping) or depth > _DEEP:
        return _text(name, {}, language)
    for given in (*_list(about, "examples"), *_list(about, "enum")):
        return given
    for key in ("const", "default"):
        if about.get(key) is not None:
            return about[key]
    for inner in (*_list(about, "anyOf"), *_list(about, "oneOf")):
        if isinstance(inner, Mapping) and inner.get("type") != "null":
            return _sample(name, inner, language, depth + 1)
    return _of_type(name, about, language, depth)


def _of_type(name: str, about: Mapping[str, Any], language: Language, depth: int) -> Any:
    kinds = about.get("type", "string")
    kind = kinds if isinstance(kinds, str) else next(iter(kinds), "string")
    if kind in ("integer", "number"):
        return _number(about)
    if kind == "boolean":
        return True
    if kind == "array":
        return [_sample(name, about.get("items", {}), language, depth + 1)]
    if kind == "object":
        inner = about.get("properties", {})
        return {key: _sample(key, inner.get(key, {}), language, depth + 1) for key in about.get("required", ())}
    return _text(name, about, language)


def _number(about: Mapping[str, Any]) -> int | float:
    """Two, or the number closest to it that the bounds allow."""
    low = max(about.get("minimum", 2), about.get("exclusiveMinimum", 1) + 1, 2)
    high = min(about.get("maximum", low), about.get("exclusiveMaximum", low + 1) - 1)
    return min(low, high)  # type: ignore[no-any-return]


def _text(name: str, about: Mapping[str, Any], language: Language) -> str:
    if about.get("format") in _FORMATS:
        return _FORMATS[about["format"]]
    parts = name.lower().replace("-", "_").split("_")
    for words, english, chinese in _WORDS:
        if any(word in parts for word in words):
            return chinese if language == "zh" else english
    return _TEXT[language]


def _list(about: Mapping[str, Any], key: str) -> list[Any]:
    found = about.get(key, ())
    return list(found) if isinstance(found, (list, tuple)) else []
