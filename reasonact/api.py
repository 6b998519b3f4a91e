"""The public names, all in one place; `reasonact` hands them out when first asked for."""

from graphs.react import build as create_react_agent
from graphs.saver import Saver, sqlite_saver
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
    "Saver",
    "ScriptedModel",
    "Step",
    "Tool",
    "ToolError",
    "ToolFailure",
    "Toolbox",
    "create_react_agent",
    "sqlite_saver",
    "tool",
]
