"""What a run remembers: plain data and messages, so that any process can go on with it."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from langchain_core.messages import AnyMessage
from langgraph.channels import DeltaChannel
from langgraph.graph.message import _messages_delta_reducer
from langgraph.managed import RemainingSteps
from typing_extensions import TypedDict

from nodes.channels import Boxed, History, gather, latest

VERSION = 2
"""Shape of the state; a thread of an older version is migrated by `begin`."""

Status = Literal[
    "running",
    "waiting",
    "finished",
    "step_limit",
    "loop",
    "tool_limit",
    "token_budget",
    "deadline",
    "unreadable",
    "rejected",
    "aborted",
    "failed",
]


class Run(TypedDict):
    """Counters of the run that the last user message began; they survive pause, crash and resume."""

    version: int
    id: str
    since: str
    """Id of the message that began the run."""
    language: Literal["en", "zh"]
    dialect: Literal["", "text", "json", "native"]
    dialect_why: str
    step: int
    repairs: int
    repairs_in_a_row: int
    failed: list[dict[str, Any]]
    """Number, kind and sentence of the replies that could not be read."""
    input_tokens: int
    output_tokens: int
    context_tokens: int
    """Tokens of the last request: the next one is at least as long."""
    seconds: float
    observations: int
    calls: dict[str, int]
    """Calls of each tool that were let through."""
    refused: list[str]
    """Keys of calls that a person rejected; the same call is not asked again."""
    tainted: list[str]
    """Untrusted tools that the run was told something by."""
    unknown: list[str]
    """Keys of calls of which nobody knows whether they took effect; the same call does not run."""
    granted: dict[str, float]
    """What a person added to a limit, by field of `Limits`."""
    closing: dict[str, str]
    """Rule, status and reason of the limit that was reached, while the model gives its best answer so far."""


class Turn(TypedDict, total=False):
    """What is known about the present step; begun anew by every Think."""

    answer: str
    error: dict[str, str]
    """Kind, sentence and text of a reply that could not be read."""
    dropped: list[str]
    """Parts of the reply that were not used; the model is told."""
    unread: dict[str, str]
    """Call id to sentence, for calls of the reply that could not be read."""
    basis: str
    """What the step rests on (see `nodes.basis`); a part of the identity of its calls."""
    verdict: Literal["run", "ask", "correct", "finish", "stop", "resumed", "ended"]
    rule: str
    """Row of the rule table that decided."""
    status: Status
    why: str
    """The reason as a sentence."""
    refusals: dict[str, str]
    """Call id to sentence, for calls that will not run."""
    risky: list[str]
    """Ids of the calls that a person must decide, in the order of the calls."""
    decisions: dict[str, dict[str, Any]]
    """Call id to decision of a person."""
    dispatched: list[str]
    """Ids of the approved calls that the last pass of `approve` sends to `act`."""
    approval_error: str
    """Why the last answer of a person could not be used."""
    returned: str
    """The answer that a tool returned; Think passes it on without asking the model."""
    note: str
    """One sentence for the next call of the model; never part of the history."""


class Step(TypedDict):
    """One round of the loop, as an auditor reads it."""

    number: int
    thought: str
    calls: list[dict[str, Any]]
    """Each with name, args and id."""
    observations: list[dict[str, Any]]
    """Each with call_id, number, text, code (ok or what went wrong) and seconds."""
    error: NotRequired[str]
    """Why the reply could not be read."""
    seconds: float
    """Time the model took."""


class Tokens(TypedDict):
    """Tokens of a run, as the provider counts them, or estimated where it does not."""

    input: int
    output: int
    total: int


class Result(TypedDict):
    """How a run ended; every run leaves one in the state."""

    status: Status
    reason: str
    """Why it ended, as a sentence."""
    answer: str | None
    """The answer if finished, else the best one so far, or None."""
    steps: list[Step]
    tokens: Tokens


class Task(TypedDict):
    """What a caller puts in."""

    messages: Annotated[list[AnyMessage], History(_messages_delta_reducer)]


class Working(Task):
    """What the nodes read at every step."""

    run: Annotated[Run, DeltaChannel(latest)]
    turn: Annotated[Turn, DeltaChannel(latest)]
    results: Annotated[list[dict[str, Any]], DeltaChannel(gather)]
    """Observations of the present step, waiting until every call of it has one."""
    remaining_steps: RemainingSteps
    """Supersteps left before LangGraph's own recursion limit."""


class State(Working):
    """Everything a run remembers: what the nodes work on, and how the run ended; written by the nodes only."""

    status: Status
    reason: Annotated[str, Boxed]
    answer: Annotated[str | None, Boxed]
    steps: Annotated[list[Step], DeltaChannel(latest)]
    tokens: Tokens
    structured_response: Any


class Outcome(Task, Result, total=False):
    """What a caller gets back: the history and how the run ended."""

    structured_response: Any


Update = dict[str, Any]
"""What a node changes in the state."""
