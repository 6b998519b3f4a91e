"""What `ask` and `resume` do: find the thread, set the agent up, run it, say how it ended."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from langgraph.types import Command, StateSnapshot
from rich.console import Console

from graphs.fenced import Fenced
from graphs.react import build
from graphs.resuming import is_open
from nodes.answers import UnclearAnswer
from nodes.limits import LimitsError
from nodes.models import ModelError, find_model
from reasonact.ask_person import Left, Person, read_words
from reasonact.editing import NotEdited
from reasonact.endings import Broken, ExitCode, Refused
from reasonact.equipment import policy_of, toolbox_of, with_policy
from reasonact.home import at_work, saver, thread_id
from reasonact.keyboard import interactive
from reasonact.progress import Progress
from reasonact.questions import standing
from reasonact.report import Report, say
from reasonact.runner import Runner
from reasonact.settings import Settings, limits_of, read_label
from reasonact.threads import open_thread, state_of, status_of
from reasonact.view import view_of
from tools.toolbox import Toolbox


@dataclass
class Session:
    """One command that runs the agent."""

    quiet: bool
    json: bool

    def __post_init__(self) -> None:
        self.console = Console(stderr=True, highlight=False)

    def ask(self, question: str, settings: Settings, thread: str | None) -> ExitCode:
        """Begin a run with a question.

        Raises:
            Refused: there is no question or no model, or the thread is in the middle of another run.
        """
        if not question.strip():
            raise Refused('there is no question: reasonact ask "…"')
        thread = thread_id(thread) if thread is not None else secrets.token_hex(4)
        with saver() as store:
            toolbox = toolbox_of(store)
            graph = self.agent(settings := with_policy(settings), store, toolbox)
            first = question.strip()
            with at_work(store, thread):
                state = state_of(graph, thread)
            if state is not None:
                if is_open(state):
                    raise Refused(f"thread {thread} is {status_of(state)}: go on with reasonact resume {thread}")
                first = read_label(state.metadata)[0] or first
            runner = self.runner(graph, thread, settings, first, store, toolbox)
            return self.finish(runner, {"messages": [("user", question)]})

    def resume(self, thread: str | None, answer: str | None) -> ExitCode:
        """Go on with a run.

        Raises:
            Refused: there is nothing to go on with, or the answer does not fit the open question.
        """
        with saver() as store:
            toolbox = toolbox_of(store)
            reader = build(tools=toolbox.values(), checkpointer=store)
            thread = thread_id(thread) if thread is not None else open_thread(store, reader)
            if thread is None:
                raise Refused("no thread waits for you or is unfinished")
            with at_work(store, thread):
                state = self.unfinished(reader, thread)
            first, settings = read_label(state.metadata)
            runner = self.runner(self.agent(settings, store, toolbox), thread, settings, first, store, toolbox)
            task = self.first_task(state, answer, runner, toolbox)
            runner.progress.recall(state.values)
            if task is None and state.interrupts and not runner.decided(state.interrupts[0]):
                runner.catch_up()
                task = runner.asked(state.interrupts[0])
                if task is None:
                    return Report(self.json, self.quiet).tell(runner)
            return self.finish(runner, task)

    def unfinished(self, graph: Any, thread: str) -> StateSnapshot:
        """The state of a thread that can go on.

        Raises:
            Refused: there is no such thread, or it is finished.
        """
        state = state_of(graph, thread)
        if state is None:
            raise Refused(f"there is no thread {thread}: see reasonact threads")
        if not is_open(state):
            raise Refused(
                f"thread {thread} is finished ({status_of(state)}), nothing was run: "
                f'ask on with reasonact ask --thread {thread} "…"'
            )
        return state

    def first_task(
        self, state: StateSnapshot, answer: str | None, runner: Runner, toolbox: Toolbox
    ) -> Command[Any] | None:
        """The answer given on the command line.

        Raises:
            Refused: there is no question, it is decided already, or the answer does not fit it.
        """
        if answer is None:
            return None
        if not state.interrupts:
            raise Refused("there is no open question to answer: resume without --answer")
        question = state.interrupts[0]
        if row := runner.decided(question):
            raise Refused(f"the answer was not used: {standing(row)}; resume without --answer")
        try:
            return Command(resume={question.id: read_words(answer, question.value, toolbox)})
        except (UnclearAnswer, NotEdited) as unclear:
            raise Refused(f"the answer was not used: {unclear}") from unclear

    def agent(self, settings: Settings, store: Fenced, toolbox: Toolbox) -> Any:
        """The graph for these settings; a model is found before anything is stored.

        Raises:
            Refused: there is no such model, or a limit or a policy that cannot be obeyed.
        """
        policy = policy_of(settings, toolbox)
        try:
            return build(
                [find_model(name) for name in settings.model or (None,)],
                toolbox.values(),
                dialect=settings.dialect,  # type: ignore[arg-type]
                limits=limits_of(settings),
                approve=policy,
                checkpointer=store,
            )
        except (ModelError, LimitsError) as error:
            raise Refused(str(error)) from error

    def runner(
        self, graph: Any, thread: str, settings: Settings, first_question: str, store: Fenced, toolbox: Toolbox
    ) -> Runner:
        """The driver with the view that fits the terminal."""
        progress = Progress()
        view = view_of(progress, self.console, self.quiet or self.json)
        answerer = partial(self.answer, Person(self.console, toolbox))
        return Runner(graph, thread, settings, first_question, progress, view, answerer, say, store.records)

    def answer(self, person: Person, question: Mapping[str, Any]) -> Any:
        """Ask whoever is there; None if nobody is, or they want to answer later."""
        if not interactive():
            return None
        try:
            return person.answer(question)
        except Left:
            return None

    def finish(self, runner: Runner, task: Any) -> ExitCode:
        """Run and say how it ended."""
        try:
            runner.go(task)
        except Broken as broken:
            say(f"reasonact: {broken}")
            return ExitCode.FAILED
        return Report(self.json, self.quiet).tell(runner)
