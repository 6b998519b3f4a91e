"""reasonact: a ReAct agent as a LangGraph state machine that people can trust with real tools.

    from reasonact import Limits, create_react_agent, tool

Everything heavy is imported when first used, so that `import reasonact` and `reasonact --help` stay fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphs.react import build as create_react_agent
    from nodes.context import Context
    from nodes.ledger import Ledger
    from nodes.limits import Limits, LimitsError
    from nodes.models import ModelError
    from nodes.move import Call, FormatError, Move
    from nodes.rates import Rates
    from nodes.scripted import ScriptedModel
    from nodes.state import Result, Step
    from tools.observation import ToolFailure
    from tools.tool import Tool, ToolError, tool
    from tools.toolbox import Toolbox

__version__ = "0.1.0"

__all__ = [
    "Call",
    "Context",
    "FormatError",
    "Ledger",
    "Limits",
    "LimitsError",
    "ModelError",
    "Move",
    "Rates",
    "Result",
    "ScriptedModel",
    "Step",
    "Tool",
    "ToolError",
    "ToolFailure",
    "Toolbox",
    "create_react_agent",
    "tool",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'reasonact' has no attribute {name!r}")
    value = _find(name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


def _find(name: str) -> Any:
    if name == "create_react_agent":
        from graphs.react import build

        return build
    if name in ("Tool", "ToolError", "tool"):
        from tools import tool as home
    elif name == "Toolbox":
        from tools import toolbox as home
    elif name == "ToolFailure":
        from tools import observation as home
    elif name in ("Call", "FormatError", "Move"):
        from nodes import move as home
    elif name in ("Limits", "LimitsError"):
        from nodes import limits as home
    elif name in ("Result", "Step"):
        from nodes import state as home
    elif name == "Context":
        from nodes import context as home
    elif name == "Ledger":
        from nodes import ledger as home
    elif name == "ModelError":
        from nodes import models as home
    elif name == "Rates":
        from nodes import rates as home
    else:
        from nodes import scripted as home
    return getattr(home, name)
