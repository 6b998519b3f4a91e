"""What is said and done cannot be read from an encrypted database, and what is not encrypted is not read."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.types import Command

from graphs.encryption import Encryption, NotEncrypted
from graphs.react import build
from graphs.saver import open_saver
from nodes.scripted import ScriptedModel
from tests.invariants import tables
from tests.walking import World, calls
from tools.database import Database

KEY = b"k" * 32
T: Any = {"configurable": {"thread_id": "t"}}
CANARY = "canary7261"


def everything(url: str) -> bytes:
    """Every value of every table, as the database has it."""
    database = Database(url)
    with database.transaction() as transaction:
        rows = [transaction.all(f"SELECT * FROM {name}") for name in tables(transaction)]
    database.close()
    values = [value for table in rows for row in table for value in row.values()]
    return b"\n".join(
        bytes(value) if isinstance(value, bytes | memoryview) else str(value).encode() for value in values
    )


@pytest.mark.parametrize("key", [None, KEY])
def test_nothing_that_was_said_or_done_is_in_clear(database_url: str, key: bytes | None) -> None:
    world = World(answers={CANARY: f"found {CANARY}"})
    for step in (
        {"messages": [("user", f"look for {CANARY}")]},
        Command(resume={"type": "edit", "args": {"text": CANARY}}),
    ):
        with open_saver(database_url, encryption_key=key) as saver:
            thought = f"I think of {CANARY}."
            script = [
                calls(("look", {"what": CANARY}), thought=thought),
                calls(("note", {"text": f"x {CANARY}"}), thought=thought),
            ]
            if isinstance(step, Command):
                script = [f"The answer is {CANARY}"]  # type: ignore[list-item]
            state = build(ScriptedModel(script), world.tools, checkpointer=saver).invoke(step, T)
    assert state["answer"] == f"The answer is {CANARY}" and world.effects[-1] == f"note {CANARY}"
    assert (CANARY.encode() in everything(database_url)) == (key is None)


def test_a_row_in_clear_is_refused_in_an_encrypted_database(database_url: str) -> None:
    with open_saver(database_url) as saver:
        build(ScriptedModel([calls(("pay", {"amount": 1}))]), World().tools, checkpointer=saver).invoke(
            {"messages": [("user", "q")]}, T
        )
    with open_saver(database_url, encryption_key=KEY) as saver:
        agent = build(ScriptedModel(["done"]), World().tools, checkpointer=saver)
        with pytest.raises(NotEncrypted):
            agent.get_state(T)
        with pytest.raises(NotEncrypted):
            agent.invoke(Command(resume="yes"), T)


def test_another_key_reads_nothing(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.sqlite"
    with open_saver(url, encryption_key=KEY) as saver:
        build(ScriptedModel(["hello"]), [], checkpointer=saver).invoke({"messages": [("user", "q")]}, T)
    with open_saver(url, encryption_key=b"x" * 32) as saver, pytest.raises(ValueError, match="MAC"):
        build(ScriptedModel(["hello"]), [], checkpointer=saver).get_state(T)


@pytest.mark.parametrize("key", [b"", b"short", b"x" * 33])
def test_a_key_of_another_length_is_said_at_once(key: bytes) -> None:
    with pytest.raises(ValueError, match="16, 24 or 32 bytes"), open_saver("memory", encryption_key=key):
        pass


def test_the_seal_of_the_ledger() -> None:
    seal = Encryption.of(KEY)
    for text in ("", "plain", "\ud800 lone", "\x00", "王" * 1000):
        assert seal.open(seal.close(text)) == text
    with pytest.raises(NotEncrypted):
        seal.open('{"amount": 1}')
    sealed = seal.close("text")
    with pytest.raises(ValueError, match="MAC"):
        seal.open(sealed[:-8] + ("A" if sealed[-8] != "A" else "B") + sealed[-7:])


class Planted:
    """Makes a folder when it is loaded, as an attacker's object would run a command."""

    def __init__(self, path: str) -> None:
        Path(path).mkdir()


@pytest.mark.parametrize("key", [None, KEY])
def test_a_planted_object_is_not_made(tmp_path: Path, key: bytes | None) -> None:
    import ormsgpack

    file, trap = tmp_path / "a.sqlite", tmp_path / "trap"
    with open_saver(f"sqlite:///{file}", encryption_key=key) as saver:
        build(ScriptedModel(["hello"]), [], checkpointer=saver).invoke({"messages": [("user", "q")]}, T)
        kind, _ = JsonPlusSerializer().dumps_typed(HumanMessage("x"))
    planted = ormsgpack.packb(ormsgpack.Ext(1, ormsgpack.packb((__name__, "Planted", [str(trap)]))))
    with closing(sqlite3.connect(file)) as other:
        other.execute("UPDATE writes SET type = ?, value = ?", (kind, planted))
        other.commit()
    with open_saver(f"sqlite:///{file}", encryption_key=key) as saver:
        try:
            list(build(ScriptedModel([]), [], checkpointer=saver).get_state_history(T))
        except Exception as error:
            assert not isinstance(error, AssertionError)
    assert not trap.exists()
