"""Think: the one node that calls the model; what it says becomes a thought with calls, an answer, or an error."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage
from langchain_core.runnables import Runnable
from langgraph.errors import GraphBubbleUp
from langgraph.runtime import Runtime

from nodes.context import Context
from nodes.dialects.brief import Brief
from nodes.dialects.choice import DIALECTS, choose, lower, refused
from nodes.history import Whole, whole
from nodes.limits import Limits
from nodes.models import ModelFailed, Models, fault, passing, pause
from nodes.node import Node, Steps, Wait
from nodes.rules import RULES, Case, first_broken, limits_in_force
from nodes.state import Run, State, Update
from nodes.tokens import spent
from nodes.told import told
from tools.toolbox import Toolbox

Prompt = str | SystemMessage | Callable[[Any], Any] | Runnable[Any, Any] | None


NO_TOOLS = Toolbox()


@dataclass
class Speech:
    """One reply and how it came about."""

    reply: AIMessage
    request: list[BaseMessage]
    dialect: str
    dialect_why: str
    seconds: float


class Think(Node):
    """Ask the rules, then the model; read the reply in the dialect it was asked in."""

    def __init__(
        self,
        models: Models,
        toolbox: Toolbox,
        limits: Limits,
        prompt: Prompt,
        dialect: str,
        response_format: Any = None,
    ) -> None:
        self.name = "think"
        self.models, self.toolbox, self.limits = models, toolbox, limits
        self.prompt, self.dialect, self.response_format = prompt, dialect, response_format
        self.bound: dict[tuple[int, str, bool], Runnable[Any, Any]] = {}

    def steps(self, input: State, runtime: Runtime[Context]) -> Steps:
        """One thought, or the limit that forbids it, or the fault that prevents it."""
        if returned := input["turn"].get("returned"):
            return answered(returned, input["run"])
        context = Context.of(runtime)
        case = Case(input, limits_in_force(self.limits, input, context), self.toolbox)
        if not case.closing and (broken := first_broken(case, "before think", "stop")):
            rule, why = broken
            return {"turn": {"rule": rule.name, "status": rule.status, "why": why}}
        history = whole(list(input["messages"]))
        try:
            speech = yield from self.speak(case, context, history)
        except ModelFailed as failed:
            return {"turn": {"rule": "model", "status": "failed", "why": failed.sentence}}
        update = told(speech.reply, speech.dialect, self.toolbox, input["run"], history.ids, speech.seconds)
        update["run"] |= self.counted(speech, input, update["run"])
        if self.response_format is not None and "answer" in update["turn"]:
            update |= yield from self.structure(speech, context)
        return update

    def speak(self, case: Case, context: Context, history: Whole) -> Generator[Wait, Any, Speech]:
        """Get a reply from the first model that gives one, in a dialect that its server does not refuse.

        Raises:
            ModelFailed: no model gave one.
        """
        failed = ModelFailed("none", "no model was given")
        for place in range(len(self.models)):
            model = self.models.get(place, context.model)
            name, why = self.choice(model, case.state["run"], context, first=place == 0)
            while True:
                request = self.request(name, case, context, history.messages)
                began = time.monotonic()
                try:
                    reply = yield from self.call(self.speaker(model, name, closing=case.closing), request, case)
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

    def choice(self, model: BaseChatModel, run: Run, context: Context, first: bool) -> tuple[str, str]:
        """The dialect of this run: what it began with, unless another model takes over."""
        if first and run["dialect"]:
            return run["dialect"], run["dialect_why"]
        return choose(model, context.dialect or self.dialect, self.toolbox)

    def request(self, dialect: str, case: Case, context: Context, history: Sequence[BaseMessage]) -> list[BaseMessage]:
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

    def speaker(self, model: BaseChatModel, dialect: str, closing: bool) -> Runnable[Any, Any]:
        """The model with what the dialect binds to it, bound once."""
        key = (id(model), dialect, closing)
        if key not in self.bound:
            self.bound[key] = DIALECTS[dialect].bind(model, NO_TOOLS if closing else self.toolbox)
        return self.bound[key]

    def call(
        self, speaker: Runnable[Any, Any], request: list[BaseMessage], case: Case
    ) -> Generator[Wait, Any, AIMessage]:
        """One call of the model, tried again while the fault is a passing one and time is left."""
        limits, spent_seconds = case.limits, case.state["run"]["seconds"]
        began = time.monotonic()
        left = max(1.0, limits.seconds - spent_seconds) if limits.seconds else 3600.0
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

    def counted(self, speech: Speech, state: State, run: Run) -> dict[str, Any]:
        """The counters after this call."""
        before = state["run"]
        new = _since_last_reply(state["messages"])
        read, wrote = spent(speech.reply, speech.request, new, before)
        return {
            "dialect": speech.dialect,
            "dialect_why": speech.dialect_why,
            "step": before["step"] + 1,
            "input_tokens": before["input_tokens"] + read,
            "output_tokens": before["output_tokens"] + wrote,
            "context_tokens": read + wrote,
            "seconds": before["seconds"] + speech.seconds,
        }

    def structure(self, speech: Speech, context: Context) -> Generator[Wait, Any, Update]:
        """The answer once more, in the caller's own schema."""
        model = self.models.get(0, context.model)
        schema, extra = self.response_format, []
        if isinstance(schema, tuple):
            extra, schema = [SystemMessage(schema[0])], schema[1]
        speaker = model.with_structured_output(schema)
        request = [*extra, *speech.request, AIMessage(speech.reply.text)]
        try:
            response = yield Wait(lambda: speaker.invoke(request), lambda: speaker.ainvoke(request), None)
        except (GraphBubbleUp, AssertionError):
            raise
        except Exception as error:
            why = f"the answer could not be put in the asked format: {fault(error)[1]}"
            return {"turn": {"rule": "response_format", "status": "failed", "why": why}}
        return {"structured_response": response}


def answered(text: str, run: Run) -> Update:
    """The answer that a tool returned, without asking the model."""
    message = AIMessage(text, id=f"{run['id'][:12]}-{run['step']}-answer")
    return {"messages": [message], "turn": {"answer": text}}


def _since_last_reply(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    new: list[BaseMessage] = []
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            break
        new.append(message)
    return new
