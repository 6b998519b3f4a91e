"""A node that waits for the world: its steps are written once and driven sync or async."""

from __future__ import annotations

import asyncio
import time
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass
from typing import Any, TypeVar

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.runtime import Runtime, get_runtime

from nodes.state import Update
from nodes.threads import in_thread, within

T = TypeVar("T")


@dataclass(frozen=True)
class Wait:
    """One thing to wait for, in the form that each world needs."""

    sync: Callable[[], Any]
    asynchronous: Callable[[], Awaitable[Any]]
    seconds: float | None
    """Longest wait; None waits for ever. What comes later than that is thrown away."""

    @classmethod
    def io(cls, work: Callable[[], Any]) -> Wait:
        """Short blocking work, such as a transaction: done here, or beside the event loop."""
        return cls(work, lambda: in_thread(work), None)

    @classmethod
    def pause(cls, seconds: float) -> Wait:
        """Wait for nothing but the time to pass."""
        return cls(lambda: time.sleep(seconds), lambda: asyncio.sleep(seconds), None)


Steps = Generator[Wait, Any, Update]


class Node(Runnable[Any, Update]):
    """A node whose steps `yield` what they wait for and get back what came, or have raised at them what went wrong."""

    @abstractmethod
    def steps(self, input: Any, runtime: Runtime[Any]) -> Steps:
        """The node's work, free of the question whether it runs sync or async."""

    def invoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> Update:
        """Drive the steps, blocking."""
        steps = self.steps(input, get_runtime())
        reply: Any = None
        error: Exception | None = None
        while True:
            try:
                wait = steps.send(reply) if error is None else steps.throw(error)
            except StopIteration as done:
                return done.value  # type: ignore[no-any-return]
            reply, error = None, None
            try:
                reply = within(wait.seconds, wait.sync)
            except Exception as raised:
                error = raised

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> Update:
        """Drive the steps, awaiting."""
        steps = self.steps(input, get_runtime())
        reply: Any = None
        error: Exception | None = None
        while True:
            try:
                wait = steps.send(reply) if error is None else steps.throw(error)
            except StopIteration as done:
                return done.value  # type: ignore[no-any-return]
            reply, error = None, None
            try:
                reply = await asyncio.wait_for(_awaited(wait.asynchronous), wait.seconds)
            except Exception as raised:
                error = raised


async def _awaited(make: Callable[[], Awaitable[T]]) -> T:
    return await make()
