"""One question as the desk shows it: on a line of the list, in full, or as JSON."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from nodes.approval import visible
from nodes.records import Records
from reasonact.editing import spelled
from reasonact.questions import clock, short_id, span, standing
from tools.database import Row
from tools.toolbox import Toolbox

ARGUMENT_CHARS = 60
"""Characters of the arguments that the list shows."""
HEADS = ("id", "thread", "tool", "effect", "age", "expires in", "arguments")
UNKNOWN = "unknown: settle it"


@dataclass(frozen=True)
class Question:
    """A row of the ledger, opened."""

    row: Row
    effect: str
    args: dict[str, Any]
    before: dict[str, Any] | None
    """The arguments before they were decided on."""
    shown: dict[str, Any]
    """What else the person was shown: why, untrusted, thought."""
    decision: dict[str, Any]
    result: dict[str, Any]

    @property
    def call_uid(self) -> str:
        """The call's own id."""
        return str(self.row["call_uid"])

    @property
    def id(self) -> str:
        """The id that is typed."""
        return short_id(self.call_uid)

    @property
    def thread(self) -> str:
        """The thread to resume, which may hold the one that asked."""
        return str(self.row["thread_id"]).partition("|")[0]

    @property
    def tool(self) -> str:
        """The tool's name."""
        return str(self.row["tool"])

    @property
    def status(self) -> str:
        """Where the call stands."""
        return str(self.row["status"])

    @property
    def sha256(self) -> str:
        """Hash of what runs."""
        return str(self.row["args_sha256"])


def question_of(row: Row, records: Records, toolbox: Toolbox) -> Question:
    """Open a row.

    Raises:
        ValueError: it was sealed with another key.
    """

    def opened(column: str) -> Any:
        return json.loads(records.opened(row[column])) if row[column] else {}

    tool = toolbox.get(row["tool"])
    effect = (tool.effect if tool else None) or "unknown"
    args, before = opened("args_json"), opened("args_before_json") or None
    # They are stored sorted; a person reads them as the tool declares them.
    args = {name: args[name] for name in (*(tool.parameters if tool else ()), *args) if name in args}
    return Question(row, effect, args, before, opened("request_json"), opened("decision_json"), opened("result_json"))


def list_row(asked: Question) -> tuple[str, ...]:
    """One line of the list."""
    now, row = time.time(), asked.row
    left = UNKNOWN if asked.status == "unknown" else span(row["expires_at"] - now)
    text = ", ".join(f"{visible(name)}={spelled(value)}" for name, value in asked.args.items())
    cut = text if len(text) <= ARGUMENT_CHARS else f"{text[: ARGUMENT_CHARS - 1]}…"
    age = span(now - (row["asked_at"] or row["created_at"]))
    return asked.id, visible(asked.thread), visible(asked.tool), asked.effect, age, left, cut


def as_json(asked: Question) -> dict[str, Any]:
    """A question for programs."""
    row = asked.row
    return {
        "id": asked.id,
        "call_uid": asked.call_uid,
        "thread": asked.thread,
        "tool": asked.tool,
        "effect": asked.effect,
        "effect_class": row["effect_class"],
        "status": asked.status,
        "args": asked.args,
        "sha256": asked.sha256,
        "asked_at": row["asked_at"],
        "expires_at": row["expires_at"],
        "requester": row["requester"],
        **{name: asked.shown.get(name) for name in ("why", "untrusted", "thought")},
        "decision": asked.decision.get("type"),
        "decided_by": row["decided_by"],
        "decided_at": row["decided_at"],
        "message": asked.decision.get("message"),
    }


def in_full(asked: Question) -> Iterator[str]:
    """Everything, one fact a line: the call first, the model's own words last and apart."""
    row = asked.row
    yield f"{visible(asked.tool)} on thread {visible(asked.thread)}"
    yield from (f"  {visible(name)}: {visible(spelled(value))}" for name, value in asked.args.items())
    if not asked.args:
        yield "  (no arguments)"
    for found in asked.shown.get("untrusted") or ():
        yield (
            f"Careful: {visible(found['argument'])} holds text from {visible(found['tool'])} (observation "
            f"{found['observation']}), which anybody may have written."
        )
    yield f"Id: {asked.id} ({asked.call_uid})"
    yield f"Effect: {asked.effect}, {row['effect_class']}"
    yield f"Hash: {asked.sha256}"
    yield f"Asked for by: {visible(row['requester'] or 'somebody who gave no name')}"
    if asked.shown.get("why"):
        yield f"Why a person is asked: {visible(asked.shown['why'])}"
    if row["asked_at"]:
        yield f"Asked: {clock(row['asked_at'])}"
        yield f"Expires: {clock(row['expires_at'])}"
    yield from _history(asked)
    if thought := asked.shown.get("thought"):
        yield f"The model's thought: {visible(thought)}"


def _history(asked: Question) -> Iterator[str]:
    row, decision = asked.row, asked.decision
    waiting = {"awaiting": "waits for a decision", "unknown": f"{UNKNOWN} (done or failed)"}
    yield f"Status: {waiting.get(asked.status, asked.status)}"
    if row["decision"] or asked.status == "expired":
        yield f"Decision: {visible(standing(row))}"
    if decision.get("message"):
        yield f"Why: {visible(decision['message'])}"
    if decision.get("type") == "edit" and asked.before is not None:
        yield f"Before the edit: {visible(spelled(asked.before))}"
    if settled := asked.result.get("settled"):
        by = settled["by"] or "somebody who gave no name"
        yield f"Settled: {settled['status']} by {visible(by)}, {clock(settled['at'])}"
    if asked.result.get("text"):
        yield f"Result: {visible(asked.result['text'])}"
