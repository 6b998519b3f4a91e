"""The saver on one SQLite file."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command

from graphs.react import build
from graphs.saver import sqlite_saver
from nodes.scripted import ScriptedModel
from tests.walking import World, calls, look

THREAD: Any = {"configurable": {"thread_id": "t"}}
PAY = calls(("pay", {"amount": 1}))


def test_a_paused_run_goes_on_in_another_saver_on_the_file(tmp_path: Path) -> None:
    world = World()
    with sqlite_saver(tmp_path / "a.sqlite") as saver:
        build(ScriptedModel([look("a"), PAY]), world.tools, checkpointer=saver).invoke(
            {"messages": [("user", "q")]}, THREAD
        )
    with sqlite_saver(tmp_path / "a.sqlite") as saver:
        state = build(ScriptedModel(["paid"]), world.tools, checkpointer=saver).invoke(Command(resume="yes"), THREAD)
    assert state["answer"] == "paid" and world.effects == ["look a", "pay 1"] and len(state["steps"]) == 3


def test_a_thread_of_the_stock_saver_goes_on(tmp_path: Path) -> None:
    world = World()
    connection = sqlite3.connect(tmp_path / "a.sqlite", check_same_thread=False)
    graph = build(ScriptedModel([PAY]), world.tools, checkpointer=SqliteSaver(connection))
    graph.invoke({"messages": [("user", "q")]}, THREAD)
    connection.close()
    with sqlite_saver(tmp_path / "a.sqlite") as saver:
        graph = build(ScriptedModel(["paid", "again"]), world.tools, checkpointer=saver)
        assert graph.invoke(Command(resume="yes"), THREAD)["answer"] == "paid"
        assert graph.invoke({"messages": [("user", "more")]}, THREAD)["answer"] == "again"
    assert world.effects == ["pay 1"]


def test_its_checkpoints_are_smaller(tmp_path: Path) -> None:
    sizes = []
    for saver_of in (SqliteSaver, None):
        with sqlite_saver(tmp_path / f"{saver_of}.sqlite") as ours:
            saver = SqliteSaver(ours.conn, serde=ours.serde) if saver_of else ours
            model = ScriptedModel([*[look(str(n)) for n in range(5)], "done"])
            build(model, World().tools, checkpointer=saver).invoke({"messages": [("user", "q")]}, THREAD)
            sizes.append(ours.conn.execute("select sum(length(checkpoint)) from checkpoints").fetchone()[0])
    assert sizes[1] < 0.7 * sizes[0]


def test_a_file_that_is_no_database_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.sqlite").write_text("not a database, but long enough to be looked at " * 50)
    with pytest.raises(sqlite3.Error), sqlite_saver(tmp_path / "a.sqlite"):
        pass
