"""One writer a thread: however many answer at once, from threads or processes, one effect and one chain."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from langgraph.types import Command

from graphs.react import build
from graphs.resuming import NothingToResume
from graphs.saver import open_saver
from nodes.leases import LeaseLost, ThreadBusy
from nodes.scripted import ScriptedModel
from tests.invariants import branched
from tests.walking import calls
from tools.tool import Tool, tool

ROUNDS = int(os.environ.get("REASONACT_ROUNDS", "20"))


def config(thread: str) -> Any:
    return {"configurable": {"thread_id": thread}}


def payer(log: Path, seconds: float = 0.0) -> Tool:
    @tool(effect="irreversible")
    def pay(amount: int) -> str:
        """Pay."""
        time.sleep(seconds)
        with log.open("a") as file:
            file.write(f"{amount}\n")
        return f"paid {amount}"

    return pay


def paid(log: Path) -> int:
    return len(log.read_text().splitlines()) if log.exists() else 0


@contextmanager
def waiting(url: str, thread: str, log: Path, seconds: float = 0.0) -> Iterator[Any]:
    """A thread that waits for the approval of one payment."""
    with open_saver(url) as saver:
        model = ScriptedModel([calls(("pay", {"amount": 5}))])
        build(model, [payer(log, seconds)], checkpointer=saver).invoke({"messages": [("user", "pay")]}, config(thread))
        yield saver


def chain_is_linear(saver: Any, thread: str) -> bool:
    return branched(saver, config(thread)) == []


def answer(saver: Any, thread: str, log: Path) -> str:
    agent = build(ScriptedModel(["done"]), [payer(log)], checkpointer=saver)
    try:
        return str(agent.invoke(Command(resume="approve"), config(thread))["status"])
    except (ThreadBusy, NothingToResume) as refused:
        return type(refused).__name__


@pytest.mark.parametrize("answers", [2, 8, 50])
def test_answers_at_once_from_threads_cause_one_effect(database_url: str, tmp_path: Path, answers: int) -> None:
    with ThreadPoolExecutor(answers) as pool:
        for round in range(ROUNDS):
            thread, log = f"t{round}", tmp_path / f"{round}.log"
            with waiting(database_url, thread, log) as saver:
                told = list(pool.map(lambda _: answer(saver, thread, log), range(answers)))  # noqa: B023
                assert paid(log) == 1, told
                assert told.count("finished") == 1
                assert set(told) <= {"finished", "ThreadBusy", "NothingToResume"}
                assert chain_is_linear(saver, thread)


def forked(work: Callable[[int], None], number: int) -> list[int]:
    """`work` in so many processes at once; their exit codes."""
    fork = multiprocessing.get_context("fork")
    made = [fork.Process(target=work, args=(place,), daemon=True) for place in range(number)]
    for process in made:
        process.start()
    for process in made:
        process.join(60)
    return [process.exitcode if process.exitcode is not None else -1 for process in made]


@pytest.mark.parametrize("answers", [2, 8])
def test_answers_at_once_from_processes_cause_one_effect(database_url: str, tmp_path: Path, answers: int) -> None:
    for round in range(max(2, ROUNDS // 4)):
        thread, log = f"t{round}", tmp_path / f"{round}.log"
        with waiting(database_url, thread, log):
            pass

        def work(_: int, thread: str = thread, log: Path = log) -> None:
            with open_saver(database_url) as saver:
                told = answer(saver, thread, log)
            os._exit({"finished": 10, "ThreadBusy": 11, "NothingToResume": 12}.get(told, 1))

        codes = forked(work, answers)
        assert paid(log) == 1, codes
        assert codes.count(10) == 1 and set(codes) <= {10, 11, 12}
        with open_saver(database_url) as saver:
            assert chain_is_linear(saver, thread)


def test_threads_do_not_wait_for_each_other(database_url: str, tmp_path: Path) -> None:
    with open_saver(database_url) as saver, ThreadPoolExecutor(50) as pool:

        def one(number: int) -> str:
            log = tmp_path / f"{number}.log"
            model = ScriptedModel([calls(("pay", {"amount": number})), f"secret {number}"])
            agent = build(model, [payer(log)], checkpointer=saver)
            agent.invoke({"messages": [("user", f"pay {number}")]}, config(f"t{number}"))
            state = agent.invoke(Command(resume="approve"), config(f"t{number}"))
            assert log.read_text() == f"{number}\n"
            assert {message.text for message in state["messages"]} & {f"secret {n}" for n in range(50)} == {
                f"secret {number}"
            }
            return str(state["status"])

        assert list(pool.map(one, range(50))) == ["finished"] * 50
        assert all(chain_is_linear(saver, f"t{number}") for number in range(50))


def test_a_second_run_gets_a_clear_error_at_once(database_url: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with waiting(database_url, "t", log, seconds=1.0) as saver, ThreadPoolExecutor(1) as pool:
        slow = build(ScriptedModel(["done"]), [payer(log, 1.0)], checkpointer=saver)
        first = pool.submit(slow.invoke, Command(resume="approve"), config("t"))
        time.sleep(0.4)
        began = time.monotonic()
        with pytest.raises(ThreadBusy, match="another run is at work on thread t"):
            build(ScriptedModel([]), [payer(log)], checkpointer=saver).invoke(
                {"messages": [("user", "x")]}, config("t")
            )
        with pytest.raises(ThreadBusy):
            slow.update_state(config("t"), {"messages": [("user", "x")]})
        assert time.monotonic() - began < 0.5
        assert first.result()["status"] == "finished" and paid(log) == 1


def test_a_worker_stopped_past_its_lease_changes_nothing_more(database_url: str, tmp_path: Path) -> None:
    """SIGSTOP while the tool runs; another process takes the thread; the first wakes up and is refused."""
    log = tmp_path / "log"
    with waiting(database_url, "t", log):
        pass

    def work() -> None:
        with open_saver(database_url) as saver:
            saver.records.leases.seconds = 1.0
            agent = build(ScriptedModel(["late"]), [payer(log, 1.0)], checkpointer=saver)
            try:
                agent.invoke(Command(resume="approve"), config("t"))
            except LeaseLost:
                os._exit(20)
        os._exit(21)

    process = multiprocessing.get_context("fork").Process(target=work, daemon=True)
    process.start()
    time.sleep(0.7)
    assert process.pid is not None
    os.kill(process.pid, signal.SIGSTOP)
    time.sleep(1.5)
    with open_saver(database_url) as saver:
        agent = build(ScriptedModel(["done"]), [payer(log)], checkpointer=saver)
        state = agent.invoke(None, config("t"))
        assert state["status"] == "finished"
        assert "not known whether this call took effect" in state["messages"][-2].text
        os.kill(process.pid, signal.SIGCONT)
        process.join(30)
        assert process.exitcode == 20, "the stopped worker must see that its lease is lost"
        assert paid(log) <= 1 and chain_is_linear(saver, "t")
        assert agent.get_state(config("t")).values["status"] == "finished"
