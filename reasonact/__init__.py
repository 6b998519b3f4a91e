"""reasonact: a ReAct agent as a LangGraph state machine that people can trust with real tools.

    from reasonact import Limits, create_react_agent, tool

The names live in `reasonact.api`; nothing heavy is imported before one of them is used.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reasonact.api import *  # noqa: F403

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module 'reasonact' has no attribute {name!r}")
    import reasonact.api as api

    if name not in api.__all__:
        raise AttributeError(f"module 'reasonact' has no attribute {name!r}")
    return getattr(api, name)


def __dir__() -> list[str]:
    import reasonact.api as api

    return sorted([*api.__all__, "__version__"])
