"""Worked examples made from the tools that are really registered, in words that are no use as answers elsewhere."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import jsonschema

from nodes.dialects.brief import Language
from nodes.dialects.samples import SUM, SUM_RESULT, arguments
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
        "sum": "How much is {input}?",
        "topic": "What is known about {input}?",
        "any": "What does {tool} say about {input}?",
        "bare": "What does {tool} say?",
        "first": "I need {tool}.",
        "enough": "The answer is {one}.",
        "begin": "I need {tool} for {input} and {other} for {other_input}. First {tool}.",
        "go_on": "{tool} says {one}. Now I need {other} for {other_input}.",
        "both": "The answer is {one}, and {two}.",
        "and": "{one}, and {two}",
        "space": " ",
        "unclear": "How long is it?",
        "unclear_why": "Unclear: many things could be meant.",
        "unclear_answer": "Which one do you mean?",
        "hello": "Good morning!",
        "hello_why": "This needs no tool.",
        "hello_answer": "Good morning! How can I help?",
        "one": "sample result one",
        "two": "sample result two",
    },
    "zh": {
        "sum": "{input} 等于多少？",
        "topic": "关于“{input}”，有什么资料？",
        "any": "{tool} 对“{input}”给出什么？",
        "bare": "{tool} 给出什么？",
        "first": "需要用 {tool}。",
        "enough": "答案是{one}。",
        "begin": "需要用 {tool} 查 {input}，用 {other} 查 {other_input}。先用 {tool}。",
        "go_on": "{tool} 给出{one}。接下来需要用 {other} 查 {other_input}。",
        "both": "答案是{one}；{two}。",
        "and": "{one}；{two}",
        "space": "",
        "unclear": "它有多长？",
        "unclear_why": "需要知道“它”指什么，所以反问。",
        "unclear_answer": "您指的是哪一个？",
        "hello": "早上好！",
        "hello_why": "这不需要工具。",
        "hello_answer": "早上好！需要什么帮助？",
        "one": "示例结果一",
        "two": "示例结果二",
    },
}
_TOPICS = {"query", "topic", "title", "keyword", "keywords", "entity", "term", "q", "question", "search"}


@lru_cache(maxsize=64)
def examples(toolbox: Toolbox, language: Language = "en") -> tuple[Example, ...]:
    """Two to four examples in one style: one asks back, the others use tools, two in a chain where there are two."""
    words = _WORDS[language]
    shown = _showable(toolbox, language)
    unclear = _answered(words["unclear"], words["unclear_why"], words["unclear_answer"])
    if not shown:
        return _answered(words["hello"], words["hello_why"], words["hello_answer"]), unclear
    # Small models copy the last example the most: what most questions need stands there, asking back comes first.
    if len(shown) == 1:
        return unclear, _single(shown[0], words)
    return unclear, _chain(shown[0], shown[1], words), _single(shown[1], words), _single(shown[0], words)


def _answered(question: str, why: str, answer: str) -> Example:
    return Example(question, ((Move(why, answer=answer), ""),))


def _single(call: Call, words: dict[str, str]) -> Example:
    result = _result(call, words["one"])
    facts = {"tool": call.name, "input": _input(call), "one": result}
    turns = (
        (Move(_say(words, "first", facts), (call,)), result),
        (Move(_say(words, "enough", facts), answer=result), ""),
    )
    return Example(_question(call, words), turns)


def _chain(call: Call, other: Call, words: dict[str, str]) -> Example:
    one, two = _result(call, words["one"]), _result(other, words["two"])
    facts = {"tool": call.name, "input": _input(call), "one": one}
    facts |= {"other": other.name, "other_input": _input(other), "two": two}
    turns = (
        (Move(_say(words, "begin", facts), (call,)), one),
        (Move(_say(words, "go_on", facts), (other,)), two),
        (Move(_say(words, "both", facts), answer=_say(words, "and", facts)), ""),
    )
    return Example(words["space"].join([_question(call, words), _question(other, words)]), turns)


def _question(call: Call, words: dict[str, str]) -> str:
    """What a person would ask so that this call is the way to the answer."""
    kind = "any" if call.args else "bare"
    if len(call.args) == 1:
        kind = "sum" if _input(call) == SUM else "topic" if _TOPICS & set(call.args) else kind
    return _say(words, kind, {"tool": call.name, "input": _input(call)})


def _say(words: dict[str, str], key: str, facts: dict[str, str]) -> str:
    return words[key].format(**facts)


def _input(call: Call) -> str:
    values = (value if isinstance(value, str) else json.dumps(value, default=str) for value in call.args.values())
    return ", ".join(values)


def _result(call: Call, otherwise: str) -> str:
    return SUM_RESULT if SUM in call.args.values() else otherwise


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
