"""Ctrl-C: the first lets the step that is running end and be kept, the second ends at once."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from langgraph.runtime import RunControl

from reasonact.endings import ExitCode


@contextmanager
def drained_by_ctrl_c(control: RunControl, first: Callable[[], None], second: Callable[[], None]) -> Iterator[None]:
    """Let SIGINT and SIGTERM drain the run instead of breaking it.

    A second signal leaves the process without waiting for its threads, because a tool that hangs would hold it up; the
    checkpoints of all completed steps are on disk by then.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        if not control.drain_requested:
            control.request_drain("interrupted")
            first()
            return
        second()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(ExitCode.INTERRUPTED)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
