"""One run on one thread: from the question, or from where it stopped, to its end or to a question left open."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphDrained
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import RunControl
from langgraph.types import Command, Interrupt, StateSnapshot

from graphs.resuming import NothingToResume
from nodes.context import Context
from nodes.leases import ThreadBusy
from nodes.records import Records
from nodes.steps import result
from reasonact.endings import Broken, Refused
from reasonact.home import busy_with, user
from reasonact.interruption import drained_by_ctrl_c
from reasonact.progress import Progress
from reasonact.questions import asked_about, short_id, standing
from reasonact.settings import Settings, label
from reasonact.view import View

Answerer = Callable[[Mapping[str, Any]], Any]
"""Gives the answer to a question, or None if nobody answers now."""


@dataclass
class Runner:
    """Drives the graph, shows what it does, and takes its questions to a person."""

    graph: CompiledStateGraph[Any, Any, Any, Any]
    thread: str
    settings: Settings
    first_question: str
    progress: Progress
    view: View
    answerer: Answerer
    say: Callable[[str], None]
    records: Records

    def go(self, task: Any) -> None:
        """Run until the end, a question that stays open, or Ctrl-C.

        Raises:
            Broken: the run broke off.
            Refused: another process is at work on the thread, or went on with it.
        """
        while self.stream(task):
            state = self.state()
            if not state.interrupts:
                break
            task = self.asked(state.interrupts[0])
            if task is None:
                break

    def asked(self, question: Interrupt) -> Command[Any] | None:
        """The answer to a question, bound to it by its id; None if nobody answers now."""
        answer = self.answerer(question.value)
        if answer is None:
            return None
        if row := self.decided(question):
            self.say(f"Your answer was not used: {standing(row)}.")
        return Command(resume={question.id: answer})

    def decided(self, question: Interrupt) -> dict[str, Any] | None:
        """The call of a question that was decided elsewhere meanwhile, or that nobody answered in time."""
        row = asked_about(self.records, self.thread, question.id)
        return None if row is None or row["open"] else row

    def stream(self, task: Any) -> bool:
        """Run until the graph pauses or ends; False if Ctrl-C stopped it."""
        control = RunControl()
        context = Context(language=self.settings.language)  # type: ignore[arg-type]
        try:
            # What a tool prints must not get between the answer and whoever reads it from stdout.
            with drained_by_ctrl_c(control, self.stopping, self.leaving), redirect_stdout(sys.stderr):
                updates = self.graph.stream(
                    task,
                    self.config(),
                    context=context,
                    stream_mode="updates",
                    durability="sync",
                    control=control,
                )
                self.view.start()
                for update in updates:
                    self.saw(update)
        except GraphDrained:
            return False
        except ThreadBusy as busy:
            raise Refused(busy_with(self.thread)) from busy
        except NothingToResume as stray:
            raise Refused(f"the answer was not used: {stray}") from stray
        except Exception as error:
            raise Broken(f"the run broke off ({type(error).__name__}: {error}); {self.how_to_resume()}") from error
        finally:
            self.view.stop()
        return True

    def saw(self, update: Mapping[str, Any]) -> None:
        """Show what one node did."""
        for node, change in update.items():
            if node.startswith("__"):
                continue
            self.progress.saw(node, change)
        self.view.changed()

    def config(self) -> RunnableConfig:
        """Thread, user, label and a backstop that a step limit always reaches first."""
        return {
            "configurable": {"thread_id": self.thread, **({"user_id": name} if (name := user()) else {})},
            "metadata": label(self.first_question, self.settings),
            "recursion_limit": self.settings.recursion_limit,
        }

    def state(self) -> StateSnapshot:
        """What the thread remembers."""
        return self.graph.get_state({"configurable": {"thread_id": self.thread}})

    def outcome(self) -> dict[str, Any]:
        """The typed result, of an unfinished run too."""
        state = self.state()
        values: Any = state.values
        question = state.interrupts[0].value if state.interrupts else None
        if question is None and not state.tasks:
            ended = {name: values[name] for name in ("status", "reason", "answer", "steps", "tokens")}
        elif "run" in values:
            reason = question["message"] if question else "The run was interrupted."
            ended = dict(result(values, "waiting" if question else "running", reason, None))
        else:
            ended = {"status": "running", "reason": "The run was interrupted.", "answer": None, "steps": []}
            ended["tokens"] = {"input": 0, "output": 0, "total": 0}
        waiting = (
            {"question": question, **({"approval": id} if (id := self.approval(state)) else {})} if question else {}
        )
        return {**ended, "thread": self.thread, **waiting}

    def approval(self, state: StateSnapshot) -> str | None:
        """The short id of the call that the thread asks about."""
        row = asked_about(self.records, self.thread, state.interrupts[0].id) if state.interrupts else None
        return short_id(row["call_uid"]) if row else None

    def catch_up(self) -> None:
        """Show what was done before."""
        self.view.start()
        self.view.stop()

    def stopping(self) -> None:
        """The first Ctrl-C."""
        self.say("Stopping after this step. Ctrl-C again stops at once.")

    def leaving(self) -> None:
        """The second Ctrl-C."""
        self.view.stop()
        self.say(f"Stopped at once; {self.how_to_resume()}")

    def how_to_decide(self, approval: str) -> str:
        """What to type where a call waits for a person."""
        return (
            f"decide with: reasonact approvals approve {approval} (or reject, edit, respond; first read: show "
            f"{approval}), then reasonact resume {self.thread}; or both at once: "
            f"reasonact resume {self.thread} --answer approve"
        )

    def how_to_resume(self) -> str:
        """What to type."""
        return f"go on with: reasonact resume {self.thread}"
