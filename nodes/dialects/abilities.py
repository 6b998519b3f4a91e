"""What a model takes besides messages, told from its class and its LangChain profile; no client is imported."""

from __future__ import annotations

from langchain_core.language_models import BaseChatModel


def speaks_openai(model: BaseChatModel) -> bool:
    """Whether the model is a client of OpenAI's API or of a compatible server."""
    return any(kind.__name__ == "BaseChatOpenAI" for kind in type(model).__mro__)


def knows(model: BaseChatModel, ability: str) -> bool | None:
    """What the profile says of an ability; None where it says nothing."""
    said = (getattr(model, "profile", None) or {}).get(ability)
    return None if said is None else bool(said)


def takes_schema(model: BaseChatModel) -> bool:
    """Whether `response_format` can be sent; a server that refuses it says so when called."""
    known = knows(model, "structured_output")
    return speaks_openai(model) if known is None else known


def takes_stop(model: BaseChatModel) -> bool:
    """Whether stop sequences can be sent; OpenAI's reasoning models and its Responses API refuse them."""
    return not (speaks_openai(model) and (knows(model, "reasoning_output") or uses_responses(model)))


def uses_responses(model: BaseChatModel) -> bool:
    """Whether an OpenAI client is set to the Responses API instead of chat completions."""
    asks = getattr(model, "_use_responses_api", None)
    return bool(asks and asks({}))
