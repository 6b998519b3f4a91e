"""The queue: what is put in, what comes out once, and what has to wait."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Iterator
from typing import Any

import pytest

from graphs.encryption import Encryption
from graphs.fenced import Fenced
from graphs.saver import open_saver
from nodes.leases import ThreadBusy
from reasonact.endings import Refused
from reasonact.jobs import Jobs, NotYet
from reasonact.queue import INSTALL, Queue, queue_address, wake
from reasonact.settings import Settings, label
from tests.worker_script import TABLE, agent
from tools.database import Database

pytest.importorskip("procrastinate")


@pytest.fixture
def store(postgres_url: str) -> Iterator[Fenced]:
    with open_saver(postgres_url) as saver:
        with saver.records.database.transaction() as transaction:
            transaction.run(TABLE)
        yield saver


@pytest.fixture
def jobs(store: Fenced) -> Jobs:
    return Jobs(store, agent)


FREE = label("", Settings(approve="none"))["reasonact"]


def state(store: Fenced, thread: str = "t") -> Any:
    return agent(store, Settings()).get_state({"configurable": {"thread_id": thread}})


def questions(store: Fenced) -> list[str]:
    return [message.text for message in state(store).values["messages"] if message.type == "human"]


def paid(store: Fenced) -> int:
    with store.records.database.transaction() as transaction:
        return len(transaction.all("SELECT * FROM effects"))


def _migrate(url: str) -> None:
    Queue(url).migrate()


def test_the_tables_are_made_once_by_many_processes(postgres_url: str) -> None:
    fork = multiprocessing.get_context("fork")
    made = [fork.Process(target=_migrate, args=(postgres_url,), daemon=True) for _ in range(6)]
    for process in made:
        process.start()
    for process in made:
        process.join(60)
    assert [process.exitcode for process in made] == [0] * 6
    queue = Queue(postgres_url)
    assert queue.migrate() is False
    queue.close()


def test_jobs_carry_their_thread_as_lock_and_a_resume_goes_first(postgres_url: str) -> None:
    queue = Queue(postgres_url)
    queue.migrate()
    first, second = queue.ask("t", "why?", Settings(model=("local",)), "ann"), queue.resume("t")
    asked, resumed = queue.app.job_manager.list_jobs()
    assert (asked.id, resumed.id) == (first, second) and queue.waiting() == 2
    assert (asked.lock, resumed.lock) == ("t", "t") and resumed.priority > asked.priority
    assert asked.task_kwargs["user"] == "ann" and asked.task_kwargs["question"] == "why?"
    queue.close()


def test_a_sealed_question_cannot_be_read_in_the_database(postgres_url: str) -> None:
    seal = Encryption.of(b"k" * 32)
    with open_saver(postgres_url, encryption_key=b"k" * 32) as saver:
        queue = Queue(saver.records.database, seal)
        queue.migrate()
        queue.ask("t", "a pays 0 times", key="k")
        (job,) = queue.app.job_manager.list_jobs()
        assert "pays" not in str(job.task_kwargs)
        arguments: dict[str, Any] = dict(job.task_kwargs)
        Jobs(saver, agent).ask(**arguments)
        assert state(saver).values["answer"] == "a paid 0"


def test_a_question_that_is_delivered_twice_is_asked_once(jobs: Jobs, store: Fenced) -> None:
    for _ in range(2):
        jobs.ask("t", "k", "a pays 1 times", FREE, "ann")
    assert questions(store) == ["a pays 1 times"] and paid(store) == 1
    jobs.ask("t", "k2", "a pays 1 times", FREE, "ann")
    assert len(questions(store)) == 2 and paid(store) == 2


class Killed(BaseException):
    pass


@pytest.mark.parametrize("place", range(1, 9))
def test_a_question_that_broke_off_anywhere_is_asked_once(
    jobs: Jobs, store: Fenced, monkeypatch: pytest.MonkeyPatch, place: int
) -> None:
    left, put = [place], store.put

    def breaking(*arguments: Any) -> Any:
        left[0] -= 1
        if left[0] == 0:
            raise Killed
        return put(*arguments)

    monkeypatch.setattr(store, "put", breaking)
    with pytest.raises(Killed):
        jobs.ask("t", "k", "a pays 1 times", FREE, "ann")
    jobs.ask("t", "k", "a pays 1 times", FREE, "ann")
    assert questions(store) == ["a pays 1 times"] and paid(store) == 1
    assert state(store).values["status"] == "finished"
    with store.records.database.transaction() as transaction:
        assert transaction.all("SELECT requester FROM runs") == [{"requester": "ann"}]


def test_resume_takes_up_a_question_that_never_began_for_whoever_asked_it(
    jobs: Jobs, store: Fenced, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = store.put
    writes = iter([put, None])

    def second_breaks(*arguments: Any) -> Any:
        if (way := next(writes)) is None:
            raise Killed
        return way(*arguments)

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(store, "put", second_breaks)
        jobs.ask("t", "k", "a pays 1 times", FREE, "ann")
    assert state(store).next == ()
    jobs.resume("t")
    jobs.ask("t", "k", "a pays 1 times", FREE, "ann")
    assert questions(store) == ["a pays 1 times"] and paid(store) == 1
    with store.records.database.transaction() as transaction:
        assert transaction.all("SELECT requester FROM runs") == [{"requester": "ann"}]


def test_a_question_waits_for_the_one_before_it(jobs: Jobs, store: Fenced) -> None:
    jobs.ask("t", "k", "a pays 1 times", None, None)
    with pytest.raises(NotYet):
        jobs.ask("t", "k2", "b pays 0 times", None, None)
    assert questions(store) == ["a pays 1 times"] and paid(store) == 0


def test_resume_has_nothing_to_do_where_nothing_is_open(jobs: Jobs, store: Fenced) -> None:
    jobs.resume("none")
    assert not state(store, "none").created_at
    jobs.ask("t", "k", "a pays 0 times", None, None)
    before = state(store).created_at
    jobs.resume("t")
    assert state(store).created_at == before


def test_a_decision_wakes_a_worker_only_where_there_is_a_queue(store: Fenced) -> None:
    database = store.records.database
    assert wake(Database("memory"), "t") is False and wake(database, "t") is False
    queue = Queue(database)
    queue.migrate()
    assert wake(database, "t") is True and queue.waiting() == 1


def test_a_busy_thread_is_left_alone(jobs: Jobs, store: Fenced) -> None:
    with store.records.leases.held("t"), pytest.raises(ThreadBusy):
        jobs.ask("t", "k", "a pays 0 times", None, None)
    jobs.ask("t", "k", "a pays 0 times", None, None)
    assert questions(store) == ["a pays 0 times"]


def test_the_queue_needs_postgresql_and_procrastinate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REASONACT_DATABASE", "sqlite:///x")
    with pytest.raises(Refused, match="REASONACT_DATABASE=postgresql://"):
        queue_address()
    with pytest.raises(Refused, match="needs PostgreSQL"):
        Queue("memory")
    monkeypatch.setenv("REASONACT_DATABASE", "postgresql://u@h/n")
    assert queue_address() == "postgresql://u@h/n"
    monkeypatch.setattr("reasonact.queue.find_spec", lambda name: None)
    with pytest.raises(Refused) as refused:
        queue_address()
    assert str(refused.value) == INSTALL


async def _both_reach(url: str, manager: Any) -> Any:
    """One worker has taken a question and not yet committed when the other reaches for the resume that just came."""
    queue = Queue(url)
    queue.migrate()
    queue.ask("t", "a pays 0 times")
    async with manager.connector.pool.connection() as slow:
        await slow.execute("SELECT * FROM procrastinate_fetch_job_v2(NULL, %s)", (await manager.register_worker(),))
        queue.resume("t")
        reaching = asyncio.create_task(manager.fetch_job(None, await manager.register_worker()))
        await asyncio.sleep(0.3)
    queue.close()
    return await reaching


@pytest.mark.parametrize("stands", [True, False])
def test_two_workers_may_reach_for_one_thread(postgres_url: str, stands: bool) -> None:
    from procrastinate import App, PsycopgConnector
    from procrastinate.exceptions import UniqueViolation
    from procrastinate.manager import JobManager

    from reasonact.retries import Manager

    async def reach() -> Any:
        app = App(connector=PsycopgConnector(conninfo=postgres_url, min_size=1, max_size=4))
        async with app.open_async():
            return await _both_reach(postgres_url, (Manager if stands else JobManager)(app.connector))

    if stands:
        assert asyncio.run(reach()) is None
    else:
        with pytest.raises(UniqueViolation):
            asyncio.run(reach())
