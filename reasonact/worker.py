"""A process that does the jobs of the queue; any number of them, on any number of computers."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from contextlib import ExitStack, suppress
from functools import partial
from typing import Any

import psycopg
from procrastinate import App, PsycopgConnector
from procrastinate.exceptions import ConnectorException

from graphs.fenced import Fenced
from graphs.saver import open_saver
from nodes.threads import in_thread
from reasonact.endings import ExitCode
from reasonact.jobs import Jobs, MakeAgent
from reasonact.queue import ASK, QUEUE, RESUME, Queue
from reasonact.retries import Manager, Patience
from reasonact.settings import Settings

_log = logging.getLogger(__name__)
_TAKE_OVER = 7_265_461_735_000_002
"""The advisory lock of whoever looks for jobs of dead workers."""
_CONNECTION = {"prepare_threshold": None, "connect_timeout": 10, "keepalives_idle": 30, "keepalives_interval": 10}


def usual_agent(saver: Fenced, settings: Settings) -> Any:
    """The agent that `reasonact ask` runs.

    Raises:
        Refused: there is no such model, or a limit or a policy that cannot be obeyed.
    """
    from reasonact.equipment import toolbox_of
    from reasonact.session import Session

    return Session(quiet=True, json=True).agent(settings, saver, toolbox_of(saver))


def run_worker(
    url: str,
    concurrency: int = 4,
    make_agent: MakeAgent = usual_agent,
    *,
    once: bool = False,
    saver: Fenced | None = None,
    heartbeat: float = 10.0,
) -> None:
    """Do jobs until SIGTERM or SIGINT; the first lets every run finish its step, a second one ends at once.

    Args:
        url: The database.
        concurrency: How many runs at once.
        make_agent: Builds the agent of a job.
        once: End when nothing is left to do now.
        saver: An open saver on the same database; None opens one without audit log and encryption.
        heartbeat: Seconds between signs of life; who gives none for three of them is taken for dead.
    """
    with ExitStack() as stack:
        store = saver or stack.enter_context(open_saver(url))
        Queue(store.records.database).migrate()
        asyncio.run(_Worker(url, Jobs(store, make_agent), concurrency, heartbeat).run(once))


class _Worker:
    def __init__(self, url: str, jobs: Jobs, concurrency: int, heartbeat: float) -> None:
        self.jobs, self.concurrency, self.heartbeat = jobs, concurrency, heartbeat
        self.pause = min(1.0, heartbeat)
        self.connector = PsycopgConnector(conninfo=url, min_size=1, max_size=5, kwargs=_CONNECTION)
        self.app = App(connector=self.connector)
        self.app.job_manager = self.manager = Manager(self.connector)
        for name, work in ((ASK, jobs.ask), (RESUME, jobs.resume)):
            self.app.task(name=name, queue=QUEUE, retry=Patience())(_beside(work))
        self.stopping = False
        self.working: asyncio.Task[None] | None = None

    async def run(self, once: bool) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, self.stop)
        async with self.app.open_async():
            watch = asyncio.create_task(self.take_over())
            try:
                await self.work(once)
            finally:
                watch.cancel()

    def stop(self) -> None:
        if self.stopping:
            os._exit(ExitCode.INTERRUPTED)
        self.stopping = True
        self.jobs.stop()
        if self.working is not None:
            self.working.cancel()

    async def work(self, once: bool) -> None:
        """Work on, also when the database was away for a while."""
        while not self.stopping:
            self.working = asyncio.create_task(self._turn(once))
            try:
                await self.working
                if once and not await self.manager.has_due():
                    return
            except asyncio.CancelledError:
                if not self.stopping:
                    raise
            except (ConnectorException, psycopg.Error) as error:
                _log.warning("the queue cannot be reached (%s); trying again", type(error.__cause__ or error).__name__)
            if not self.stopping:
                await asyncio.sleep(self.pause)

    async def _turn(self, once: bool) -> None:
        await self.app.run_worker_async(
            queues=[QUEUE],
            concurrency=self.concurrency,
            wait=not once,
            fetch_job_polling_interval=self.pause,
            install_signal_handlers=False,
            delete_jobs="successful",
            update_heartbeat_interval=self.heartbeat,
            stalled_worker_timeout=3 * self.heartbeat,
        )

    async def take_over(self) -> None:
        """Put the jobs of dead workers back into the queue."""
        while True:
            with suppress(ConnectorException, psycopg.Error):
                async with self.connector.pool.connection() as connection:
                    # One worker at a time: a second one would put back what is at work again already.
                    await connection.execute("SELECT pg_advisory_xact_lock(%s)", (_TAKE_OVER,))
                    await self.manager.put_back(3 * self.heartbeat)
            await asyncio.sleep(self.heartbeat)


def _beside(work: Any) -> Any:
    async def job(**arguments: Any) -> None:
        await in_thread(partial(work, **arguments))

    return job
