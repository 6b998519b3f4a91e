"""The worst that tools return and raise: an observation comes of it, the checkpoint is saved, and no secret leaks."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import ToolMessage

from graphs.react import build
from graphs.saver import open_saver
from nodes.audit import Audit
from nodes.limits import Limits
from nodes.scripted import ScriptedModel
from tests.test_encryption import everything
from tests.walking import calls
from tools.tool import Tool

CANARY = "hunter2-canary-token"


class Unprintable:
    def __str__(self) -> str:
        raise RuntimeError(CANARY)

    __repr__ = __str__


def nested(depth: int) -> Any:
    value: Any = "deep"
    for _ in range(depth):
        value = [value]
    return value


def raising(error: Callable[[], BaseException]) -> Callable[[], Any]:
    def run() -> Any:
        raise error()

    return run


def slow() -> str:
    time.sleep(2)
    return "late"


async def cancelled() -> Any:
    raise asyncio.CancelledError(CANARY)


NASTY: dict[str, Callable[[], Any]] = {
    "10 MB": lambda: "x" * 10_000_000,
    "NUL": lambda: "a\x00b",
    "lone surrogate": lambda: "a\ud800b",
    "not a number": lambda: {"value": float("nan"), "more": float("inf")},
    "a huge integer": lambda: 2**70,
    "an integer of 5,000 digits": lambda: 10**5000,
    "depth 10,000": lambda: nested(10_000),
    "bytes": lambda: b"\xff\x00",
    "a generator": lambda: (n for n in range(3)),
    "an unprintable object": Unprintable,
    "a loop": lambda: (lambda a: (a.append(a), a)[1])([]),
    "None": lambda: None,
    "SystemExit": raising(lambda: SystemExit(CANARY)),
    "KeyboardInterrupt": raising(lambda: KeyboardInterrupt(CANARY)),
    "CancelledError": cancelled,
    "MemoryError": raising(lambda: MemoryError(CANARY)),
    "RecursionError": raising(lambda: RecursionError(CANARY)),
    "StopIteration": raising(lambda: StopIteration(CANARY)),
    "GeneratorExit": raising(lambda: GeneratorExit(CANARY)),
    "an exception group": raising(lambda: ExceptionGroup(CANARY, [ValueError(CANARY)])),
    "a bare BaseException": raising(lambda: BaseException(CANARY)),
    "an exception that cannot be printed": raising(lambda: RuntimeError(Unprintable())),
    "a secret in a KeyError": raising(lambda: KeyError(CANARY)),
    "a secret in an address": raising(lambda: ConnectionError(f"https://x.example/?api_key={CANARY}")),
    "a timeout": slow,
}


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_an_observation_comes_of_it(database_url: str, mode: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    streamed: list[str] = []
    for number, (name, function) in enumerate(NASTY.items()):
        tool = Tool("nasty", "Do something.", function, effect="write", timeout=0.3 if function is slow else None)
        with open_saver(database_url, audit=Audit(b"key")) as saver:
            model = ScriptedModel([calls(("nasty", {})), "done"])
            agent = build(model, [tool], approve="none", limits=Limits(rate=0), checkpointer=saver)
            config: Any = {"configurable": {"thread_id": f"t{number}"}}
            streamed.append(str(_run(agent, config, mode)))
            state = agent.get_state(config).values
            assert state["status"] == "finished", name
            assert len([m for m in state["messages"] if isinstance(m, ToolMessage)]) == 1, name
            assert CANARY not in str(model.requests), name
            with saver.records.database.transaction() as transaction:
                rows = transaction.all("SELECT status FROM tool_calls WHERE thread_id = ?", f"t{number}")
            assert [row["status"] in ("done", "failed", "unknown") for row in rows] == [True], name
    assert CANARY not in "".join(streamed) and CANARY not in caplog.text
    assert CANARY.encode() not in everything(database_url)


def _run(agent: Any, config: Any, mode: str) -> list[Any]:
    question = {"messages": [("user", "q")]}
    if mode == "sync":
        return list(agent.stream(question, config, stream_mode=["updates", "values"]))

    async def run() -> list[Any]:
        return [part async for part in agent.astream(question, config, stream_mode=["updates", "values"])]

    return asyncio.run(run())
