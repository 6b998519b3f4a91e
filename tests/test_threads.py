"""Blocking work beside the run: bounded in time, in the caller's context, never in the way of the process's end."""

from __future__ import annotations

import asyncio
import contextvars
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from nodes.threads import in_thread, start, within

NAME: contextvars.ContextVar[str] = contextvars.ContextVar("NAME")


def test_it_gives_the_result_or_raises_the_error() -> None:
    assert within(5, lambda: 7) == 7 and within(None, lambda: 8) == 8
    for error in (ValueError("x"), SystemExit(2), KeyboardInterrupt()):
        with pytest.raises(type(error)):
            within(5, lambda error=error: (_ for _ in ()).throw(error))


def test_it_does_not_wait_longer_than_it_may() -> None:
    never = threading.Event()
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        within(0.1, lambda: never.wait(30))
    assert time.monotonic() - began < 5
    assert within(5, lambda: "the next one is not behind it") == "the next one is not behind it"
    never.set()


def test_it_runs_in_a_copy_of_the_callers_context() -> None:
    NAME.set("caller")
    assert within(5, NAME.get) == "caller"
    within(5, lambda: NAME.set("inside"))
    assert NAME.get() == "caller"
    assert asyncio.run(in_thread(NAME.get)) == "caller" and start(NAME.get).result(5) == "caller"


def test_idle_threads_are_used_again() -> None:
    names = {within(5, threading.get_ident) for _ in range(50)}
    assert len(names) <= 3


def test_work_that_hangs_does_not_keep_the_process() -> None:
    code = "import time; from nodes.threads import start; start(lambda: time.sleep(60)); print('over')"
    root = Path(__file__).resolve().parents[1]
    ran = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, timeout=20, check=True)
    assert ran.stdout == "over\n"


def test_a_forked_process_has_threads_of_its_own() -> None:
    assert within(5, lambda: 1) == 1  # leaves an idle thread behind
    child = os.fork()
    if child == 0:
        try:
            os._exit(within(5, lambda: 7))
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
