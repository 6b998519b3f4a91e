"""The native dialect: the tool calls of the model's own API, several at once, with the thought kept beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable

from nodes.dialects import calls, faults, history, prompts
from nodes.dialects.brief import Brief, Language
from nodes.dialects.reader import read
from nodes.dialects.reply import reasoning, truncated, words
from nodes.move import Move
from tools.toolbox import Toolbox

_PLAIN = Brief()


def render(messages: Sequence[BaseMessage], toolbox: Toolbox, brief: Brief = _PLAIN) -> list[BaseMessage]:
    """The thread as it is, behind one system message; what holds for this call alone stands at its end."""
    head = [*history.system(brief.prompt, messages), _guide(brief.language, brief.max_steps)]
    chat = [message for message in messages if message.type != "system"]
    if brief.repair:
        bad, sentence = brief.repair
        chat += [AIMessage(history.shortened(bad))] if bad.strip() else []
        chat.append(HumanMessage(prompts.unread(brief.language, sentence)))
    if lines := prompts.now("native", brief):
        chat[-1:] = _ended(chat[-1:], "\n".join(lines))
    return [SystemMessage("\n\n".join(head)), *chat]


def parse(reply: AIMessage, toolbox: Toolbox) -> Move:
    """Read the calls of a reply; without any, its content is the answer, or steps that leaked into the text.

    Raises:
        FormatError: the reply cannot be read as a move, or none of its calls can.
    """
    asked = calls.asked(reply)
    if asked and truncated(reply):
        raise faults.truncated()
    thought = words(reply.content).strip()
    if asked:
        return replace(calls.move(asked, toolbox), thought=thought, reasoning=reasoning(reply))
    if not thought:
        raise faults.truncated() if truncated(reply) else faults.empty()
    move = read(thought, toolbox, truncated=truncated(reply))
    return replace(move, reasoning=reasoning(reply) or move.reasoning)


def bind(model: BaseChatModel, toolbox: Toolbox) -> Runnable[Any, AIMessage]:
    """The model with the tools' schemas."""
    return model.bind_tools(schemas(toolbox)) if toolbox else model


@lru_cache(maxsize=64)
def schemas(toolbox: Toolbox) -> list[dict[str, Any]]:
    """The tools in OpenAI's form, which every LangChain client takes."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.schema)},
        }
        for tool in toolbox.values()
    ]


@lru_cache(maxsize=64)
def _guide(language: Language, max_steps: int | None) -> str:
    return prompts.instructions("native", language, max_steps)


def _ended(last: list[BaseMessage], line: str) -> list[BaseMessage]:
    """The last message with a line added; a copy, since the original stays in the history."""
    if not last or isinstance(last[0], AIMessage):
        return [*last, HumanMessage(line)]
    content = last[0].content
    added: Any = f"{content}\n\n{line}" if isinstance(content, str) else [*content, {"type": "text", "text": line}]
    return [last[0].model_copy(update={"content": added})]
