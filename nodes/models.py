"""The model of an agent: found by name, and what its faults mean."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable, RunnableBinding


class ModelError(ValueError):
    """The model was named in a way that cannot work, or nothing that it needs is there; the message says what to do."""


class ModelFailed(Exception):
    """Every model of the list failed on one call; `code` is the kind of fault, without the provider's own words."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence


NO_MODEL = (
    "no model to think with: set OPENAI_API_KEY (and OPENAI_BASE_URL for another server), pass model=…, or install the "
    "local model with scripts/setup"
)


TOOL_SETTINGS = {"tools", "tool_choice", "parallel_tool_calls"}
"""What `bind_tools` binds; the dialects bind the agent's own tools."""


def find_model(model: Any = None) -> BaseChatModel:
    """A chat model, from a `BaseChatModel`, a string `provider:name` or `provider/name`, or None for the default.

    The default is REASONACT_MODEL, else OpenAI's where OPENAI_API_KEY is set, else the local model where installed.

    Raises:
        ModelError: the name has no provider, the provider is not installed, or there is no default.
    """
    if isinstance(model, RunnableBinding) and not set(model.kwargs) - TOOL_SETTINGS:
        model = model.bound
    if isinstance(model, BaseChatModel):
        return model
    if model is None:
        model = os.environ.get("REASONACT_MODEL") or ("openai:gpt-5.5" if os.environ.get("OPENAI_API_KEY") else "local")
        if model == "local":
            return _local(NO_MODEL)
    if not isinstance(model, str):
        raise ModelError(
            "model must be a chat model without bound settings, or a string like openai:gpt-5.5, "
            f"got {type(model).__name__}"
        )
    if model == "local" or model.startswith("local:"):
        return _local(None, model.partition(":")[2] or None)
    return _named(model)


def _named(name: str) -> BaseChatModel:
    from langchain.chat_models import init_chat_model

    provider, mark, rest = name.partition(":")
    if not mark:
        provider, mark, rest = name.partition("/")
    if not mark or not rest:
        raise ModelError(f"{name!r} does not say whose model it is: write provider:name, for example openai:{name}")
    settings: dict[str, Any] = {"max_retries": 0} if provider == "openai" else {}
    if provider == "openai" and not os.environ.get("OPENAI_API_KEY") and os.environ.get("OPENAI_BASE_URL"):
        settings["api_key"] = "not-needed"
    try:
        found: BaseChatModel = init_chat_model(rest, model_provider=provider, **settings)
    except ImportError as error:
        raise ModelError(f"the package for {provider} models is not installed: {error}") from error
    except ValueError as error:
        raise ModelError(f"LangChain knows no provider {provider!r}: try openai:{rest}, for example") from error
    except Exception as error:
        raise ModelError(f"cannot make the model {provider}:{rest}: {type(error).__name__}. {NO_MODEL}") from error
    return found


def _local(otherwise: str | None, path: str | None = None) -> BaseChatModel:
    from nodes.local import available, local_model

    if otherwise is not None and not available():
        raise ModelError(otherwise)
    return local_model(path)


def passing(error: BaseException) -> bool:
    """Whether trying again may help: rate limits, overload, broken connections and time-outs."""
    status = status_of(error)
    if status is not None:
        return status in (408, 409, 425, 429) or status >= 500
    if isinstance(error, (TimeoutError, ConnectionError)):
        return True
    names = {kind.__name__ for kind in type(error).__mro__}
    return bool(
        names & {"APIConnectionError", "APITimeoutError", "TransportError", "TimeoutException", "RateLimitError"}
    )


def status_of(error: BaseException) -> int | None:
    """The HTTP status that an error of any provider carries."""
    for holder in (error, getattr(error, "response", None)):
        for name in ("status_code", "status", "http_status"):
            value = getattr(holder, name, None)
            if isinstance(value, int) and 100 <= value < 600:
                return value
    return None


def pause(error: BaseException, tries: int) -> float:
    """Seconds to wait before the next try: what the server asks for, at most 30, else doubling, with jitter."""
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    try:
        return min(max(float(headers.get("retry-after", "")), 0.0), 30.0)
    except ValueError:
        return min(0.5 * 2.0**tries, 8.0) + random.uniform(0.0, 0.5)


def fault(error: BaseException) -> tuple[str, str]:
    """A code and our own sentence for a fault of a model; a provider's words may hold a key and are not repeated."""
    status = status_of(error)
    words = str(error).casefold()
    if "context_length" in words or "context length" in words or "exceed_context" in words:
        return "context_length", "the conversation is longer than the model can read"
    known = {
        401: "the key was refused",
        403: "access was refused",
        404: "there is no such model",
        429: "too many requests",
    }
    if status is not None:
        return (
            f"http_{status}",
            f"the model's server answered {status}: {known.get(status, 'it could not serve the request')}",
        )
    if isinstance(error, TimeoutError):
        return "timeout", "the model did not answer in time"
    return "model_error", f"the model could not be called ({type(error).__name__})"


@dataclass
class Models:
    """The model and its fallbacks, found when first needed and kept."""

    given: Sequence[Any]
    find: Callable[[Any], BaseChatModel] = find_model
    _found: dict[Any, BaseChatModel] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.given)

    def get(self, place: int, wanted: str | None, state: Any, runtime: Any) -> BaseChatModel:
        """The model at `place` of the list; `wanted` of the run's context replaces the first.

        A function of state and runtime is asked each time.
        """
        model = wanted if wanted and place == 0 else self.given[place]
        if callable(model) and not isinstance(model, Runnable):
            return self.find(model(state, runtime))
        known = model if isinstance(model, str) else id(model)
        if known not in self._found:
            self._found[known] = self.find(model)
        return self._found[known]
