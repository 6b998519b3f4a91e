"""What one job of the queue does: it asks its question once, or goes on with what is open on its thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import HumanMessage
from langgraph.runtime import RunControl
from langgraph.types import StateSnapshot

from graphs.fenced import Fenced
from graphs.resuming import is_open
from nodes.context import Context
from nodes.leases import FENCE
from reasonact.settings import Settings, label, read_label

MakeAgent = Callable[[Fenced, Settings], Any]
"""Builds the agent of a job over the saver of the worker."""


class NotYet(Exception):
    """The thread waits for a person about an earlier question: this one has to wait."""


class Stopping(Exception):
    """The worker stops: another one is to do the job."""


@dataclass
class Jobs:
    """The jobs of one worker process, several at once."""

    saver: Fenced
    make_agent: MakeAgent
    _running: list[RunControl] = field(default_factory=list)
    _stopping: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def ask(self, thread: str, key: str, question: str, settings: str | None, user: str | None) -> None:
        """Ask, or go on where an earlier try broke off; what another question left unfinished comes to its end first.

        Raises:
            NotYet: an earlier question waits for a person.
            Stopping, GraphDrained: this worker stops.
            ThreadBusy, LeaseLost: another run is at work on the thread.
        """
        message = HumanMessage(self.saver.records.opened(question), id=f"question-{key}")
        with self._held(thread) as held:
            held.go_on()
            state = held.state()
            if knows(state, str(message.id)):
                return
            if is_open(state):
                raise NotYet(f"thread {thread} waits for a person about an earlier question")
            chosen = held.kept if settings is None else read_label({"reasonact": settings})[1]
            held.run({"messages": [message]}, held.first or message.text, chosen, user)

    def resume(self, thread: str) -> None:
        """Go on after a decision or a crash, if there is anything to go on with.

        Raises:
            Stopping, GraphDrained: this worker stops.
            ThreadBusy, LeaseLost: another run is at work on the thread.
        """
        with self._held(thread) as held:
            held.go_on()

    def stop(self) -> None:
        """Let the step that each run is at come to its end, and begin no other."""
        with self._lock:
            self._stopping = True
            for control in self._running:
                control.request_drain("the worker stops")

    @contextmanager
    def _held(self, thread: str) -> Iterator[_Held]:
        control = RunControl()
        with self._lock:
            if self._stopping:
                raise Stopping("the worker stops")
            self._running.append(control)
        try:
            # Held from the first look on: a worker that was taken for dead may be at the same job.
            with self.saver.records.leases.held(thread) as fence:
                yield _Held(self.saver, self.make_agent, thread, fence, control)
        finally:
            with self._lock:
                self._running.remove(control)


class _Held:
    """A thread that nobody else is at work on."""

    def __init__(self, saver: Fenced, make_agent: MakeAgent, thread: str, fence: int, control: RunControl) -> None:
        self.saver, self.make_agent, self.control = saver, make_agent, control
        self.place: dict[str, Any] = {"thread_id": thread, FENCE: fence}
        found = saver.get_tuple({"configurable": {"thread_id": thread}})
        self.known: dict[str, Any] = dict(found.metadata) if found else {}
        self.first, self.kept = read_label(self.known)

    def state(self) -> StateSnapshot:
        """What the thread remembers."""
        state: StateSnapshot = self.make_agent(self.saver, self.kept).get_state({"configurable": self.place})
        return state

    def go_on(self) -> None:
        """Run what is open; a question that is not decided yet is only asked again, and nothing happens."""
        if self.known and is_open(self.state()):
            # Who asked is in the checkpoint even if the run broke off before it was in the ledger.
            self.run(None, self.first, self.kept, self.known.get("user_id"))

    def run(self, task: Any, first: str, settings: Settings, user: str | None) -> None:
        """Run until the graph pauses or ends."""
        self.make_agent(self.saver, settings).invoke(
            task,
            {
                "configurable": {**self.place, **({"user_id": user} if user else {})},
                "metadata": label(first, settings),
                "recursion_limit": settings.recursion_limit,
            },
            context=Context(language=settings.language),  # type: ignore[arg-type]
            durability="sync",
            control=self.control,
        )


def knows(state: StateSnapshot, id: str) -> bool:
    """Whether the question has come into the thread, be it only as the input of a run that has not begun."""
    waiting = [task.result for task in state.tasks if isinstance(task.result, dict)]
    return any(message.id == id for part in (state.values, *waiting) for message in part.get("messages") or ())
