"""The compiled graph, with one writer at a time on each thread."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import merge_configs
from langgraph.graph.state import CompiledStateGraph

from graphs.resuming import is_answer, refuse_stray
from nodes.leases import FENCE, Leases
from nodes.threads import in_thread, start

_INSIDE = "__pregel_task_id"
"""What LangGraph puts in the config of a graph that runs as a node of another, whose run holds the thread."""


class Agent(CompiledStateGraph[Any, Any, Any, Any]):
    """Takes the thread's lease before the state is read, holds it through the run, and waits for every checkpoint.

    LangGraph's own default writes checkpoints while the next node runs already; here a caller must ask for that.
    """

    leases: Leases

    def __init__(self, *, leases: Leases, **compiled: Any) -> None:
        super().__init__(**compiled)
        self.leases = leases

    @classmethod
    def of(cls, compiled: CompiledStateGraph[Any, Any, Any, Any], leases: Leases) -> Agent:
        """The same graph, as an agent."""
        return cls(**{key: value for key, value in vars(compiled).items() if key != "__orig_class__"}, leases=leases)

    def stream(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> Iterator[Any]:
        """As LangGraph's, on a thread that nobody else is at work on; `invoke` comes through here too.

        Raises:
            ThreadBusy: another run is at work on the thread.
            NothingToResume: an answer for a question that is not open.
        """
        answers = is_answer(input)
        with self._held(config) as held:
            if answers and FENCE in held.get("configurable", {}):
                refuse_stray(input, self.get_state(held))
            yield from super().stream(input, held, **self._durable(held, options))

    async def astream(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> AsyncIterator[Any]:
        """As LangGraph's, on a thread that nobody else is at work on; `ainvoke` comes through here too.

        Raises:
            ThreadBusy: another run is at work on the thread.
            NothingToResume: an answer for a question that is not open.
        """
        answers = is_answer(input)
        async with self._aheld(config) as held:
            if answers and FENCE in held.get("configurable", {}):
                refuse_stray(input, await self.aget_state(held))
            async for part in super().astream(input, held, **self._durable(held, options)):
                yield part

    def bulk_update_state(self, config: RunnableConfig, supersteps: Any) -> RunnableConfig:
        """As LangGraph's, between runs."""
        with self._held(config) as held:
            return _given_back(super().bulk_update_state(held, supersteps))

    async def abulk_update_state(self, config: RunnableConfig, supersteps: Any) -> RunnableConfig:
        """As LangGraph's, between runs."""
        async with self._aheld(config) as held:
            return _given_back(await super().abulk_update_state(held, supersteps))

    def _thread(self, config: RunnableConfig) -> str | None:
        """The thread that this run has to hold; none where there is none, or where it is held already."""
        configurable = config.get("configurable", {})
        if _INSIDE in configurable or FENCE in configurable or not (self.checkpointer or self._injected(configurable)):
            return None
        return str(configurable.get("thread_id") or "") or None

    def _injected(self, configurable: dict[str, Any]) -> bool:
        return configurable.get("__pregel_checkpointer") is not None

    def _durable(self, config: RunnableConfig, options: dict[str, Any]) -> dict[str, Any]:
        asked = options.get("durability") or options.get("checkpoint_during") is not None
        return options if asked or FENCE not in config.get("configurable", {}) else {**options, "durability": "sync"}

    @contextmanager
    def _held(self, config: RunnableConfig | None) -> Iterator[RunnableConfig]:
        merged = merge_configs(self.config, config)
        if (thread := self._thread(merged)) is None:
            yield config or {}
            return
        with self.leases.held(thread) as fence:
            yield merge_configs(config, {"configurable": {FENCE: fence}})

    @asynccontextmanager
    async def _aheld(self, config: RunnableConfig | None) -> AsyncIterator[RunnableConfig]:
        merged = merge_configs(self.config, config)
        if (thread := self._thread(merged)) is None:
            yield config or {}
            return
        lease = self.leases.held(thread)
        taking = asyncio.ensure_future(in_thread(lease.__enter__))
        try:
            fence = await asyncio.shield(taking)
        except asyncio.CancelledError:
            # The lease is taken in its thread all the same, and nobody else would give it back.
            taking.add_done_callback(lambda taken: None if taken.exception() else _give_back(lease))
            raise
        try:
            yield merge_configs(config, {"configurable": {FENCE: fence}})
        finally:
            await asyncio.wrap_future(_give_back(lease))


def _give_back(lease: AbstractContextManager[int]) -> Future[Any]:
    """Beside the event loop, and to its end even if whoever waits for it is cancelled."""
    return start(lambda: lease.__exit__(None, None, None))


def _given_back(config: RunnableConfig) -> RunnableConfig:
    """Without the number of a lease that is held no more."""
    configurable = {name: value for name, value in config.get("configurable", {}).items() if name != FENCE}
    return {**config, "configurable": configurable}
