"""The loop as a picture: think; let the guard judge; run it, ask a person, correct the model, finish, or stop."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, get_args

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Checkpointer, Send

from graphs.agent import Agent
from graphs.records import records_of
from nodes.act import Act
from nodes.approve import Approve, open_calls
from nodes.begin import Begin
from nodes.calls import Calls
from nodes.context import Context, DialectName
from nodes.decisions import Decisions
from nodes.finish import Finish
from nodes.guard import Guard
from nodes.halt import Halt
from nodes.limits import Limits
from nodes.models import Models
from nodes.observe import Observe
from nodes.order import orders
from nodes.policy import Policy
from nodes.policy_file import check_names
from nodes.rates import Rates
from nodes.records import Records
from nodes.rules import RULES
from nodes.runs import Runs
from nodes.speaking import Prompt, Speaker
from nodes.state import Outcome, State, Task, Working
from nodes.think import Think
from nodes.thoughts import Thoughts
from tools.defaults import demo_tools
from tools.toolbox import Toolbox


def build(
    model: Any = None,
    tools: Iterable[Any] | None = None,
    *,
    prompt: Prompt = None,
    dialect: DialectName = "auto",
    limits: Limits = Limits(),  # noqa: B008
    approve: Policy | Literal["risky", "all", "none"] = "risky",
    response_format: Any = None,
    context_schema: type[Any] = Context,
    checkpointer: Checkpointer = None,
    store: Any = None,
    records: Records | None = None,
    rates: Rates | None = None,
    debug: bool = False,
    name: str = "ReAct Agent",
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Build a ReAct agent.

    Args:
        model: A chat model, a string `provider:name`, a function of state and runtime that gives one, or a list of
            these (the later ones take over when one fails); None finds one when the first run starts (see
            `nodes.models.find_model`).
        tools: `Tool`s, LangChain tools, plain functions or a `ToolNode`; None is the demo's tools.
        prompt: Your own instructions: a string, a SystemMessage, or a function of the state that gives the messages.
        dialect: How the model is spoken to; `auto` picks by what it can do.
        limits: Every number that bounds a run.
        approve: Which calls need a person: those that write or may (`risky`), `all`, or `none`; or a `Policy`.
        response_format: A schema; the answer is given in it once more, as `structured_response`.
        context_schema: Class of the run's context; `Context` or your own with the same names.
        checkpointer: Where runs are remembered; needed for pauses. LangGraph Server brings its own.
        store: LangGraph store, handed to tools; long observations are kept whole in it.
        records: Where calls, decisions and the audit log are kept; None keeps them in the database of the checkpointer
            (see `graphs.records`).
        rates: Where calls per minute are counted.
        debug: LangGraph's debug output.
        name: Name of the compiled graph.

    Returns:
        A compiled LangGraph graph: `invoke`, `stream`, `ainvoke`, `get_state` and the rest. One run at a time works on
        a thread; a second one raises `ThreadBusy`.

    Raises:
        ToolError: tools are not tools, or two have one name.
        LimitsError: a limit cannot be obeyed.
        PolicyError: `approve` is none of these, or names a tool that is not there.
        ValueError: `dialect` is none of the four.
    """
    policy = Policy.of(approve)
    if dialect not in get_args(DialectName):
        raise ValueError(f"dialect must be one of {', '.join(get_args(DialectName))}, got {dialect!r}")
    toolbox = Toolbox(demo_tools() if tools is None else tools)
    check_names(policy, toolbox)
    models = Models(model if isinstance(model, list | tuple) else [model])
    records = records or records_of(checkpointer)
    runs, thoughts = Runs(records), Thoughts(records, toolbox)
    decisions, calls = Decisions(records, policy, toolbox), Calls(records, policy, toolbox)
    graph = StateGraph(State, context_schema, input_schema=Task, output_schema=Outcome)

    graph.add_node("begin", Begin(_may_ask(toolbox, limits, policy), runs))
    graph.add_edge(START, "begin")
    graph.add_edge("begin", "think")

    think = Think(Speaker(models, toolbox, prompt, dialect), limits, thoughts, response_format)
    graph.add_node("think", think, input_schema=Working)
    graph.add_edge("think", "guard")

    graph.add_node("guard", Guard(toolbox, limits, policy), metadata={"rules": rule_table()})
    graph.add_conditional_edges(
        "guard",
        after_guard,
        {"run": "act", "ask": "approve", "correct": "observe", "finish": "finish", "stop": "halt"},
    )

    graph.add_node("approve", Approve(decisions))
    graph.add_conditional_edges("approve", after_approve, {"next": "approve", "approved": "act", "refused": "observe"})

    graph.add_node("act", Act(toolbox, limits, calls, rates or Rates()))
    graph.add_edge("act", "observe")

    graph.add_node("observe", Observe(toolbox, decisions), defer=True)
    graph.add_edge("observe", "think")

    graph.add_node("finish", Finish(runs))
    graph.add_edge("finish", END)

    graph.add_node("halt", Halt(limits, runs))
    graph.add_conditional_edges("halt", after_halt, {"resumed": "think", "ended": END})

    return Agent.of(graph.compile(checkpointer=checkpointer, store=store, debug=debug, name=name), records.leases)


def after_guard(state: Working) -> str | list[str | Send]:
    """Follow the stored verdict; calls that need nobody run at once, also while a person is asked about others."""
    turn = state["turn"]
    if turn["verdict"] not in ("run", "ask"):
        return turn["verdict"]
    held = {*turn["risky"], *turn["refusals"]}
    free = [str(call["id"]) for call in state["messages"][-1].tool_calls if call["id"] not in held]  # type: ignore[union-attr]
    run: list[str | Send] = [Send("act", order) for order in orders(state, free)]
    return [*run, "ask"] if turn["verdict"] == "ask" else run


def after_approve(state: Working) -> str | list[str | Send]:
    """An approved call runs at once; the next question is asked until none is open, then the turn is observed."""
    turn = state["turn"]
    approved: list[str | Send] = [Send("act", order) for order in orders(state, turn.get("dispatched", []))]
    return [*approved, "next"] if approved or open_calls(state) else "refused"


def after_halt(state: Working) -> str:
    """Go on if a person or a last try let the run go on."""
    return state["turn"]["verdict"]


def rule_table() -> list[dict[str, str]]:
    """The rules as Studio and the README show them."""
    return [
        {"rule": rule.name, "when": rule.when, "then": rule.then, "limit": rule.limit, "ends as": rule.status or ""}
        for rule in RULES
    ]


def _may_ask(toolbox: Toolbox, limits: Limits, policy: Policy) -> str | None:
    tainting = any(tool.untrusted for tool in toolbox.values())
    risky = [tool.name for tool in toolbox.values() if policy.may_ask(tool, tainting)]
    if risky:
        return f"{', '.join(risky)} may need the approval of a person"
    return "Limits.on_limit is ask" if limits.on_limit == "ask" else None


graph = build()
