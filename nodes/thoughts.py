"""What the model decided, written down before any of it runs: a step that comes again is read, not asked again."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage

from nodes.call_rows import propose
from nodes.leases import check
from nodes.order import uid
from nodes.records import Records
from nodes.state import Update
from tools.database import Transaction
from tools.toolbox import Toolbox

KEPT = ("content", "tool_calls", "id", "usage_metadata", "additional_kwargs", "response_metadata")
"""What `nodes.told` fills in a message."""
MOST_RUNS = 1_000
"""Runs that a process keeps in mind."""


@dataclass(frozen=True)
class Thoughts:
    """The steps of every run that asked for tools."""

    records: Records
    toolbox: Toolbox
    _new: dict[str, int] = field(default_factory=dict)
    """Runs of which this process has seen, under this fencing number, a step that nobody had recorded."""

    def recorded(self, run_id: str, step: int, basis: str, fence: int | None) -> Update | None:
        """What the model said at this step on this history, if it was asked before.

        Steps are recorded in order, so behind one that is new the database need not be asked; should one be there all
        the same, `record` finds it.
        """
        if fence is not None and self._new.get(run_id) == fence:
            return None
        told = self.records.database.perform(lambda transaction: _told(transaction, run_id, step, basis))
        if told is not None:
            return _read(self.records.opened(told))
        if fence is not None:
            if len(self._new) >= MOST_RUNS:
                self._new.clear()
            self._new[run_id] = fence
        return None

    def record(self, thread: str, basis: str, update: Update, fence: int | None) -> Update:
        """Take a step down, each of its calls as proposed; if another run was quicker, what that one took down.

        Raises:
            LeaseLost: the thread belongs to another run by now.
        """
        run, turn = update["run"], update["turn"]
        message: AIMessage | None = next(iter(update.get("messages", ())), None)
        calls = message.tool_calls if message is not None else []
        told = self.records.closed(_written(update)) if calls else ""

        def work(transaction: Transaction) -> str | None:
            check(transaction, thread, fence)
            if calls:
                taken = transaction.run(
                    "INSERT INTO thoughts VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                    run["id"], run["step"], basis, told,
                )  # fmt: skip
                if not taken:
                    return _told(transaction, run["id"], run["step"], basis)
            for index, call in enumerate(calls):
                if call["id"] not in turn.get("unread", ()):
                    call_uid = uid(run["id"], run["step"], index, basis)
                    propose(self.records, transaction, self.toolbox, thread, call_uid, call)
            self.records.tell(transaction, thread, run["id"], "thought", _event(update, message))
            return None

        before = self.records.database.perform(work)
        return update if before is None else _read(self.records.opened(before))


def _told(transaction: Transaction, run_id: str, step: int, basis: str) -> str | None:
    row = transaction.one("SELECT told FROM thoughts WHERE run_id = ? AND step = ? AND basis = ?", run_id, step, basis)
    return None if row is None else str(row["told"])


def _written(update: Update) -> str:
    messages = [{name: getattr(message, name) for name in KEPT} for message in update["messages"]]
    return json.dumps({**update, "messages": messages}, default=str)


def _read(text: str) -> Update:
    told: Update = json.loads(text)
    return {**told, "messages": [AIMessage(**fields) for fields in told["messages"]]}


def _event(update: Update, message: AIMessage | None) -> dict[str, Any]:
    run, turn = update["run"], update["turn"]
    event: dict[str, Any] = {"step": run["step"], "dialect": run["dialect"]}
    if message is not None:
        event |= {
            "thought": message.text if message.tool_calls else message.additional_kwargs.get("thought", ""),
            "calls": [{"name": call["name"], "args": call["args"], "id": call["id"]} for call in message.tool_calls],
            "seconds": message.response_metadata.get("seconds", 0.0),
            "tokens": dict(message.usage_metadata or {}),
            "model": message.response_metadata.get("model_name", ""),
        }
    if "reasoning" in (message.additional_kwargs if message else {}):
        event["reasoning"] = message.additional_kwargs["reasoning"]  # type: ignore[union-attr]
    return event | {name: turn[name] for name in ("answer", "error", "unread", "dropped") if name in turn}
