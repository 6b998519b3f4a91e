"""A scripted model: it says what it is told to say, and complains if it is not heard to the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from pydantic import PrivateAttr


class UnexpectedCall(AssertionError):
    """The model was called after its last line."""


class Unplayed(AssertionError):
    """The run ended before the script did."""


class ScriptedModel(BaseChatModel):
    """Replies from a list, one a call: a text, an `AIMessage`, or an exception to raise."""

    replies: Sequence[Any]
    tool_calling: bool = True
    """Whether it says that it takes tools; without, `dialect="auto"` picks text."""
    _requests: list[list[BaseMessage]] = PrivateAttr(default_factory=list)
    _options: list[dict[str, Any]] = PrivateAttr(default_factory=list)

    def __init__(self, replies: Sequence[Any] = (), **settings: Any) -> None:
        super().__init__(**{"replies": replies, **settings})
        self.profile = {"tool_calling": self.tool_calling, "structured_output": False}

    @property
    def _llm_type(self) -> str:
        return "scripted"

    @property
    def requests(self) -> list[list[BaseMessage]]:
        """What it was asked, one list of messages a call."""
        return self._requests

    @property
    def options(self) -> list[dict[str, Any]]:
        """What came with each request (tools, stop sequences, response format)."""
        return self._options

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        """Take tools, if it is a model that does.

        Raises:
            NotImplementedError: it is not.
        """
        if not self.tool_calling:
            raise NotImplementedError("this scripted model takes no tools")
        return self.bind(tools=list(tools), **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        place = len(self._requests)
        self._requests.append(list(messages))
        self._options.append({**kwargs, **({"stop": stop} if stop else {})})
        if place >= len(self.replies):
            raise UnexpectedCall(f"the script has {len(self.replies)} replies, and was asked for one more")
        reply = self.replies[place]
        if isinstance(reply, BaseException):
            raise reply
        message = reply.model_copy() if isinstance(reply, AIMessage) else AIMessage(content=reply)
        message.id = None
        return ChatResult(generations=[ChatGeneration(message=message)])

    def assert_played(self) -> None:
        """Check that every reply was asked for.

        Raises:
            Unplayed: some were not.
        """
        if (left := len(self.replies) - len(self._requests)) > 0:
            raise Unplayed(f"{left} of {len(self.replies)} replies were not asked for; next: {self.replies[-left]!r}")
