"""The text dialect: a transcript of thoughts, actions and observations that any model can continue."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable

from nodes.dialects import history, prompts
from nodes.dialects.abilities import takes_stop
from nodes.dialects.brief import Brief, Language
from nodes.dialects.guide import guide
from nodes.dialects.history import Exchange
from nodes.dialects.manual import sole
from nodes.dialects.prompts import LABELS
from nodes.dialects.reader import read
from nodes.dialects.reply import reasoning, truncated, words
from nodes.move import Call, Move
from tools.toolbox import Toolbox

STOPS = ("\nObservation", "\nQuestion", "\n观察", "\n问题")
"""Where a model starts to invent what is not its own; OpenAI takes at most four."""

_PLAIN = Brief()
_NO_TOOLS = Toolbox()
_LABEL = re.compile(
    r"[\W_]*(thought|action|observation|question|answer|final|finish|args|arguments|input"
    r"|思考|思路|想法|行动|动作|操作|观察|问题|答案|回答|最终|结论|输入|参数)",
    re.I,
)
# An encoder made once: json.dumps makes a new one for every call that asks for anything special.
_encode = json.JSONEncoder(ensure_ascii=False, default=str).encode
# What would end a line, or be taken for markup of the model, if it stood as it is.
_UNSAFE = re.compile(r"[\x85\u2028\u2029◁]|<(?=[/|a-z_])|\[(?=/?(?:THINK|TOOL|INST))", re.I)


def render(messages: Sequence[BaseMessage], toolbox: Toolbox, brief: Brief = _PLAIN) -> list[BaseMessage]:
    """The thread as instructions and one transcript that ends where the model has to go on."""
    # No tools are offered on the closing call, neither in the manual nor in the examples.
    offered = _NO_TOOLS if brief.closing else toolbox
    head = [*history.system(brief.prompt, messages), _guide(offered, brief.language, brief.max_steps)]
    thread = history.exchanges(messages)
    text = "\n\n".join(filter(None, [*(_past(one, toolbox, brief.language) for one in thread[:-1]), ""]))
    text = f"{text}\n\n" if text else ""
    text += "\n".join(_open(thread[-1], toolbox, brief))
    pictures = [block for one in thread for block in one.pictures]
    content: Any = [{"type": "text", "text": text}, *pictures] if pictures else text
    return [SystemMessage("\n\n".join(head)), HumanMessage(content)]


def parse(reply: AIMessage, toolbox: Toolbox) -> Move:
    """Read a reply that continues the open thought, or starts with a label of its own.

    Raises:
        FormatError: the reply cannot be read as a move.
    """
    move = read(words(reply.content), toolbox, truncated=truncated(reply))
    return replace(move, reasoning=reasoning(reply) or move.reasoning)


def bind(model: BaseChatModel, toolbox: Toolbox) -> Runnable[Any, AIMessage]:
    """The model, stopped before it invents an observation."""
    return model.bind(stop=list(STOPS)) if takes_stop(model) else model


def write(move: Move, number: int = 1, language: Language = "en", toolbox: Toolbox = _NO_TOOLS) -> str:
    """One turn as the model should write it; `toolbox` allows the short form for tools that take one text."""
    labels = LABELS[language]
    lines = [labels.line(labels.thought, number, _guarded(move.thought))] if move.thought else []
    return "\n".join([*lines, labels.line(labels.action, number, _action(move, toolbox))])


def _action(move: Move, toolbox: Toolbox) -> str:
    if move.answer is not None:
        return f"Finish[{_literal(move.answer)}]"
    if len(move.calls) == 1:
        return _call(move.calls[0], toolbox)
    return _literal([{"name": call.name, "arguments": call.args} for call in move.calls])


def _call(call: Call, toolbox: Toolbox) -> str:
    tool = toolbox.get(call.name)
    if not call.args:
        return f"{call.name}[]"
    short = tool is not None and sole(tool) and list(call.args) == list(tool.parameters)
    only = next(iter(call.args.values()))
    # Marks alone, and the parameter's own name, look like a placeholder; there the name has to stand beside them.
    if short and isinstance(only, str) and any(map(str.isalnum, only)) and only.strip(" \"'") not in call.args:
        return f"{call.name}[{_literal(only)}]"
    return f"{call.name}[{_literal(call.args)}]"


def _literal(value: Any) -> str:
    """JSON on one line that nothing in it can leave."""
    return _UNSAFE.sub(lambda mark: f"\\u{ord(mark[0]):04x}", _encode(value))


def _guarded(thought: str) -> str:
    """A thought whose lines stay as they are, except those that would open a section of their own."""
    first, *rest = thought.strip().splitlines() or [""]
    return "\n".join([first, *(f"| {line}" if _LABEL.match(line) else line for line in rest)])


@lru_cache(maxsize=64)
def _guide(toolbox: Toolbox, language: Language, max_steps: int | None) -> str:
    return guide("text", toolbox, language, max_steps, lambda move, number: write(move, number, language, toolbox))


def _past(asked: Exchange, toolbox: Toolbox, language: Language) -> str:
    """An earlier question: with its answer alone, or with the steps taken where it never got one."""
    labels = LABELS[language]
    lines = [labels.line(labels.question, None, history.quoted(asked.question))]
    if asked.answer is None:
        lines += _steps(asked, toolbox, language)
    answer = prompts.NO_ANSWER[language] if asked.answer is None else history.quoted(asked.answer)
    return "\n".join([*lines, labels.line(labels.answer, None, answer)])


def _steps(asked: Exchange, toolbox: Toolbox, language: Language) -> Iterator[str]:
    labels = LABELS[language]
    for step in asked.steps:
        yield write(Move(step.thought, (step.call,)), step.number, language, toolbox)
        yield labels.line(labels.observation, step.number, history.quoted(step.observation))


def _open(asked: Exchange, toolbox: Toolbox, brief: Brief) -> Iterator[str]:
    """The question at hand, its steps, what holds for this call, and the label that the model continues."""
    labels = LABELS[brief.language]
    yield labels.line(labels.question, None, history.quoted(asked.question))
    yield from _steps(asked, toolbox, brief.language)
    number = asked.next
    if asked.answer is not None:
        yield write(Move(asked.thought, answer=asked.answer), number, brief.language, toolbox)
        number += 1
    if brief.repair:
        bad, sentence = brief.repair
        yield labels.line(labels.thought, number, history.quoted(history.shortened(bad)))
        yield f"[{prompts.unread(brief.language, sentence)}]"
    yield from prompts.now("text", brief)
    yield labels.line(labels.thought, number, "").rstrip()
