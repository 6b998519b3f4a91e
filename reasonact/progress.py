"""What a run has done so far, gathered from the graph's updates as they come."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, ToolMessage

from nodes.history import since
from nodes.steps import steps_of
from nodes.wrapping import unwrap


@dataclass
class Action:
    """One call, and what came of it."""

    id: str
    name: str
    args: Mapping[str, Any]
    text: str | None = None
    """The observation; None while there is none."""
    code: str = "ok"
    seconds: float = 0.0


@dataclass
class Round:
    """One step of the loop."""

    number: int
    thought: str = ""
    actions: list[Action] = field(default_factory=list)
    answers: bool = False
    error: str = ""
    """Why the reply could not be read."""
    seconds: float = 0.0
    tokens: int = 0


class Progress:
    """The rounds of one run, and what it is busy with."""

    def __init__(self) -> None:
        self.rounds: list[Round] = []
        self.doing = "starting"
        self.began = time.monotonic()
        self.dialect = ""
        self._tokens = 0

    def recall(self, values: Mapping[str, Any]) -> None:
        """Take up a run that was begun before."""
        if not (run := values.get("run")):
            return
        self._tokens = run["input_tokens"] + run["output_tokens"]
        for step in steps_of(since(values["messages"], run["since"]), run):
            seen = {seen["call_id"]: seen for seen in step["observations"]}
            actions = [_action(call, seen.get(call["id"])) for call in step["calls"]]
            made = Round(step["number"], step["thought"], actions, seconds=step["seconds"], error=step.get("error", ""))
            made.answers = not actions and not made.error
            self.rounds.append(made)
        for result in values.get("results") or ():
            self._observed(result["call_id"], result["text"], result["code"], result["seconds"])
        self.doing = self._running() if self.open else "thinking"

    def saw(self, node: str, update: Mapping[str, Any] | None) -> None:
        """Take in the update of one node."""
        update = update or {}
        if node == "think":
            self._thought(update)
        for result in update.get("results") or ():
            self._observed(result["call_id"], result["text"], result["code"], result["seconds"])
        if node == "observe":
            for message in update.get("messages", ()):
                if isinstance(message, ToolMessage):
                    facts = message.artifact or {}
                    self._observed(
                        message.tool_call_id, unwrap(message.text), facts.get("code", "ok"), facts.get("seconds", 0.0)
                    )
        self._busy(node, update)

    def _thought(self, update: Mapping[str, Any]) -> None:
        run, turn = update.get("run"), update.get("turn", {})
        if not run or ("rule" in turn and turn["rule"] == "model"):
            return
        total = run["input_tokens"] + run["output_tokens"]
        made = Round(run["step"], tokens=total - self._tokens, seconds=time.monotonic() - self.began)
        self._tokens, self.dialect = total, f"{run['dialect']}: {run['dialect_why']}"
        made.error = turn.get("error", {}).get("sentence", "")
        for message in update.get("messages", ()):
            if isinstance(message, AIMessage):
                made.thought = message.text if message.tool_calls else message.additional_kwargs.get("thought", "")
                made.seconds = message.response_metadata.get("seconds", made.seconds)
                made.answers = not message.tool_calls
                made.actions = [_action(call, None) for call in message.tool_calls]
        self.rounds.append(made)

    def _observed(self, call_id: str, text: str, code: str, seconds: float) -> None:
        for made in reversed(self.rounds):
            for action in made.actions:
                if action.id == call_id:
                    action.text, action.code, action.seconds = text, code, seconds
                    return

    def _busy(self, node: str, update: Mapping[str, Any]) -> None:
        if node in ("begin", "observe", "halt"):
            self.doing = "thinking"
        elif node == "approve" or (node == "guard" and update.get("turn", {}).get("verdict") in ("run", "ask")):
            self.doing = self._running()
        else:
            return
        self.began = time.monotonic()

    def _running(self) -> str:
        return "running " + ", ".join(action.name for action in self.open)

    @property
    def seconds(self) -> float:
        """Time that the model and the tools took."""
        return sum(made.seconds + max((a.seconds for a in made.actions), default=0.0) for made in self.rounds)

    @property
    def open(self) -> Sequence[Action]:
        """Calls of the newest round that have no observation yet."""
        return [action for action in self.rounds[-1].actions if action.text is None] if self.rounds else []


def _action(call: Mapping[str, Any], seen: Mapping[str, Any] | None) -> Action:
    made = Action(str(call["id"]), call["name"], call["args"])
    if seen is not None:
        made.text, made.code, made.seconds = seen["text"], seen["code"], seen["seconds"]
    return made
