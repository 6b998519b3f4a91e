"""Questions that wait for a worker, in the PostgreSQL database of their threads, held there by procrastinate."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from reasonact.endings import Refused
from reasonact.settings import Settings, label
from tools.database import Database

if TYPE_CHECKING:
    from nodes.records import Seal

QUEUE = "reasonact"
ASK = "reasonact ask"
RESUME = "reasonact resume"
SOONER = 1
"""Priority of `RESUME`: a question that waits for its thread to be free must not hold up what frees it."""
INSTALL = 'the queue needs the extra: pip install "reasonact[worker]"'


def queue_address() -> str:
    """The address in REASONACT_DATABASE, if a queue can be there.

    Raises:
        Refused: it names no PostgreSQL database, or the library is not installed.
    """
    url = os.environ.get("REASONACT_DATABASE", "")
    if not url.startswith(("postgresql://", "postgres://")):
        raise Refused("a queue needs PostgreSQL: set REASONACT_DATABASE=postgresql://user@host/name")
    if any(find_spec(module) is None for module in ("procrastinate", "psycopg", "psycopg_pool")):
        raise Refused(INSTALL)
    return url


def wake(database: Database, thread: str) -> bool:
    """Let a worker go on with a thread that was decided about; False where the database has no queue."""
    if database.kind != "postgresql" or find_spec("procrastinate") is None:
        return False
    queue = Queue(database)
    if not queue.app.check_connection():
        return False
    queue.resume(thread)
    return True


class Queue:
    """Puts jobs in; any number of these and of workers may be at the same database."""

    def __init__(self, url: str | Database, seal: Seal | None = None) -> None:
        """At an address, or in a database that is open already and stays open.

        Args:
            url: Where.
            seal: What makes the questions unreadable in the database; that of the workers' saver.

        Raises:
            DatabaseError: the address cannot be used.
            psycopg.Error: the database cannot be reached.
            Refused: procrastinate is not installed.
        """
        try:
            from procrastinate import App, SyncPsycopgConnector
        except ImportError as error:
            raise Refused(INSTALL) from error
        self._own = not isinstance(url, Database)
        self.database = Database(url) if isinstance(url, str) else url
        if self.database.kind != "postgresql":
            raise Refused("a queue needs PostgreSQL: its address is postgresql://user@host/name")
        self.seal = seal
        self.app = App(connector=SyncPsycopgConnector())
        self.app.open(self.database.pool)

    def migrate(self) -> bool:
        """Make procrastinate's tables if they are missing, by one process at a time; whether they were."""
        with self.database.alone():
            if self.app.check_connection():
                return False
            self.app.schema_manager.apply_schema()
            return True

    def ask(
        self,
        thread: str,
        question: str,
        settings: Settings | None = None,
        user: str | None = None,
        key: str | None = None,
    ) -> int:
        """Let a worker ask this on the thread once everything before it is over; the id of the job.

        Args:
            thread: Where; made if it is not there.
            question: What.
            settings: None is what the thread was asked with before, or the usual ones.
            user: Who asks.
            key: What tells this question from every other one: queued again with the same key, it is asked once.
        """
        return self._put(
            ASK,
            thread,
            key=key or uuid4().hex,
            question=question if self.seal is None else self.seal.close(question),
            settings=None if settings is None else label("", settings)["reasonact"],
            user=user,
        )

    def resume(self, thread: str) -> int:
        """Let a worker go on with a thread after a decision or a crash; nothing happens if there is nothing to do."""
        return self._put(RESUME, thread, SOONER)

    def waiting(self) -> int:
        """How many jobs are queued or at work."""
        jobs = self.app.job_manager
        return sum(len(list(jobs.list_jobs(queue=QUEUE, status=status))) for status in ("todo", "doing"))

    def close(self) -> None:
        """Let go of the connections."""
        if self._own:
            self.database.close()

    def _put(self, task: str, thread: str, priority: int = 0, **kwargs: Any) -> int:
        # Without a queueing_lock: a job that goes back into the queue beside another one with the same would be refused
        # by the database, stay at work for ever, and keep its thread.
        put = self.app.configure_task(task, lock=thread, queue=QUEUE, priority=priority)
        return int(put.defer(thread=thread, **kwargs))
