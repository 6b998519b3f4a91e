"""The thread as questions and the steps taken for each: what the dialects that write calls as text render."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from nodes.dialects.reply import words
from nodes.move import Call
from nodes.wrapping import unwrap

Blocks = list[dict[str, Any]]


@dataclass
class Step:
    """One call and what came of it; the calls of one turn are steps one after the other."""

    thought: str
    call: Call
    number: int
    """Of its observation, which is the number of the step too."""
    observation: str = ""


@dataclass
class Exchange:
    """One question, the steps taken for it and, once there is one, its answer."""

    question: str = ""
    pictures: Blocks = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    thought: str = ""
    answer: str | None = None

    @property
    def next(self) -> int:
        """The number of the step to come."""
        return self.steps[-1].number + 1 if self.steps else 1

    @property
    def begun(self) -> bool:
        """Whether anything was done about the question yet."""
        return bool(self.steps) or self.answer is not None


def exchanges(messages: Iterable[BaseMessage]) -> list[Exchange]:
    """The thread cut at the user's questions; there is always a last one, perhaps empty."""
    thread = [Exchange()]
    waiting: dict[str, Step] = {}
    for message in messages:
        if isinstance(message, HumanMessage):
            _ask(thread, message)
        elif isinstance(message, ToolMessage):
            if step := waiting.pop(message.tool_call_id, None):
                step.number = _number(message) or step.number
                step.observation = unwrap(words(message.content))
        elif isinstance(message, AIMessage):
            waiting |= _decide(thread[-1], message)
    return thread


def _ask(thread: list[Exchange], message: HumanMessage) -> None:
    if thread[-1].begun:
        thread.append(Exchange())
    asked = thread[-1]
    asked.question = "\n".join(filter(None, (asked.question, words(message.content))))
    asked.pictures += pictures(message)


def _decide(asked: Exchange, message: AIMessage) -> dict[str, Step]:
    if not message.tool_calls:
        asked.answer = words(message.content)
        asked.thought = str(message.additional_kwargs.get("thought") or "")
        return {}
    thoughts = [words(message.content).strip(), *[""] * len(message.tool_calls)]
    steps = [
        Step(thought, Call(call["name"], call["args"], call["id"] or ""), number)
        for number, (thought, call) in enumerate(zip(thoughts, message.tool_calls, strict=False), asked.next)
    ]
    asked.steps += steps
    return {step.call.id: step for step in steps}


def _number(message: ToolMessage) -> int | None:
    """Of a window of the history only the observations themselves know which ones they are."""
    artifact = message.artifact
    return artifact.get("number") if isinstance(artifact, dict) else None


def pictures(message: BaseMessage) -> Blocks:
    """The blocks of a message that are not text."""
    if isinstance(message.content, str):
        return []
    return [block for block in message.content if isinstance(block, dict) and block.get("type", "text") != "text"]


def system(prompt: str | None, messages: Sequence[BaseMessage]) -> list[str]:
    """What the user set as system text: the prompt, then the system messages of the thread."""
    said = [words(message.content) for message in messages if message.type == "system"]
    return [text for text in (prompt, *said) if text]


def quoted(text: str) -> str:
    """Text of others on lines of its own that cannot be mistaken for a label: each line after the first is marked."""
    return "\n| ".join(text.strip().splitlines())


def shortened(text: str, limit: int = 2000) -> str:
    """Enough of a reply that could not be read for the model to recognise it."""
    return text if len(text) <= limit else text[:limit] + " […]"
