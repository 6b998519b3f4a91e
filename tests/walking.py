"""What walks need: tools whose effects are counted, replies in short, and a graph driven to its end."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from graphs.react import build
from nodes.limits import Limits
from nodes.scripted import ScriptedModel
from tools.observation import ToolFailure
from tools.tool import Tool, tool

USAGE = {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120}


def calls(*asked: tuple[str, dict[str, Any]], thought: str = "I need a tool.", tokens: int = 120) -> AIMessage:
    """A native reply that asks for tools."""
    usage = {"input_tokens": tokens - 20, "output_tokens": 20, "total_tokens": tokens}
    made = [{"name": name, "args": args, "id": f"c{i}", "type": "tool_call"} for i, (name, args) in enumerate(asked)]
    return AIMessage(thought, tool_calls=made, usage_metadata=usage)


def look(what: str) -> AIMessage:
    """A native reply that looks something up."""
    return calls(("look", {"what": what}))


@dataclass
class World:
    """Tools and what they did."""

    effects: list[str] = field(default_factory=list)
    answers: dict[str, Any] = field(default_factory=dict)

    @property
    def tools(self) -> list[Tool]:
        """look reads, flaky fails, poll may repeat, pay cannot be undone, note writes, unknown has no declared effect."""
        effects, answers = self.effects, self.answers

        @tool(effect="read")
        def look(what: str) -> str:
            """Look something up."""
            effects.append(f"look {what}")
            found = answers.get(what, f"found {what}")
            return found.pop(0) if isinstance(found, list) else found  # type: ignore[no-any-return]

        @tool(effect="read")
        def flaky(what: str) -> str:
            """Fail."""
            effects.append(f"flaky {what}")
            raise ToolFailure("there is no such thing")

        @tool(effect="read", repeatable=True)
        def poll() -> str:
            """Poll."""
            effects.append("poll")
            return "not yet"

        @tool(effect="irreversible")
        def pay(amount: int) -> str:
            """Pay."""
            effects.append(f"pay {amount}")
            return f"paid {amount}"

        @tool(effect="write", cap=2)
        def note(text: str) -> str:
            """Note."""
            effects.append(f"note {text}")
            return f"noted {text}"

        @tool(effect="read", returns_answer=True)
        def oracle(what: str) -> str:
            """Answer."""
            effects.append(f"oracle {what}")
            if what == "fail":
                raise ToolFailure("the oracle is silent")
            return f"the answer to {what}"

        def unknown(x: str) -> str:
            """Do something nobody declared."""
            effects.append(f"unknown {x}")
            return x

        return [look, flaky, poll, pay, note, oracle, Tool.of(unknown)]


@dataclass
class Walked:
    """One run from question to end."""

    state: dict[str, Any]
    path: list[str]
    world: World
    model: ScriptedModel
    questions: list[dict[str, Any]]


SHORT = {
    "begin": "b", "think": "T", "guard": "g", "act": "A", "approve": "?", "observe": "o", "finish": "F", "halt": "H",
}  # fmt: skip


def walk(
    replies: Sequence[Any],
    answers: Sequence[Any] = (),
    limits: Limits = Limits(),  # noqa: B008
    world: World | None = None,
    asynchronous: bool = False,
    **built: Any,
) -> Walked:
    """Run a scripted model, answering every question, and insist that script and answers were used up."""
    world = world or World()
    model = ScriptedModel(replies)
    graph = build(model, world.tools, limits=limits, checkpointer=InMemorySaver(), **built)
    config: Any = {"configurable": {"thread_id": "walk"}}
    step: Any = {"messages": [("user", "the question")]}
    tasks: dict[str, str] = {}
    questions: list[dict[str, Any]] = []
    left = list(answers)
    while True:
        for event in _events(graph, step, config, asynchronous):
            tasks.setdefault(event["id"], event["name"])
        waiting = graph.get_state(config).interrupts
        if not waiting:
            break
        questions += [asked.value for asked in waiting]
        assert left, f"nobody answers {questions[-1]['message']}"
        step = Command(resume=left.pop(0))
    assert not left, f"answers that nobody asked for: {left}"
    model.assert_played()
    return Walked(graph.get_state(config).values, list(tasks.values()), world, model, questions)


def _events(graph: Any, step: Any, config: Any, asynchronous: bool) -> list[dict[str, Any]]:
    if not asynchronous:
        return list(graph.stream(step, config, stream_mode="tasks", durability="sync"))

    async def events() -> list[dict[str, Any]]:
        return [event async for event in graph.astream(step, config, stream_mode="tasks", durability="sync")]

    return asyncio.run(events())


def short(path: list[str]) -> str:
    """The path as one letter a node."""
    return "".join(SHORT[name] for name in path)
