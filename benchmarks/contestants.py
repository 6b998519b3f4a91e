"""The agents that are compared: the same scripted model, the same tool, the same savers."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import tool as langchain_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver

from reasonact import Limits, Saver, Tool, create_react_agent


class Counting(BaseChatModel):
    """Calls the tool `last` times, each time with the next number, then answers; costs next to nothing itself."""

    last: int
    _place: int = 0

    @property
    def _llm_type(self) -> str:
        return "counting"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        """Take tools and ignore them."""
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        self._place += 1
        usage = {"input_tokens": 10, "output_tokens": 10, "total_tokens": 20}
        if self._place > self.last:
            message = AIMessage("done", usage_metadata=usage)
        else:
            call = {"name": "page", "args": {"n": self._place}, "id": f"c{self._place}", "type": "tool_call"}
            message = AIMessage(f"Read page {self._place}.", tool_calls=[call], usage_metadata=usage)
        return ChatResult(generations=[ChatGeneration(message=message)])


def page_tool(size: int) -> Callable[[int], str]:
    """A tool whose observation is `size` characters, another one each time."""

    def page(n: int) -> str:
        """Read page n."""
        return f"page {n} ".ljust(size, "x")

    return page


def ours(steps: int, size: int, saver: Any) -> Any:
    """Ours, with every rule on; the numbers that would end so long a run are raised, not switched off."""
    high = 10 * steps + 100
    limits = Limits(steps=high, tokens=high * 10_000, tool_calls=high, rate=high, seconds=high)
    function = page_tool(size)
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    tool = Tool("page", "Read page n.", function, schema, effect="read")
    return create_react_agent(Counting(last=steps), [tool], limits=limits, checkpointer=saver)


def bare(steps: int, size: int, saver: Any) -> Any:
    """LangChain's agent without middleware."""
    from langchain.agents import create_agent

    return create_agent(Counting(last=steps), [langchain_tool(page_tool(size))], checkpointer=saver)


def with_middleware(steps: int, size: int, saver: Any) -> Any:
    """LangChain's agent with what comes nearest to ours: approval, call limits, summarization."""
    from langchain.agents import create_agent
    from langchain.agents.middleware import (
        HumanInTheLoopMiddleware,
        ModelCallLimitMiddleware,
        SummarizationMiddleware,
        ToolCallLimitMiddleware,
    )

    model = Counting(last=steps)
    middleware = [
        HumanInTheLoopMiddleware(interrupt_on={"pay": True}),
        ModelCallLimitMiddleware(run_limit=10 * steps + 100),
        ToolCallLimitMiddleware(run_limit=10 * steps + 100),
        SummarizationMiddleware(model=model, trigger=("tokens", 10**9)),
    ]
    return create_agent(model, [langchain_tool(page_tool(size))], middleware=middleware, checkpointer=saver)


AGENTS: dict[str, Callable[[int, int, Any], Any]] = {
    "reasonact": ours,
    "create_agent": bare,
    "create_agent + middleware": with_middleware,
}


class Savers:
    """Fresh savers by name: none, memory, sqlite (on disk, as the stock saver sets it up), and ours."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.made = 0

    def make(self, kind: str) -> Any:
        """A saver with nothing in it."""
        self.made += 1
        if kind == "none":
            return None
        if kind == "memory":
            return InMemorySaver()
        path = Path(self.folder.name) / f"{self.made}.sqlite"
        made = Saver if kind == "sqlite, ours" else SqliteSaver
        return made(sqlite3.connect(path, check_same_thread=False))

    def size(self, saver: SqliteSaver) -> int:
        """Bytes of checkpoints and writes in a SQLite saver."""
        (checkpoints,) = saver.conn.execute(
            "select sum(length(checkpoint) + length(metadata)) from checkpoints"
        ).fetchone()
        (writes,) = saver.conn.execute("select sum(length(value)) from writes").fetchone()
        return int(checkpoints or 0) + int(writes or 0)


def answered(messages: Sequence[BaseMessage], steps: int) -> bool:
    """Whether the run did all its work."""
    return sum(isinstance(message, ToolMessage) for message in messages) == steps and messages[-1].text == "done"
