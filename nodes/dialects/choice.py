"""Which dialect a model is spoken to in, and which is tried next when its server refuses that."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal, Protocol

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import Runnable

from nodes.dialects import json, native, text
from nodes.dialects.abilities import knows, takes_schema
from nodes.dialects.brief import Brief
from nodes.move import Move
from tools.toolbox import Toolbox

Name = Literal["text", "json", "native"]
Wanted = Literal["auto", "text", "json", "native"]


class Dialect(Protocol):
    """A way to write the conversation down: what the model reads, and what its reply means."""

    def render(self, messages: Sequence[BaseMessage], toolbox: Toolbox, brief: Brief = ...) -> list[BaseMessage]:
        """What the model reads."""

    def parse(self, reply: AIMessage, toolbox: Toolbox) -> Move:
        """What the reply means."""

    def bind(self, model: BaseChatModel, toolbox: Toolbox) -> Runnable[Any, AIMessage]:
        """The model, set to answer in this dialect."""


DIALECTS: dict[str, Dialect] = {"text": text, "json": json, "native": native}

_REFUSALS = {400, 404, 422, 501}
_TOPICS = {
    "native": re.compile(r"\btools?\b|tool[_ -]?(?:choice|call|use)|functions?\b|function[_ -]?call", re.I),
    "json": re.compile(r"response[_ -]?format|json[_ -]?(?:schema|object|mode)|structured|grammar|guided", re.I),
    "text": re.compile(r"\bstop\b", re.I),
}
_UNSET = re.compile(r"requires? --jinja|requires? --enable-auto-tool-choice", re.I)
_OTHER = re.compile(r"context[_ ](?:length|size|window)|maximum context|too many tokens|must be followed by tool", re.I)


def choose(model: BaseChatModel, wanted: Wanted, toolbox: Toolbox) -> tuple[Name, str]:
    """The dialect and the reason for it, as a sentence."""
    if wanted != "auto":
        return wanted, f"{wanted} was asked for"
    best = (getattr(model, "metadata", None) or {}).get("dialect")
    if best in DIALECTS:
        return best, f"the model says of itself that {best} suits it best"
    calls = knows(model, "tool_calling")
    if calls:
        return "native", "the model's profile says that it calls tools"
    if calls is None and (refusal := _refuses(model, toolbox)) is None:
        return "native", "the model takes tools; its profile does not say more"
    told = "the model's profile says that it cannot call tools"
    reason = told if calls is False else f"the model takes no tools ({refusal})"
    if takes_schema(model):
        return "json", f"{reason}, but can be held to a JSON schema"
    return "text", f"{reason} and no JSON schema"


def _refuses(model: BaseChatModel, toolbox: Toolbox) -> str | None:
    """Why the model does not take the tools, None where it does; each client refuses in its own way."""
    try:
        model.bind_tools(native.schemas(toolbox))
    except Exception as error:
        return type(error).__name__
    return None


def lower(name: Name) -> Name | None:
    """The dialect that asks less of the server than `name`; None below text."""
    following: dict[Name, Name | None] = {"native": "json", "json": "text", "text": None}
    return following[name]


def refused(error: BaseException, name: Name) -> bool:
    """Whether a server's error says that it does not know what the dialect needs, so that a lower one may do."""
    if isinstance(error, NotImplementedError):
        return True
    status = getattr(error, "status_code", None) or getattr(getattr(error, "response", None), "status_code", None)
    said = f"{error} {getattr(error, 'body', '') or ''}"
    if status not in _REFUSALS and not _UNSET.search(said):
        return False
    return bool(_TOPICS[name].search(said)) and not _OTHER.search(said)
