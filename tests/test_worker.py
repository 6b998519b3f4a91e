"""Workers as they run: several processes, killed, stopped and started, and every effect exactly once."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from typer import Typer
from typer.testing import CliRunner

from graphs.fenced import Fenced
from graphs.saver import open_saver
from nodes.approval import call_fingerprint
from nodes.decisions import Decisions
from nodes.policy import Policy
from reasonact.queue import Queue
from reasonact.settings import Settings
from tests.postgres import Server
from tests.test_concurrency import chain_is_linear
from tests.worker_script import HEARTBEAT, TABLE, agent, payment
from tools.toolbox import Toolbox

pytest.importorskip("procrastinate")
FREE = Settings(approve="none")


@pytest.fixture
def desk(postgres_url: str, tmp_path: Path) -> Iterator[Desk]:
    with open_saver(postgres_url) as saver, ExitStack() as stack:
        yield Desk(postgres_url, saver, stack, tmp_path / "said")


class Desk:
    """The database as a person sees it, with the workers on it."""

    def __init__(self, url: str, store: Fenced, stack: ExitStack, said: Path) -> None:
        self.said = said
        self.url, self.store, self.stack, self.database = url, store, stack, store.records.database
        with self.database.transaction() as transaction:
            transaction.run(TABLE)
        self.queue = Queue(self.database)
        self.queue.migrate()

    def worker(self, *options: str) -> subprocess.Popen[bytes]:
        with self.said.open("ab") as said:
            started = subprocess.Popen([sys.executable, "-m", "tests.worker_script", self.url, *options], stderr=said)
        self.stack.callback(started.wait)
        self.stack.callback(started.kill)
        return started

    def approve_all(self) -> int:
        """Decide what is asked, as `reasonact approvals approve` does, and queue the rest of the run."""
        rows = self.rows("SELECT * FROM tool_calls WHERE status = 'awaiting'")
        decisions = Decisions(self.store.records, Policy(), Toolbox([payment(self.database, 0)]))
        for row in rows:
            decision: Any = {"type": "approve", "call": call_fingerprint(row["tool"], {})}
            decisions.decide(row["call_uid"], row["approval_id"], decision, "ann")
            self.queue.resume(row["thread_id"])
        return len(rows)

    def rows(self, sql: str) -> list[dict[str, Any]]:
        with self.database.transaction() as transaction:
            return transaction.all(sql)

    def effects(self) -> list[tuple[str, int]]:
        return sorted((row["thread"], row["amount"]) for row in self.rows("SELECT * FROM effects"))

    def at_work(self) -> list[int]:
        """The processes that are in the middle of a run."""
        return [int(row["owner"].split()[1]) for row in self.rows("SELECT owner FROM leases WHERE until > 0")]

    def answer(self, thread: str) -> Any:
        state = agent(self.store, Settings()).get_state({"configurable": {"thread_id": thread}})
        return None if state.tasks or state.interrupts else state.values.get("answer")

    def until(self, done: Callable[[], bool], seconds: float = 40.0, meanwhile: Callable[[], Any] = int) -> None:
        ends = time.monotonic() + seconds
        while not done():
            meanwhile()
            if time.monotonic() > ends:
                pytest.fail(f"not done: {self.effects()} {self.queue.app.job_manager.list_jobs()}")
            time.sleep(0.1)

    def all_paid(self, threads: list[str], times: int) -> bool:
        wanted = sorted((thread, amount) for thread in threads for amount in range(times))
        return self.effects() == wanted and self.queue.waiting() == 0


@contextmanager
def timed(what: str) -> Iterator[None]:
    began = time.monotonic()
    yield
    print(f"{what}: {time.monotonic() - began:.1f} s")


@pytest.mark.parametrize("kills", [0, 4])
def test_twelve_threads_over_three_workers_pay_each_sum_once(desk: Desk, kills: int) -> None:
    threads = [f"t{number}" for number in range(12)]
    for thread in threads:
        desk.queue.ask(thread, f"{thread} pays 2 times", user="bob")
    workers = [desk.worker("0.1") for _ in range(3)]
    chance, killed, rest = random.Random(7), [0], [0.0]

    def meanwhile() -> None:
        desk.approve_all()
        victims = [worker for worker in workers if worker.pid in desk.at_work()]
        if killed[0] < kills and victims and time.monotonic() > rest[0]:
            time.sleep(chance.uniform(0.0, 0.1))
            victim = chance.choice(victims)
            victim.kill()
            victim.wait()
            workers[workers.index(victim)] = desk.worker("0.1")
            killed[0], rest[0] = killed[0] + 1, time.monotonic() + chance.uniform(0.2, 0.8)

    with timed(f"12 threads, 2 approvals each, 3 workers, {kills} kills"):
        desk.until(lambda: desk.all_paid(threads, 2), 60.0, meanwhile)
    assert killed == [kills]
    assert ("is gone; it goes back into the queue" in desk.said.read_text()) == bool(kills)
    for thread in threads:
        assert desk.answer(thread) == f"{thread} paid 2"
        assert chain_is_linear(desk.store, thread)
    asked = desk.rows("SELECT thread_id, requester FROM runs")
    assert len(asked) == 12 and {row["requester"] for row in asked} == {"bob"}
    print(f"jobs that went back: {desk.said.read_text().count('is gone')}")


def test_sigterm_ends_the_step_and_another_worker_goes_on(desk: Desk) -> None:
    desk.queue.ask("t", "t pays 4 times", FREE)
    first = desk.worker("0.7")
    desk.until(lambda: bool(desk.rows("SELECT 1 FROM tool_calls WHERE status = 'started'")))
    first.send_signal(signal.SIGTERM)
    assert first.wait(10) == 0
    assert desk.effects() == [("t", 0)] and desk.rows("SELECT 1 FROM tool_calls WHERE status = 'started'") == []
    (job,) = desk.queue.app.job_manager.list_jobs()
    assert job.status == "todo" and desk.answer("t") is None
    desk.worker()
    desk.until(lambda: desk.all_paid(["t"], 4))
    assert desk.answer("t") == "t paid 4" and chain_is_linear(desk.store, "t")


def test_a_second_sigterm_ends_at_once(desk: Desk) -> None:
    desk.queue.ask("t", "t pays 1 times", FREE)
    worker = desk.worker("30")
    desk.until(lambda: bool(desk.rows("SELECT 1 FROM tool_calls WHERE status = 'started'")))
    worker.send_signal(signal.SIGTERM)
    with pytest.raises(subprocess.TimeoutExpired):
        worker.wait(0.5)
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(3) == 130
    desk.worker()
    desk.until(lambda: desk.all_paid(["t"], 1))


def test_a_worker_that_was_taken_for_dead_does_nothing_twice_and_works_on(desk: Desk) -> None:
    desk.queue.ask("t", "t pays 4 times", FREE)
    frozen = desk.worker("0.3")
    desk.until(lambda: bool(desk.effects()))
    frozen.send_signal(signal.SIGSTOP)
    time.sleep(4 * HEARTBEAT)
    other = desk.worker()
    desk.until(lambda: "is gone" in desk.said.read_text())
    desk.until(lambda: any(job.attempts > 1 for job in desk.queue.app.job_manager.list_jobs()))
    frozen.send_signal(signal.SIGCONT)
    desk.until(lambda: desk.all_paid(["t"], 4))
    other.kill()
    desk.queue.ask("u", "u pays 1 times", FREE)
    desk.until(lambda: len(desk.effects()) == 5)
    desk.until(lambda: desk.queue.waiting() == 0)
    assert len(desk.effects()) == 5 and chain_is_linear(desk.store, "t")
    assert frozen.poll() is None


def test_a_worker_outlives_a_restart_of_the_database(desk: Desk, postgres: Server) -> None:
    desk.queue.ask("t", "t pays 3 times", FREE)
    worker = desk.worker("0.4")
    desk.until(lambda: bool(desk.at_work()))
    postgres.restart("immediate")
    desk.queue.ask("u", "u pays 1 times", FREE)
    desk.until(lambda: len(desk.effects()) == 4 and desk.queue.waiting() == 0)
    assert desk.effects() == [("t", 0), ("t", 1), ("t", 2), ("u", 0)] and worker.poll() is None
    assert chain_is_linear(desk.store, "t")


def test_a_busy_thread_is_tried_again_and_a_double_question_asked_once(desk: Desk) -> None:
    with desk.store.records.leases.held("t"):
        for _ in range(2):
            desk.queue.ask("t", "t pays 1 times", FREE, key="same")
        desk.worker()
        desk.until(lambda: any(job.attempts for job in desk.queue.app.job_manager.list_jobs()))
        assert desk.effects() == []
    desk.until(lambda: desk.all_paid(["t"], 1))
    assert len(desk.rows("SELECT * FROM runs")) == 1


def test_once_works_until_nothing_is_left_and_a_broken_job_keeps_nothing(desk: Desk) -> None:
    for number in range(3):
        desk.queue.ask("t", f"t{number} pays 1 times", FREE)
    desk.queue.ask("broken", "no such sentence", FREE)
    assert desk.worker("0", "--once").wait(30) == 0
    assert desk.effects() == [(f"t{number}", 0) for number in range(3)] and desk.answer("t") == "t2 paid 1"
    assert desk.queue.waiting() == 0


def test_a_question_behind_an_approval_is_answered_after_it(desk: Desk) -> None:
    desk.queue.ask("t", "a pays 1 times")
    desk.queue.ask("t", "b pays 0 times")
    desk.worker()
    desk.until(lambda: any(job.attempts for job in desk.queue.app.job_manager.list_jobs()))
    desk.until(lambda: desk.answer("t") == "b paid 0", meanwhile=desk.approve_all)
    assert desk.effects() == [("a", 0)] and chain_is_linear(desk.store, "t")


def test_the_commands(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    from reasonact.worker_commands import enqueue, worker

    app = Typer()
    app.command("worker")(worker)
    app.command("enqueue")(enqueue)
    monkeypatch.setenv("REASONACT_DATABASE", desk.url)
    put = CliRunner().invoke(app, ["enqueue", "what is 1 + 1?", "--thread", "mine", "--model", "nobody:knows"])
    assert put.exit_code == 0 and put.stdout == "mine\n"
    (job,) = desk.queue.app.job_manager.list_jobs()
    assert "nobody:knows" in str(job.task_kwargs["settings"])
    # In a process of its own: a worker takes over the signals of its process.
    script = (
        "from typer import Typer; from reasonact.worker_commands import worker; a = Typer(); a.command()(worker); a()"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script, "--once"], env=dict(os.environ), capture_output=True, timeout=60
    )
    assert ran.returncode == 0, ran.stderr
    (job,) = desk.queue.app.job_manager.list_jobs()
    assert job.status == "failed" and b"nobody" in ran.stderr
