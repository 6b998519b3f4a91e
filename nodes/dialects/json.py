"""The json dialect: one object per turn, held to a schema where the server can enforce one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable

from nodes.dialects import history, prompts
from nodes.dialects.abilities import speaks_openai, takes_schema, uses_responses
from nodes.dialects.brief import Brief, Language
from nodes.dialects.guide import guide
from nodes.dialects.history import Exchange
from nodes.dialects.objects import Unreadable, loads
from nodes.dialects.prompts import LABELS
from nodes.dialects.reader import read
from nodes.dialects.reply import reasoning, truncated, words
from nodes.dialects.schema import FINISH, turn
from nodes.dialects.shapes import move_from
from nodes.move import Move
from tools.toolbox import Toolbox

_PLAIN = Brief()
_NO_TOOLS = Toolbox()
# An encoder made once: json.dumps makes a new one for every call that asks for anything special.
_encode = json.JSONEncoder(ensure_ascii=False, default=str).encode


def render(messages: Sequence[BaseMessage], toolbox: Toolbox, brief: Brief = _PLAIN) -> list[BaseMessage]:
    """The thread as a chat of objects and observations, user and assistant strictly in turn."""
    # No tools are offered on the closing call, neither in the manual nor in the examples.
    offered = _NO_TOOLS if brief.closing else toolbox
    head = [*history.system(brief.prompt, messages), _guide(offered, brief.language, brief.max_steps)]
    chat: list[BaseMessage] = []
    for asked in history.exchanges(messages):
        chat += _chat(asked, brief.language)
    if brief.repair:
        bad, sentence = brief.repair
        chat += [AIMessage(history.shortened(bad))] if bad.strip() else []
        chat.append(HumanMessage(prompts.unread(brief.language, sentence)))
    chat += [HumanMessage(line) for line in prompts.now("json", brief)]
    return [SystemMessage("\n\n".join(head)), *_in_turn(chat)]


def parse(reply: AIMessage, toolbox: Toolbox) -> Move:
    """Read the object of a reply, mended if it must be, or labelled steps where a model fell back to them.

    Raises:
        FormatError: the reply cannot be read as a move.
    """
    text = words(reply.content)
    move = _exact(text, toolbox) or read(text, toolbox, truncated=truncated(reply), unlabelled_is_answer=False)
    return replace(move, reasoning=reasoning(reply) or move.reasoning)


def _exact(text: str, toolbox: Toolbox) -> Move | None:
    """The move of a reply that is one whole value: its strings are data, whatever markup they hold."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return move_from(loads(text, truncated=True), toolbox)
    except Unreadable:
        return None


def bind(model: BaseChatModel, toolbox: Toolbox) -> Runnable[Any, AIMessage]:
    """The model, held to the schema of a turn where it takes one."""
    if not takes_schema(model):
        return model
    enforced, strict = turn(toolbox)
    wanted = {"type": "json_schema", "json_schema": {"name": "turn", "schema": enforced, "strict": strict}}
    if speaks_openai(model) and not uses_responses(model):
        # As a named argument it sends the reply through the SDK's own parser, which raises on a cut one.
        return model.bind(extra_body={**(getattr(model, "extra_body", None) or {}), "response_format": wanted})
    return model.bind(response_format=wanted)


def schema(toolbox: Toolbox) -> dict[str, Any]:
    """The JSON Schema of one turn with these tools."""
    return turn(toolbox)[0]


def write(move: Move) -> str:
    """One turn as the model should write it: an object, or a list of them where it calls several tools."""
    if move.answer is not None:
        return _object(move.thought, FINISH, {"answer": move.answer})
    if len(move.calls) == 1:
        return _object(move.thought, move.calls[0].name, move.calls[0].args)
    thoughts = [move.thought, *[""] * len(move.calls)]
    parts = [_object(thought, call.name, call.args) for thought, call in zip(thoughts, move.calls, strict=False)]
    return f"[{', '.join(parts)}]"


def _object(thought: str, action: str, args: dict[str, Any]) -> str:
    return _encode({"thought": thought, "action": action, "args": args})


@lru_cache(maxsize=64)
def _guide(toolbox: Toolbox, language: Language, max_steps: int | None) -> str:
    return guide("json", toolbox, language, max_steps, lambda move, number: write(move))


def _chat(asked: Exchange, language: Language) -> Iterator[BaseMessage]:
    """One question and its steps; the calls of one turn become turns of their own, as they were all read first."""
    labels = LABELS[language]
    if asked.question or asked.pictures:
        content: Any = [{"type": "text", "text": asked.question}, *asked.pictures]
        yield HumanMessage(content if asked.pictures else asked.question)
    for step in asked.steps:
        yield AIMessage(write(Move(step.thought, (step.call,))))
        yield HumanMessage(labels.line(labels.observation, step.number, history.quoted(step.observation)))
    if asked.answer is not None:
        yield AIMessage(write(Move(asked.thought, answer=asked.answer)))


def _in_turn(chat: Sequence[BaseMessage]) -> Iterator[BaseMessage]:
    """Messages of the user that follow each other as one: many chat templates refuse two in a row."""
    waiting: BaseMessage | None = None
    for message in chat:
        if waiting is not None and isinstance(message, HumanMessage) and isinstance(waiting, HumanMessage):
            waiting = HumanMessage(_joined(waiting, message))
            continue
        if waiting is not None:
            yield waiting
        waiting = message
    if waiting is not None:
        yield waiting


def _joined(first: BaseMessage, second: BaseMessage) -> Any:
    text = f"{words(first.content)}\n{words(second.content)}"
    seen = [*history.pictures(first), *history.pictures(second)]
    return [{"type": "text", "text": text}, *seen] if seen else text
