"""Think: the one node that calls the model; what it says becomes a thought with calls, an answer, or an error."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, SystemMessage
from langgraph.config import get_config
from langgraph.errors import GraphBubbleUp
from langgraph.runtime import Runtime

from nodes.basis import basis_of
from nodes.case import Case, limits_in_force
from nodes.context import Context
from nodes.history import whole
from nodes.identity import thread
from nodes.leases import fence_of
from nodes.limits import Limits
from nodes.models import ModelFailed, fault
from nodes.node import Node, Steps, Wait
from nodes.rules import first_broken
from nodes.speaking import Speaker, Speech
from nodes.state import Run, Update, Working
from nodes.thoughts import Thoughts
from nodes.tokens import spent
from nodes.told import told


class Think(Node):
    """Ask the rules, then the model; read the reply in the dialect it was asked in."""

    def __init__(self, speaker: Speaker, limits: Limits, thoughts: Thoughts, response_format: Any = None) -> None:
        self.name = "think"
        self.speaker, self.limits, self.thoughts = speaker, limits, thoughts
        self.response_format = response_format

    def steps(self, input: Working, runtime: Runtime[Context]) -> Steps:
        """One thought, or the limit that forbids it, or the fault that prevents it."""
        if returned := input["turn"].get("returned"):
            return answered(returned, input["run"])
        context = Context.of(runtime)
        case = Case(input, limits_in_force(self.limits, input, context), self.speaker.toolbox)
        if not case.closing and (broken := first_broken(case, "before think", "stop")):
            rule, why = broken
            return {"turn": {"rule": rule.name, "status": rule.status, "why": why}}
        basis, step, run_id = basis_of(input), input["run"]["step"] + 1, input["run"]["id"]
        at, fence = thread(), fence_of(get_config())
        if recorded := (yield Wait.io(lambda: self.thoughts.recorded(run_id, step, basis, fence))):
            return _of_now(recorded, input["run"])
        history = whole(list(input["messages"]))
        try:
            speech = yield from self.speaker.speak(case, runtime, history.messages)
        except ModelFailed as failed:
            return {"turn": {"rule": "model", "status": "failed", "why": failed.sentence}}
        update = told(speech.reply, speech.dialect, case.toolbox, input["run"], history.ids, speech.seconds)
        update["run"] |= self.counted(speech, input, update["run"])
        update["turn"]["basis"] = basis
        if self.response_format is not None and "answer" in update["turn"]:
            update |= yield from self.structure(speech, update["turn"]["answer"], case, runtime)
        kept: Update = yield Wait.io(lambda: self.thoughts.record(at, basis, update, fence))
        return _of_now(kept, input["run"])

    def counted(self, speech: Speech, state: Working, run: Run) -> dict[str, Any]:
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

    def structure(
        self, speech: Speech, answer: str, case: Case, runtime: Runtime[Context]
    ) -> Generator[Wait, Any, Update]:
        """The answer once more, in the caller's own schema."""
        model = self.speaker.models.get(0, Context.of(runtime).model, case.state, runtime)
        schema = self.response_format
        extra: list[BaseMessage] = []
        if isinstance(schema, tuple):
            extra, schema = [SystemMessage(schema[0])], schema[1]
        request = [*extra, *speech.request, AIMessage(answer)]
        try:
            structured = model.with_structured_output(schema)
            response = yield Wait(
                lambda: structured.invoke(request),
                lambda: structured.ainvoke(request),
                self.limits.model_seconds or None,
            )
        except (GraphBubbleUp, AssertionError):
            raise
        except Exception as error:
            return _shapeless(fault(error)[1], answer)
        return (
            _shapeless("the model gave nothing in it", answer)
            if response is None
            else {"structured_response": response}
        )


def _of_now(told: Update, run: Run) -> Update:
    """A step that was taken down, in a run that was begun again: its question has a new id by then."""
    return {**told, "run": {**told["run"], "since": run["since"]}}


def _shapeless(why: str, answer: str) -> Update:
    why = f"the answer could not be put in the asked format: {why}"
    return {"turn": {"rule": "response_format", "status": "failed", "why": why, "answer": answer}}


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
