"""Parameters that somebody else than the model fills, told by names so that LangChain need not be imported."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import Annotated, Any, Union, get_args, get_origin

KEY = "idempotency_key"
"""The parameter that is filled by whoever runs the tool, never by the model."""
TRANSACTION = "transaction"
"""The parameter for the open `tools.database.Transaction` that an effect is to become a part of."""

_NAMES = {KEY, TRANSACTION, "run_manager", "callbacks"}
_KINDS = (
    "InjectedState",
    "InjectedStore",
    "InjectedToolCallId",
    "ToolRuntime",
    "InjectedToolArg",
    "_DirectlyInjectedToolArg",
    "RunnableConfig",
    "BaseCallbackManager",
    "BaseStore",
    "Runtime",
)


def hidden(function: Callable[..., Any] | None) -> frozenset[str]:
    """Which of the two the function takes."""
    if function is None:
        return frozenset()
    try:
        taken = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return frozenset()
    return frozenset({KEY, TRANSACTION} & set(taken))


def injected(name: str, annotation: Any) -> str:
    """The kind of an injected parameter, such as `RunnableConfig`; "" for one that the model fills."""
    return name if name in _NAMES else _kind(annotation)


def _kind(annotation: Any) -> str:
    if get_origin(annotation) in (Union, types.UnionType):
        return next(filter(None, map(_kind, get_args(annotation))), "")
    if get_origin(annotation) is Annotated:
        return next(filter(None, map(_kind, (*annotation.__metadata__, annotation.__origin__))), "")
    mark = get_origin(annotation) or annotation
    lineage = mark.__mro__ if isinstance(mark, type) else type(mark).__mro__
    names = {each.__name__ for each in lineage if each.__module__.startswith(("langchain", "langgraph"))}
    return next((kind for kind in _KINDS if kind in names), "")
