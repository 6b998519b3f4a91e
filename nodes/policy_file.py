"""A policy of approval in a TOML file, where a misspelt line is an error: it must never mean that nobody is asked."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from nodes.argument_rule import COMPARISONS, ArgumentRule, PolicyError, shown
from nodes.policy import Policy
from tools.toolbox import Toolbox

_KEYS = tuple(field.name for field in fields(Policy))
_RULE_KEYS = tuple(field.name for field in fields(ArgumentRule))
_NEEDED = tuple(name for name in _RULE_KEYS if name not in COMPARISONS)


def read_policy(path: Path, toolbox: Toolbox | None = None) -> Policy:
    """The policy in a file; with a toolbox, every tool and argument it names must be there.

    Raises:
        PolicyError: the file cannot be read or says something that is not understood; the message says what to change.
    """
    try:
        policy = _policy(_table(path))
        if toolbox is not None:
            check_names(policy, toolbox)
    except PolicyError as error:
        raise PolicyError(f"{path}: {error}") from error
    return policy


def check_names(policy: Policy, toolbox: Toolbox) -> None:
    """Make sure that every tool and argument a policy names exists.

    Raises:
        PolicyError: one does not, and what it says would never count.
    """
    for name in policy.tools:
        _known_tool("tools", name, toolbox)
    for number, rule in enumerate(policy.rules, 1):
        _known_tool(f"rule {number}", rule.tool, toolbox)
        tool = toolbox[rule.tool]
        if rule.argument not in tool.parameters and tool.schema.get("additionalProperties", False) is False:
            hint = _hint(rule.argument, tool.parameters)
            raise PolicyError(f"rule {number}: {rule.tool} has no argument {shown(rule.argument)}, {hint}")


def _known_tool(where: str, name: str, toolbox: Toolbox) -> None:
    if name in toolbox:
        return
    near = toolbox.nearest(name)
    hint = f"did you mean {shown(near)}?" if near else _hint(name, toolbox)
    raise PolicyError(f"{where}: there is no tool {shown(name)}, {hint}")


def _table(path: Path) -> dict[str, Any]:
    try:
        # Some editors on Windows write a byte order mark, which TOML does not know.
        text = Path(path).read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PolicyError(f"it is not text in UTF-8: save it as UTF-8 ({error.reason})") from error
    except (OSError, ValueError) as error:  # ValueError: a path with a null character
        problem = getattr(error, "strerror", None) or error
        raise PolicyError(f"it cannot be read: {problem}; give the path of a TOML file") from error
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise PolicyError(f"it is not TOML, mend this place: {error}") from error


def _policy(table: Mapping[str, Any]) -> Policy:
    _known_keys("the file", table, _KEYS)
    for name in ("effects", "tools"):
        if not isinstance(table.get(name, {}), dict):
            raise PolicyError(f"{name} must be a table, write [{name}] above its lines, got {shown(table[name])}")
        for key, value in table.get(name, {}).items():
            if key in _KEYS and not isinstance(value, str):
                raise PolicyError(f"{key} stands under [{name}]: move it above the first line in brackets")
    rules = table.get("rules", [])
    if not isinstance(rules, list) or not all(isinstance(rule, dict) for rule in rules):
        raise PolicyError(f"rules must be tables, write [[rules]] above each, got {shown(rules)}")
    made = tuple(_rule(f"rule {number}", rule) for number, rule in enumerate(rules, 1))
    return Policy(**{**table, "rules": made})


def _rule(where: str, table: Mapping[str, Any]) -> ArgumentRule:
    _known_keys(where, table, _RULE_KEYS)
    if missing := [name for name in _NEEDED if name not in table]:
        raise PolicyError(f"{where}: add a line for {', '.join(missing)}")
    try:
        return ArgumentRule(**table)
    except PolicyError as error:
        raise PolicyError(f"{where}: {error}") from error


def _known_keys(where: str, table: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for key in table:
        if key not in known:
            raise PolicyError(f"{where} has a key {shown(key)} that means nothing, {_hint(key, known)}")


def _hint(name: str, known: Iterable[str]) -> str:
    names = list(known)
    near = difflib.get_close_matches(name[:64], names, n=1)
    if near:
        return f"did you mean {shown(near[0])}?"
    return f"write one of {', '.join(names)}" if names else "take it out: there are none"
