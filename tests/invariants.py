"""What must hold after any run: eight invariants over the database and what happened outside of it."""

from __future__ import annotations

import functools
import json
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from nodes import audit
from nodes.history import since
from nodes.order import sha256
from nodes.records import Records
from tools.database import Row, Transaction
from tools.tool import Tool

KEY = b"the key of the audit log"
RISKY = ("pay", "note", "wipe", "unknown")
"""Tools of which no call may run without a decision, unless `check` is told others."""
SLACK = 0.05
"""Seconds that the clocks of PostgreSQL and of this process may differ."""
ENDED = ("done", "failed", "unknown")


@dataclass(frozen=True)
class Effect:
    """One time that a tool's function was entered, written down outside of every database."""

    tool: str
    args: dict[str, Any]
    at: float

    @property
    def sha(self) -> str:
        """What binds it to a row of the ledger."""
        return sha256(self.tool, self.args)


def watched(tools: Iterable[Tool], effects: list[Effect]) -> list[Tool]:
    """The same tools, with every call of their functions written to `effects`."""

    def watch(tool: Tool) -> Tool:
        function: Callable[..., Any] = tool.function  # type: ignore[assignment]

        @functools.wraps(function)
        def run(**args: Any) -> Any:
            effects.append(Effect(tool.name, args, time.time()))
            return function(**args)

        return replace(tool, function=run)

    return [watch(tool) for tool in tools]


def check(
    records: Records,
    effects: Sequence[Effect],
    *,
    agent: Any = None,
    config: Any = None,
    risky: Collection[str] = RISKY,
    use_minutes: float = 15,
    canary: str | None = None,
    forks: Collection[str] = (),
    key: bytes = KEY,
) -> None:
    """Check I1, I2, I4 and I6 on the whole database, and I3, I5, I7 and I8 on the thread of `config`.

    `forks` are the ids of the checkpoints that the test went on from a second time; `canary` is a secret that nothing
    may have written down.
    """
    with records.database.transaction() as transaction:
        rows = transaction.all("SELECT * FROM tool_calls ORDER BY created_at, idx")
        grants = {(row["run_id"], row["tool"]): row for row in transaction.all("SELECT * FROM grants")}
        log = list(audit.records(transaction))
    told = [{**item, "data": json.loads(item["record"])["data"]} for item in log]
    args = {row["call_uid"]: json.loads(records.opened(row["args_json"])) for row in rows}
    effects_are_accounted_for(rows, effects)
    every_risky_start_was_approved(rows, args, told, risky, use_minutes)
    every_grant_was_given(rows, grants)
    assert audit.verify(log, key) == [], "I4"
    every_start_is_logged(rows, effects, told)
    if canary is not None:
        assert canary_places(records, getattr(agent, "checkpointer", None), canary) == [], "I6"
    if agent is not None:
        state = agent.get_state(config)
        resting = at_rest(state)
        history_is_whole(state.values.get("messages", []), open_end=bool(state.tasks), resting=resting)
        if state.values.get("run"):
            counters_are_the_ledgers(state, rows, bool(forks))
        chain_is_linear(agent.checkpointer, config, forks)
        if resting:
            thread = str(config["configurable"]["thread_id"])
            assert [r["call_uid"] for r in rows if r["thread_id"] == thread and r["status"] == "started"] == [], "I8"


def at_rest(state: Any) -> bool:
    """Whether the thread has ended or waits for a person; not if it broke off."""
    return all(task.interrupts for task in state.tasks)


def effects_are_accounted_for(rows: list[Row], effects: Sequence[Effect]) -> None:
    """I1: as many effects as calls that are done; those of unknown end may have had one, the others none."""
    happened = Counter(effect.sha for effect in effects)
    least: Counter[str] = Counter()
    most: Counter[str] = Counter()
    for row in rows:
        if not row["attempt"]:
            assert row["status"] not in ("started", "done", "unknown"), f"I1: ended without a start: {row}"
            continue
        sha, repeatable = row["args_sha256"], row["effect_class"] == "pure"
        least[sha] += row["status"] == "done" and row["error_code"] != "settled"
        most[sha] += row["attempt"] if repeatable else 1
    for sha in happened.keys() | least.keys():
        assert least[sha] <= happened[sha] <= most[sha], (
            f"I1: {happened[sha]} effects where {least[sha]} to {most[sha]} are accounted for: "
            f"{[e for e in effects if e.sha == sha]} {[r for r in rows if r['args_sha256'] == sha]}"
        )


def every_risky_start_was_approved(
    rows: list[Row], args: dict[str, Any], told: list[Row], risky: Collection[str], use_minutes: float
) -> None:
    """I2: exactly one decision, for just these arguments, before the start and not too long before it."""
    decisions: dict[str, list[Row]] = {}
    for item in told:
        if item["kind"] == "decision":
            decisions.setdefault(item["data"]["call"], []).append(item)
    for row in rows:
        uid, made = row["call_uid"], decisions.get(row["call_uid"], [])
        assert row["args_sha256"] == sha256(row["tool"], args[uid]), f"I2: the hash is not that of the arguments: {row}"
        assert len(made) <= 1, f"I2: decided twice: {made}"
        if not row["attempt"] or row["tool"] not in risky:
            continue
        assert row["decision"] in ("approve", "edit"), f"I2: started without approval: {row}"
        assert len(made) == 1 and made[0]["data"]["sha256"] == row["args_sha256"], f"I2: {made} {row}"
        assert made[0]["data"]["decision"] == row["decision"], f"I2: {made} {row}"
        assert row["decided_at"] <= row["started_at"] <= row["decided_at"] + use_minutes * 60, f"I2: too late: {row}"
        if row["approval_id"]:
            assert row["asked_at"] <= row["decided_at"] <= row["expires_at"], f"I2: decided out of time: {row}"


def every_grant_was_given(rows: list[Row], grants: dict[tuple[str, str], Row]) -> None:
    """I2: a call that nobody was asked about was approved beforehand, for its tool and its run."""
    for row in rows:
        if row["decision"] == "approve" and not row["approval_id"]:
            grant = grants.get((row["run_id"], row["tool"]))
            assert grant is not None and grant["granted_at"] <= row["decided_at"], f"I2: no such grant: {row}"


def every_start_is_logged(rows: list[Row], effects: Sequence[Effect], told: list[Row]) -> None:
    """I4: numbers without a gap; an intent before every effect, one for each attempt; an observation after it."""
    threads: dict[str, list[int]] = {}
    keyed: dict[tuple[str, str], Row] = {}
    intents: dict[str, list[float]] = {}
    for item in told:
        threads.setdefault(item["thread"], []).append(item["seq"])
        if item["event_key"]:
            keyed[item["thread"], item["event_key"]] = item
        if item["kind"] == "intent":
            intents.setdefault(item["data"]["sha256"], []).append(item["at"])
    for thread, seqs in threads.items():
        assert seqs == list(range(1, len(seqs) + 1)), f"I4: thread {thread}: {seqs}"
    for row in rows:
        place, uid = row["thread_id"], row["call_uid"]
        if not row["attempt"]:
            continue
        started = [keyed.get((place, f"intent {uid} {attempt + 1}")) for attempt in range(row["attempt"])]
        assert all(item and item["data"]["sha256"] == row["args_sha256"] for item in started), f"I4: no intent: {row}"
        decided = keyed.get((place, f"decided {uid}"))
        assert decided is None or decided["seq"] < started[0]["seq"], f"I4: decided after the start: {row}"  # type: ignore[index]
        if row["status"] in ENDED:
            end = keyed.get((place, f"observation {uid}"))
            assert end is not None and end["seq"] > started[-1]["seq"], f"I4: no observation: {row}"  # type: ignore[index]
    for sha in {effect.sha for effect in effects}:
        happened = sorted(effect.at for effect in effects if effect.sha == sha)
        begun = sorted(intents.get(sha, []))
        assert len(begun) >= len(happened), f"I4: effects without an intent: {sha}"
        assert all(at >= start - SLACK for at, start in zip(happened, begun, strict=False)), "I4: effect before intent"


def history_is_whole(messages: Sequence[BaseMessage], open_end: bool, resting: bool) -> None:
    """I3: every call has one observation, in order, before anything else is said; only the last turn may be open."""
    ids = [str(call["id"]) for message in messages if isinstance(message, AIMessage) for call in message.tool_calls]
    assert len(ids) == len(set(ids)), f"I3: two calls have one id: {ids}"
    told = [message.tool_call_id for message in messages if isinstance(message, ToolMessage)]
    last = max((place for place, message in enumerate(messages) if isinstance(message, AIMessage)), default=-1)
    expected: list[str] = []
    for place, message in enumerate(messages):
        if not isinstance(message, AIMessage):
            continue
        calls = [str(call["id"]) for call in message.tool_calls]
        behind = [m.tool_call_id for m in _observations(messages[place + 1 :])]
        rest = messages[place + 1 + len(behind) :]
        if place == last and open_end and not behind and (not rest or not resting):
            continue
        assert behind == calls, f"I3: calls {calls} are followed by {behind}"
        expected += calls
    assert told == expected, f"I3: observations {told} for calls {expected}"


def _observations(messages: Sequence[BaseMessage]) -> Iterator[ToolMessage]:
    for message in messages:
        if not isinstance(message, ToolMessage):
            return
        yield message


def counters_are_the_ledgers(state: Any, rows: list[Row], forked: bool) -> None:
    """I5: the calls that the state counts are those of the ledger that were let through and have an observation."""
    run = state.values["run"]
    messages = since(state.values["messages"], run["since"])
    # What `halt` closes has an observation without a number, and was not let through.
    observed = {m.tool_call_id for m in messages if isinstance(m, ToolMessage) and "number" in (m.artifact or {})}
    counted: Counter[str] = Counter()
    for message in messages:
        if not isinstance(message, AIMessage) or "step" not in message.response_metadata:
            continue
        for index, call in enumerate(message.tool_calls):
            if str(call["id"]) not in observed:
                continue
            place = (run["id"], message.response_metadata["step"], index, str(call["id"]))
            behind = [r for r in rows if (r["run_id"], r["step"], r["idx"], r["provider_call_id"]) == place]
            assert len(behind) == 1 or (forked and behind), f"I5: {len(behind)} rows for {place}"
            counted[call["name"]] += any(row["error_code"] != "not_executed" for row in behind)
    assert +counted == +Counter(run["calls"]), f"I5: the state counts {run['calls']}, the ledger {dict(counted)}"


def chain_is_linear(saver: Any, config: Any, forks: Collection[str]) -> None:
    """I7: no checkpoint was gone on from twice, but for those in `forks`."""
    assert [id for id in branched(saver, config) if id not in forks] == [], "I7"


def branched(saver: Any, config: Any) -> list[str | None]:
    """The checkpoints of a thread that have several children; None is the beginning."""
    thread = {"configurable": {"thread_id": config["configurable"]["thread_id"]}}
    parents = Counter(
        found.parent_config["configurable"]["checkpoint_id"] if found.parent_config else None
        for found in saver.list(thread)
    )
    return [id for id, children in parents.items() if children > 1]


def canary_places(records: Records, saver: Any, canary: str) -> list[str]:
    """I6: the tables, and the parts of a saver in memory, that hold the secret."""
    secret = canary.encode()
    with records.database.transaction() as transaction:
        places = [table for table in tables(transaction) if _holds(transaction.all(f'SELECT * FROM "{table}"'), secret)]
    if records.database.kind == "sqlite" and records.database.durable:
        path = str(records.database.path)
        places += [file for file in (path, f"{path}-wal") if secret in _bytes(file)]
    kept = {name: getattr(saver, name, None) for name in ("storage", "writes", "blobs")}
    return places + [name for name, held in kept.items() if canary in repr(held)]


def tables(transaction: Transaction) -> list[str]:
    """Every table of the database."""
    if transaction.database.kind == "sqlite":
        rows = transaction.all("SELECT name FROM sqlite_master WHERE type = 'table'")
    else:
        rows = transaction.all("SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'")
    return [row["name"] for row in rows]


def _holds(rows: list[Row], secret: bytes) -> bool:
    return any(
        secret in (value if isinstance(value, bytes) else str(value).encode("utf-8", "replace"))
        for row in rows
        for value in row.values()
    )


def _bytes(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""
