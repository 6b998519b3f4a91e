"""The public names, all in one place; `reasonact` hands them out when first asked for."""

from graphs.react import build as create_react_agent
from graphs.resuming import NothingToResume
from graphs.saver import Saver, open_saver, sqlite_saver
from nodes.argument_rule import ArgumentRule, PolicyError
from nodes.audit import Audit
from nodes.context import Context
from nodes.leases import LeaseLost, ThreadBusy
from nodes.limits import Limits, LimitsError
from nodes.models import ModelError
from nodes.move import Call, FormatError, Move
from nodes.policy import Policy
from nodes.rates import Rates
from nodes.records import Records
from nodes.redacting import Redaction
from nodes.scripted import ScriptedModel
from nodes.state import Result, Step
from tools.observation import ToolFailure
from tools.tool import Tool, ToolError, tool
from tools.toolbox import Toolbox

__all__ = [
    "ArgumentRule",
    "Audit",
    "Call",
    "Context",
    "FormatError",
    "LeaseLost",
    "Limits",
    "LimitsError",
    "ModelError",
    "Move",
    "NothingToResume",
    "Policy",
    "PolicyError",
    "Rates",
    "Records",
    "Redaction",
    "Result",
    "Saver",
    "ScriptedModel",
    "Step",
    "ThreadBusy",
    "Tool",
    "ToolError",
    "ToolFailure",
    "Toolbox",
    "create_react_agent",
    "open_saver",
    "sqlite_saver",
    "tool",
]
