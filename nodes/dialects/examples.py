"""Worked examples made from the tools that are really registered, in words that are no use as answers elsewhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import jsonschema

from nodes.dialects.brief import Language
from nodes.dialects.samples import arguments
from nodes.move import Call, Move
from tools.tool import Tool
from tools.toolbox import Toolbox


@dataclass(frozen=True)
class Example:
    """A question, then moves and what each brought; the last move is the answer and brings nothing."""

    question: str
    turns: tuple[tuple[Move, str], ...]


_WORDS: dict[Language, dict[str, str]] = {
    "en": {
        "one": "What does {tool} say about {input}?",
        "one_first": "I cannot know this myself, so I ask {tool}.",
        "one_then": "The observation answers the question.",
        "one_answer": "{tool} says: {result}.",
        "two": "What does {tool} say about {input}, and what does {other} say about {other_input}?",
        "two_first": "Two things are asked. I begin with {tool}.",
        "two_then": "I have the first part. Now {other} for the second part.",
        "two_last": "Both observations together answer the question.",
        "two_answer": "{tool} says: {result}. {other} says: {other_result}.",
        "unclear": "How long is it?",
        "unclear_why": "It is not said what is meant, and no tool can find that out. I ask.",
        "unclear_answer": "Which thing do you mean?",
        "hello": "Good morning!",
        "hello_why": "This needs no tool.",
        "hello_answer": "Good morning! How can I help?",
        "nothing": "no input",
        "first": "sample result one",
        "second": "sample result two",
    },
    "zh": {
        "one": "{tool} 对“{input}”给出什么？",
        "one_first": "我自己无法知道，所以询问 {tool}。",
        "one_then": "观察已经回答了问题。",
        "one_answer": "{tool} 给出：{result}。",
        "two": "{tool} 对“{input}”给出什么？{other} 对“{other_input}”又给出什么？",
        "two_first": "问了两件事，先用 {tool}。",
        "two_then": "第一部分已有结果，再用 {other} 查第二部分。",
        "two_last": "两条观察合起来回答了问题。",
        "two_answer": "{tool} 给出：{result}。{other} 给出：{other_result}。",
        "unclear": "它有多长？",
        "unclear_why": "没有说明指的是什么，工具也查不出来，所以反问。",
        "unclear_answer": "您指的是哪一个？",
        "hello": "早上好！",
        "hello_why": "这不需要工具。",
        "hello_answer": "早上好！需要什么帮助？",
        "nothing": "无输入",
        "first": "示例结果一",
        "second": "示例结果二",
    },
}


@lru_cache(maxsize=64)
def examples(toolbox: Toolbox, language: Language = "en") -> tuple[Example, ...]:
    """Two to three examples in one style: one asks back, and tools are used, two in a chain where there are two."""
    words = _WORDS[language]
    shown = _showable(toolbox, language)
    unclear = _answered(words["unclear"], words["unclear_why"], words["unclear_answer"])
    if not shown:
        return _answered(words["hello"], words["hello_why"], words["hello_answer"]), unclear
    # The last example is copied the most, so the fullest use of tools stands there.
    if len(shown) == 1:
        return unclear, _single(shown[0], words)
    return _single(shown[1], words), unclear, _chain(shown[0], shown[1], words)


def _answered(question: str, why: str, answer: str) -> Example:
    return Example(question, ((Move(why, answer=answer), ""),))


def _single(call: Call, words: dict[str, str]) -> Example:
    say = _speaker(words, tool=call.name, input=_input(call, words), result=words["first"])
    return Example(
        say("one"),
        (
            (Move(say("one_first"), (call,)), words["first"]),
            (Move(say("one_then"), answer=say("one_answer")), ""),
        ),
    )


def _chain(call: Call, other: Call, words: dict[str, str]) -> Example:
    results = {"result": words["first"], "other_result": words["second"]}
    inputs = {"input": _input(call, words), "other_input": _input(other, words)}
    say = _speaker(words, tool=call.name, other=other.name, **inputs, **results)
    return Example(
        say("two"),
        (
            (Move(say("two_first"), (call,)), words["first"]),
            (Move(say("two_then"), (other,)), words["second"]),
            (Move(say("two_last"), answer=say("two_answer")), ""),
        ),
    )


def _speaker(words: dict[str, str], **facts: str) -> Callable[[str], str]:
    return lambda key: words[key].format(**facts)


def _input(call: Call, words: dict[str, str]) -> str:
    values = [value if isinstance(value, str) else json.dumps(value) for value in call.args.values()]
    return ", ".join(values) or words["nothing"]


def _showable(toolbox: Toolbox, language: Language) -> list[Call]:
    """Sample calls, those that change nothing first, of the tools whose schema accepts the sample."""
    tools = sorted(toolbox.values(), key=lambda tool: tool.writes)
    calls = ((tool, arguments(tool, language)) for tool in tools)
    return [Call(tool.name, args) for tool, args in calls if _fits(tool, args)][:2]


def _fits(tool: Tool, args: dict[str, Any]) -> bool:
    try:
        return bool(jsonschema.Draft202012Validator(dict(tool.schema)).is_valid(args))
    except Exception:
        # A schema that cannot be read or resolved is no reason to refuse the tool, only to show another.
        return False
