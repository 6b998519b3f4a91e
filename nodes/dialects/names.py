"""The name that a model wrote, and what it stands for: a tool, the finish, or nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from nodes.dialects import faults
from nodes.dialects.tokens import name_before_token
from tools.arguments import sole_parameter
from tools.tool import Tool
from tools.toolbox import Toolbox, normal

_DECORATION = " \t\r\n\u00a0\u3000\u200b\ufeff*`\"'“”‘’＂＇「」『』<>()[]{}（）［］【】.,;:!：，。；、"
_FINISHES = {"finish", "final_answer", "finalanswer", "answer", "最终答案", "回答", "答案", "完成", "结束"}
_ANSWERS = (
    "answer",
    "final_answer",
    "finalanswer",
    "output",
    "result",
    "response",
    "text",
    "content",
    "message",
    "input",
)
_ANSWERS_ZH = ("答案", "最终答案", "回答")
_NOTHING = re.compile(
    r"(?:none|n/?a|null|nil|nothing|no(?:\s+further)?\s+(?:action|tool)s?(?:\s+(?:is\s+|are\s+)?(?:needed|required|necessary))?"
    r"|无|没有|不需要(?:工具)?|无需(?:工具|行动)?)(?!\w)",
    re.I,
)
_LONGEST = 128


def bare(name: str) -> str:
    """The name without quotes, backticks, brackets and punctuation around it."""
    return name.strip(_DECORATION)


def registered(name: str, toolbox: Toolbox) -> Tool | None:
    """The tool meant by a decorated name; None if there is none."""
    if len(name) > _LONGEST:
        name = name[: _LONGEST * 2]
    for candidate in (name.strip(), bare(name)):
        if candidate and len(candidate) <= _LONGEST and (tool := toolbox.find(candidate)):
            return tool
    return toolbox.get(name_before_token(bare(name)))


def tool_named(name: str, toolbox: Toolbox) -> Tool:
    """The tool meant by a decorated name.

    Raises:
        FormatError: the name is missing, means "no tool", or is not the name of one.
    """
    if tool := registered(name, toolbox):
        return tool
    if not bare(name):
        raise faults.missing_name()
    if nothing(name):
        raise faults.no_action("Your action was none.")
    raise faults.unknown(bare(name), toolbox)


def nothing(name: str) -> bool:
    """Whether the words say that nothing is called or given: None, N/A, 无."""
    return _NOTHING.match(bare(name[:_LONGEST])) is not None


def finishes(name: str, toolbox: Toolbox) -> bool:
    """Whether the name ends the run: not a tool's, or that of a tool whose only parameter is the answer."""
    if len(name) > _LONGEST or normal(bare(name)) not in _FINISHES:
        return False
    tool = registered(name, toolbox)
    return tool is None or (len(tool.parameters) == 1 and normal(sole_parameter(tool) or "") in _ANSWERS)


def answer_in(value: Any) -> str:
    """The answer that a finish carries: a text, or the answer among the fields of an object; "" if there is none."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        fields = {normal(str(key)): one for key, one in value.items()}
        found = next((fields[key] for key in (*_ANSWERS, *_ANSWERS_ZH) if key in fields), None)
        if found is not None or not fields:
            return answer_in(found)
        if len(fields) == 1 and isinstance(only := next(iter(fields.values())), str):
            return only
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return ""
