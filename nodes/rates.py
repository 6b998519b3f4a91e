"""Calls of a tool per minute, counted over all runs."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from tools.tool import Tool


@dataclass
class Rates:
    """A moving window for each tool: in memory, or shared through `url` (`sqlite:///path`, `redis://host`)."""

    url: str = "memory://"
    _limiter: Any = field(default=None, repr=False)

    def wait(self, tool: Tool, per_minute: int) -> float:
        """Seconds until the tool may be called; 0 means now, and the call is counted."""
        if not per_minute:
            return 0.0
        from limits import RateLimitItemPerMinute

        limiter, item = self._ready(), RateLimitItemPerMinute(per_minute)
        if limiter.hit(item, tool.name):
            return 0.0
        reset: float = limiter.get_window_stats(item, tool.name).reset_time
        return max(1.0, reset - time.time())

    def _ready(self) -> Any:
        if self._limiter is None:
            from limits.storage import storage_from_string
            from limits.strategies import MovingWindowRateLimiter

            if self.url.startswith("sqlite:"):
                from nodes.rate_store import SqliteStorage

                self._limiter = MovingWindowRateLimiter(SqliteStorage(self.url))
            else:
                self._limiter = MovingWindowRateLimiter(storage_from_string(self.url))
        return self._limiter
