"""Who asks and who decides: the user that the server authenticated, or the one that the caller names."""

from __future__ import annotations

from typing import Any

from langgraph.config import get_config

USER = ("langgraph_auth_user_id", "user_id")
"""Names in a run's `configurable`; LangGraph Server sets the first one, and a client cannot."""


def user() -> str | None:
    """The user of the present run, or None."""
    configurable: dict[str, Any] = get_config().get("configurable", {})
    return next((str(configurable[name]) for name in USER if configurable.get(name)), None)


def thread() -> str:
    """The thread of the present run, with the place of the graph in it where it is a part of another; "" for none."""
    configurable: dict[str, Any] = get_config().get("configurable", {})
    inside = str(configurable.get("checkpoint_ns", "")).rpartition("|")[0]
    return "|".join(part for part in (str(configurable.get("thread_id") or ""), inside) if part)
