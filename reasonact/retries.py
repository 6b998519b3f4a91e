"""Which jobs go back into the queue, and how a worker takes one out of it."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from langgraph.errors import GraphDrained
from procrastinate import BaseRetryStrategy, RetryDecision
from procrastinate.exceptions import ConnectorException, UniqueViolation
from procrastinate.jobs import Job
from procrastinate.manager import JobManager

from nodes.leases import LeaseLost, ThreadBusy
from reasonact.jobs import NotYet, Stopping
from reasonact.queue import QUEUE
from tools.connections import unreachable

_log = logging.getLogger(__name__)


class Patience(BaseRetryStrategy):
    """What passes by itself is tried again for as long as it takes; every other error ends its job."""

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        """When to try again; None is never."""
        rest = self.rest(exception, job.attempts)
        return None if rest is None else RetryDecision(retry_at=datetime.now(UTC) + timedelta(seconds=rest))

    def rest(self, exception: BaseException, tries: int) -> float | None:
        """For how many seconds the job rests."""
        doubling = 2.0 ** min(tries, 9)
        if isinstance(exception, Stopping | GraphDrained):
            return 0.0
        if isinstance(exception, ThreadBusy | LeaseLost):
            return min(0.5 * doubling, 10.0)
        if isinstance(exception, NotYet):
            return min(doubling, 30.0)
        return 5.0 if isinstance(exception, Exception) and unreachable(exception, "postgresql") else None


class Manager(JobManager):
    """procrastinate's, that stands two workers who reach for jobs of one thread in the same moment."""

    async def fetch_job(self, queues: Iterable[str] | None, worker_id: int) -> Job | None:
        """Take a job out, or None where there is none or another worker was first."""
        try:
            return await super().fetch_job(queues, worker_id)
        except UniqueViolation:
            # It would end the whole worker.
            return None

    async def has_due(self) -> bool:
        """Whether a job could be done now, or as soon as another one on its thread has ended."""
        first: dict[str | None, Job] = {}
        for job in await self.list_jobs_async(queue=QUEUE, status="todo"):
            before = first.get(job.lock)
            if before is None or job.priority > before.priority:
                first[job.lock] = job
        now = datetime.now(UTC)
        return any(job.scheduled_at is None or job.scheduled_at <= now for job in first.values())

    async def put_back(self, seconds: float) -> None:
        """Put back the jobs of workers that gave no sign of life for so long."""
        for job in await self.get_stalled_jobs(queue=QUEUE, seconds_since_heartbeat=seconds):
            _log.warning("the worker of job %s on thread %s is gone; it goes back into the queue", job.id, job.lock)
            # Whoever was taken for dead may have ended it in this moment.
            with suppress(ConnectorException):
                await self.retry_job(job)
