"""Begin: a new user message starts a run with counters at zero on a whole history."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Literal

from langchain_core.messages import BaseMessage, RemoveMessage
from langgraph.config import get_config
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.runtime import Runtime

from nodes.context import Context
from nodes.history import last_question, unanswered, whole
from nodes.identity import thread, user
from nodes.leases import fence_of
from nodes.runs import Runs
from nodes.state import VERSION, Run, State, Update


class NoQuestion(ValueError):
    """The run was started without a message to answer."""


class NoCheckpointer(ValueError):
    """The agent may have to ask a person, and nothing would remember the question."""


@dataclass(frozen=True)
class Begin:
    """Reset what belongs to the run, keep what belongs to the thread."""

    may_ask: str | None
    """Why this agent may have to pause for a person; None if it never does."""
    runs: Runs

    def __call__(self, state: State, runtime: Runtime[Context]) -> Update:
        """Start the run.

        Raises:
            NoQuestion: there is no user message.
            NoCheckpointer: the agent may pause, and the graph runs without a checkpointer.
        """
        messages: list[BaseMessage] = list(state.get("messages", ()))
        question = last_question(messages)
        if question is None:
            raise NoQuestion('there is no question: pass {"messages": [("user", "…")]}')
        if self.may_ask and get_config()["configurable"].get("__pregel_checkpointer") is None:
            raise NoCheckpointer(
                f"{self.may_ask}, and without a checkpointer the pause could never be resumed: build the graph with "
                "checkpointer=InMemorySaver() or another saver, declare the effect of harmless tools "
                '(effect="read"), or build with approve="none"'
            )
        at = thread()
        place = next(place for place, message in enumerate(messages) if message is question)
        before = messages[place - 1] if place else None
        asked = {"id": str(question.id), "text": question.text, "before": str(before.id) if before else ""}
        run_id = self.runs.begin(at, asked, user(), fence_of(get_config()))
        history = whole(messages)
        if history.mended:
            history = whole(messages, self.runs.fates(at, unanswered(messages)))
        language = Context.of(runtime).language
        update = fresh(run_id, str(question.id), language_of(question) if language == "auto" else language)
        if state.get("status"):
            update |= NO_RESULT
        if history.mended:
            update["messages"] = [RemoveMessage(id=REMOVE_ALL_MESSAGES), *history.messages]
        return update


def fresh(run_id: str, question_id: str, language: Literal["en", "zh"]) -> Update:
    """Counters at zero."""
    run: Run = {
        "version": VERSION,
        "id": run_id,
        "since": question_id,
        "language": language,
        "dialect": "",
        "dialect_why": "",
        "step": 0,
        "repairs": 0,
        "repairs_in_a_row": 0,
        "failed": [],
        "input_tokens": 0,
        "output_tokens": 0,
        "context_tokens": 0,
        "seconds": 0.0,
        "observations": 0,
        "calls": {},
        "refused": [],
        "tainted": [],
        "unknown": [],
        "granted": {},
        "closing": {},
    }
    return {"run": run, "turn": {}, "results": None}


NO_RESULT: Update = {
    "status": "running",
    "reason": "",
    "answer": None,
    "steps": [],
    "tokens": {"input": 0, "output": 0, "total": 0},
    "structured_response": None,
}


def language_of(message: BaseMessage) -> Literal["en", "zh"]:
    """Chinese if a fifth of the letters of the question are Han."""
    letters = [mark for mark in message.text[:2000] if mark.isalpha()]
    han = sum("CJK UNIFIED" in unicodedata.name(mark, "") for mark in letters)
    return "zh" if letters and han * 5 >= len(letters) else "en"
