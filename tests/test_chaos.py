"""A database that goes away in the middle: runs end or can be resumed, and nothing is done twice."""

from __future__ import annotations

import os
import random
import sqlite3
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from langgraph.types import Command

from graphs.react import build
from graphs.saver import open_saver
from nodes.leases import ThreadBusy
from nodes.scripted import ScriptedModel
from tests.postgres import Server
from tests.walking import calls
from tools.database import Database
from tools.tool import tool

RESTARTS = int(os.environ.get("REASONACT_RESTARTS", "4"))


def test_postgresql_restarts_and_no_effect_is_doubled_or_lost(postgres: Server) -> None:
    """The server goes down at once every few seconds while threads run three payments each."""
    effects: Counter[str] = Counter()
    over = threading.Event()
    chance = random.Random(7)

    @tool(effect="irreversible")
    def pay(who: str) -> str:
        """Pay."""
        effects[who] += 1
        time.sleep(0.05)
        return f"paid {who}"

    with Server() as own:
        url = own.database()

        def restarts() -> None:
            for _ in range(RESTARTS):
                time.sleep(2 + 2 * chance.random())
                own.stop("immediate")
                time.sleep(1.5 * chance.random())
                own.start()
            over.set()

        broken = threads = 0
        with open_saver(url) as saver:
            chaos = threading.Thread(target=restarts)
            chaos.start()
            while not over.is_set():
                broken += _one(saver, pay, threads)
                threads += 1
            chaos.join()
        print(f"{threads} threads, {RESTARTS} restarts, {broken} runs broken off and resumed")
        assert threads > RESTARTS
        assert set(effects.values()) == {1} and len(effects) == 3 * threads, effects.most_common(3)
        database = Database(url)
        with database.transaction() as transaction:
            assert transaction.all("SELECT call_uid FROM tool_calls WHERE status = 'started'") == []
        database.close()


def _one(saver: Any, pay: Any, number: int) -> int:
    """One run to its end, taken up again as often as the database breaks it off."""
    config: Any = {"configurable": {"thread_id": f"t{number}"}}
    script = [calls(("pay", {"who": f"{number}.{step}"})) for step in range(3)]
    broken, sent = 0, False
    for _ in range(60):
        try:
            agent = build(_From([*script, "done"]), [pay], checkpointer=saver)
            state = agent.get_state(config)
            if sent and state.created_at and not state.tasks and not state.interrupts:
                assert state.values["status"] == "finished"
                return broken
            step: Any = {"messages": [("user", "pay")]} if not state.created_at else None
            if state.interrupts:
                step = Command(resume={state.interrupts[0].id: "approve"})
            sent = True
            agent.invoke(step, config)
        except AssertionError:
            raise
        except Exception as error:
            broken += not isinstance(error, ThreadBusy)
            time.sleep(0.1)
    raise AssertionError(f"thread {number} did not end")


class _From(ScriptedModel):
    """Answers by how many observations it is shown: a process that resumes has a new model."""

    def __init__(self, script: list[Any]) -> None:
        super().__init__(script)

    def _generate(self, messages: list[Any], *rest: Any, **named: Any) -> Any:
        self._requests[:] = [[]] * sum(message.type == "tool" for message in messages)
        return super()._generate(messages, *rest, **named)


def test_a_locked_sqlite_file_is_waited_for(tmp_path: Path) -> None:
    file = tmp_path / "a.sqlite"
    with open_saver(f"sqlite:///{file}") as saver:
        agent = build(ScriptedModel(["one", "two"]), [], checkpointer=saver)
        agent.invoke({"messages": [("user", "q")]}, {"configurable": {"thread_id": "t"}})
        other = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
        other.execute("BEGIN IMMEDIATE")
        threading.Timer(1.5, lambda: other.execute("COMMIT")).start()
        began = time.monotonic()
        state = agent.invoke({"messages": [("user", "q")]}, {"configurable": {"thread_id": "t"}})
        assert state["answer"] == "two" and time.monotonic() - began > 1.0
        other.close()


def test_a_read_only_file_is_an_error_before_anything_runs(tmp_path: Path) -> None:
    file, ran = tmp_path / "a.sqlite", []
    with open_saver(f"sqlite:///{file}"):
        pass

    @tool(effect="read")
    def look() -> str:
        """Look."""
        ran.append(1)
        return "x"

    with open_saver(f"sqlite:///{file}") as saver:
        with saver.records.database.transaction() as transaction:
            transaction.connection.execute("SELECT 1")
        saver.records.database._connection.execute("PRAGMA query_only = ON")
        agent = build(ScriptedModel([calls(("look", {}))]), [look], checkpointer=saver)
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            agent.invoke({"messages": [("user", "q")]}, {"configurable": {"thread_id": "t"}})
    assert ran == []
