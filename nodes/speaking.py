"""Speaking with the model: the request in its dialect, the call within its time, the next try, the next model."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage
from langchain_core.runnables import Runnable
from langgraph.errors import GraphBubbleUp
from langgraph.runtime import Runtime

from nodes.case import Case
from nodes.context import Context, DialectName
from nodes.dialects.brief import Brief
from nodes.dialects.choice import DIALECTS, Name, choose, lower, refused
from nodes.models import ModelFailed, Models, fault, passing, pause
from nodes.node import Wait
from nodes.rules import RULES
from nodes.state import Run
from tools.toolbox import Toolbox

logger = logging.getLogger("reasonact")
Prompt = str | SystemMessage | Callable[[Any], Any] | Runnable[Any, Any] | None
NO_TOOLS = Toolbox()
MOST_BOUND = 32
"""Models kept with their bindings; a function that makes a new model for every call must not fill the memory."""


@dataclass
class Speech:
    """One reply and how it came about."""

    reply: AIMessage
    request: list[BaseMessage]
    dialect: Name
    dialect_why: str
    seconds: float


@dataclass
class Speaker:
    """The models of an agent and the way they are spoken to."""

    models: Models
    toolbox: Toolbox
    prompt: Prompt
    dialect: DialectName
    bound: dict[tuple[int, str, bool], Runnable[Any, Any]] = field(default_factory=dict)

    def speak(self, case: Case, runtime: Runtime[Any], history: Sequence[BaseMessage]) -> Generator[Wait, Any, Speech]:
        """Get a reply from the first model that gives one, in a dialect that its server does not refuse.

        Raises:
            ModelFailed: no model gave one.
        """
        context = Context.of(runtime)
        failed = ModelFailed("none", "no model was given")
        for place in range(len(self.models)):
            model = self.models.get(place, context.model, case.state, runtime)
            name, why = self.choice(model, case.state["run"], context, first=place == 0)
            while True:
                request = self.request(name, case, context, history)
                began = time.monotonic()
                try:
                    reply = yield from self.call(self.bind(model, name, closing=case.closing), request, case)
                except (GraphBubbleUp, AssertionError):
                    raise
                except Exception as error:
                    if refused(error, name) and (next_name := lower(name)):
                        why = f"the server refused {name} ({type(error).__name__})"
                        name = next_name
                        continue
                    failed = ModelFailed(*fault(error))
                    break
                return Speech(reply, request, name, why, time.monotonic() - began)
        raise failed

    def choice(self, model: BaseChatModel, run: Run, context: Context, first: bool) -> tuple[Name, str]:
        """The dialect of this run: what it began with, unless another model takes over."""
        known = run["dialect"]
        if first and known:
            return known, run["dialect_why"]
        name, why = choose(model, context.dialect or self.dialect, self.toolbox)
        logger.info("dialect %s: %s", name, why)
        return name, why

    def request(self, dialect: Name, case: Case, context: Context, history: Sequence[BaseMessage]) -> list[BaseMessage]:
        """What the model reads."""
        state, run = case.state, case.state["run"]
        prompt = context.system_prompt or self.prompt
        if callable(prompt) or isinstance(prompt, Runnable):
            prompt, history = self.prompted(prompt, {**state, "messages": list(history)})
        elif isinstance(prompt, SystemMessage):
            prompt = prompt.text
        last = state["turn"]
        error = last.get("error")
        brief = Brief(
            prompt=prompt,
            language=run["language"],
            max_steps=case.limits.steps or None,
            steps_left=case.limits.steps - run["step"] if case.limits.steps else None,
            note=self.note(case),
            repair=(error["reply"], error["sentence"]) if error else None,
            closing=case.closing,
        )
        return DIALECTS[dialect].render(history, self.toolbox, brief)

    def note(self, case: Case) -> str | None:
        """What the model is told for this call only: rules about to break, and what was dropped from its reply."""
        said = [why for rule in RULES if rule.then == "tell" and (why := rule.check(case))]
        if note := case.state["turn"].get("note"):
            said.insert(0, note)
        return " ".join(said) or None

    def prompted(self, prompt: Any, state: dict[str, Any]) -> tuple[str | None, list[BaseMessage]]:
        """A prompt that is a function of the state gives the whole conversation; its system messages are the prompt."""
        given = prompt.invoke(state) if isinstance(prompt, Runnable) else prompt(state)
        messages = given.to_messages() if hasattr(given, "to_messages") else list(given)
        system = "\n\n".join(message.text for message in messages if isinstance(message, SystemMessage))
        return system or None, [message for message in messages if not isinstance(message, SystemMessage)]

    def bind(self, model: BaseChatModel, dialect: str, closing: bool) -> Runnable[Any, Any]:
        """The model with what the dialect binds to it, bound once."""
        key = (id(model), dialect, closing)
        if len(self.bound) > MOST_BOUND:
            self.bound.clear()
        if key not in self.bound:
            self.bound[key] = DIALECTS[dialect].bind(model, NO_TOOLS if closing else self.toolbox)
        return self.bound[key]

    def call(
        self, speaker: Runnable[Any, Any], request: list[BaseMessage], case: Case
    ) -> Generator[Wait, Any, AIMessage]:
        """One call of the model, tried again while the fault is a passing one and time is left."""
        limits, worked = case.limits, case.state["run"]["seconds"]
        began = time.monotonic()
        left = max(1.0, limits.seconds - worked) if limits.seconds else 3600.0
        one_try = min(limits.model_seconds or left, left)
        wait = Wait(lambda: speaker.invoke(request), lambda: speaker.ainvoke(request), one_try)
        tries = 0
        while True:
            try:
                return (yield wait)  # type: ignore[no-any-return]
            except GraphBubbleUp:
                raise
            except Exception as error:
                tries += 1
                delay = pause(error, tries - 1)
                too_late = time.monotonic() - began + delay > left
                if not passing(error) or too_late or tries >= limits.model_retries:
                    raise
                yield Wait.pause(delay)
