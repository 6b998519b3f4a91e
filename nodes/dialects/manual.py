"""The tools as a model reads them in a prompt: one line a tool, its parameters below."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from nodes.dialects.brief import Language
from nodes.dialects.prompts import NO_TOOLS, OPTIONAL, TOOLS
from tools.tool import Tool
from tools.toolbox import Toolbox


def manual(toolbox: Toolbox, language: Language, form: str) -> str:
    """All tools, each with the form a call of it takes: "text" or "json"."""
    if not toolbox:
        return NO_TOOLS[language]
    return "\n".join([TOOLS[language], *(_entry(tool, language, form) for tool in toolbox.values())])


def _entry(tool: Tool, language: Language, form: str) -> str:
    described = " ".join(tool.description.split())
    head = f"{called(tool) if form == 'text' else tool.name}: {described}"
    details = {name: _detail(tool, name, language) for name in tool.parameters}
    if form == "text" and not any(details.values()):
        return head
    return "\n".join([head, *(f"  {name}: {detail}".rstrip(": ") for name, detail in details.items())])


def called(tool: Tool) -> str:
    """How a call of the tool is written in text: `Search["query"]`, `now[]`, `refund[{"order": "…"}]`."""
    if not tool.parameters:
        return f"{tool.name}[]"
    if sole(tool):
        return f'{tool.name}["{next(iter(tool.parameters))}"]'
    shown = {name: "…" for name in tool.parameters}
    return f"{tool.name}[{json.dumps(shown, ensure_ascii=False)}]"


def sole(tool: Tool) -> bool:
    """Whether the tool takes one text and nothing else, so that a call needs no parameter name."""
    only = list(tool.parameters.values())
    return len(only) == 1 and isinstance(only[0], Mapping) and only[0].get("type") == "string"


def _detail(tool: Tool, name: str, language: Language) -> str:
    about = tool.parameters[name] if isinstance(tool.parameters[name], Mapping) else {}
    kind = "" if sole(tool) else _kind(about)
    choices = ", ".join(json.dumps(value, ensure_ascii=False) for value in about.get("enum", ()))
    optional = "" if name in tool.required else OPTIONAL[language]
    facts = ", ".join(filter(None, (kind, optional)))
    told = " ".join(str(about.get("description", "")).split())
    return "; ".join(filter(None, (facts, choices, told)))


def _kind(about: Mapping[str, Any]) -> str:
    kinds = about.get("type") or [one.get("type", "") for one in about.get("anyOf", ()) if isinstance(one, Mapping)]
    names = [kinds] if isinstance(kinds, str) else [kind for kind in kinds if isinstance(kind, str)]
    return " or ".join(name for name in names if name and name != "null")
