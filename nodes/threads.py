"""Daemon threads for blocking work: idle ones are used again, one that hangs is left behind."""

from __future__ import annotations

import contextvars
import os
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class _Worker:
    """One thread that waits for its next piece of work."""

    def __init__(self, idle: deque[_Worker]) -> None:
        self.idle = idle
        self.wake = threading.Lock()
        self.wake.acquire()
        self.work: Callable[[], None] = lambda: None
        threading.Thread(target=self.run, daemon=True, name="reasonact").start()

    def give(self, work: Callable[[], None]) -> None:
        self.work = work
        self.wake.release()

    def run(self) -> None:
        while True:
            self.wake.acquire()
            self.work()
            self.work = lambda: None
            self.idle.append(self)


_IDLE: deque[_Worker] = deque()
if hasattr(os, "register_at_fork"):
    # A forked process has the list but none of the threads: work given to one of them would never be done.
    os.register_at_fork(after_in_child=_IDLE.clear)


def _run(job: Callable[[], None]) -> None:
    try:
        worker = _IDLE.pop()
    except IndexError:
        worker = _Worker(_IDLE)
    worker.give(job)


def start(work: Callable[[], T]) -> Future[T]:
    """Run `work` in a daemon thread, in a copy of the caller's context.

    Unlike an executor's threads, these neither queue behind work that hangs nor keep the process from ending.
    """
    future: Future[T] = Future()
    context = contextvars.copy_context()

    def job() -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            result = context.run(work)
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(result)

    _run(job)
    return future


def within(seconds: float | None, work: Callable[[], T]) -> T:
    """Run `work` and wait for it at most `seconds`; None runs it here and waits for ever.

    Raises:
        TimeoutError: it took longer; the work goes on in its thread, and what comes of it is thrown away.
    """
    if seconds is None:
        return work()
    context = contextvars.copy_context()
    done = threading.Lock()
    done.acquire()
    results: list[T] = []
    errors: list[BaseException] = []

    def job() -> None:
        try:
            results.append(context.run(work))
        except BaseException as error:
            errors.append(error)
        done.release()

    _run(job)
    if not done.acquire(timeout=min(seconds, threading.TIMEOUT_MAX)):
        raise TimeoutError(f"not done within {seconds:g} seconds")
    if errors:
        raise errors[0]
    return results[0]


async def in_thread(work: Callable[[], Any]) -> Any:
    """Run blocking `work` beside the event loop."""
    import asyncio

    return await asyncio.wrap_future(start(work))
