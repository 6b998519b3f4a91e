"""What every saver of ours does alike: no checkpoint from a run that lost its thread, and async as well as sync."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple

from nodes.leases import fence_of
from nodes.records import Records
from nodes.threads import in_thread

_CHANCE = 32
"""Bits of a version that are chance."""


class Fenced(BaseCheckpointSaver[Any]):
    """Before a saver that knows how to store."""

    records: Records
    """The ledger in the same database."""

    def put(self, config: RunnableConfig, checkpoint: Any, metadata: Any, new_versions: Any) -> RunnableConfig:
        """Store a checkpoint.

        Raises:
            LeaseLost: the thread was given to another run.
        """
        self._mine(config)
        return super().put(config, checkpoint, metadata, new_versions)

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store what a task wrote.

        Raises:
            LeaseLost: the thread was given to another run.
        """
        self._mine(config)
        super().put_writes(config, writes, task_id, task_path)

    def delete_thread(self, thread_id: str) -> None:
        """Forget a thread: its checkpoints and its ledger. The audit log stays."""
        super().delete_thread(thread_id)
        self.records.delete_thread(thread_id)

    def get_next_version(self, current: Any, channel: None) -> Any:
        """A number, because LangGraph's texts have 49 characters, twice in every checkpoint; an old thread keeps them.

        Its lower half is chance: values are stored under their version, and two branches of a thread must not meet.
        """
        if isinstance(current, str):
            return super().get_next_version(current, channel)
        step = 0 if current is None else current >> _CHANCE
        return (step + 1 << _CHANCE) + secrets.randbits(_CHANCE)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """As `get_tuple`."""
        found: CheckpointTuple | None = await in_thread(lambda: self.get_tuple(config))
        return found

    async def alist(self, config: RunnableConfig | None, **options: Any) -> AsyncIterator[CheckpointTuple]:
        """As `list`."""
        for found in await in_thread(lambda: list(self.list(config, **options))):
            yield found

    async def aput(self, config: RunnableConfig, checkpoint: Any, metadata: Any, new_versions: Any) -> RunnableConfig:
        """As `put`."""
        stored: RunnableConfig = await in_thread(lambda: self.put(config, checkpoint, metadata, new_versions))
        return stored

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """As `put_writes`."""
        await in_thread(lambda: self.put_writes(config, writes, task_id, task_path))

    async def adelete_thread(self, thread_id: str) -> None:
        """As `delete_thread`."""
        await in_thread(lambda: self.delete_thread(thread_id))

    def _mine(self, config: RunnableConfig) -> None:
        if (fence := fence_of(config)) is not None:
            self.records.leases.insist(str(config["configurable"]["thread_id"]), fence)
