"""Whatever is done in whatever order, nothing runs without its approval, and one approval is one effect.

REASONACT_EXAMPLES is how many sequences are tried on each database.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from langchain_core.messages import AIMessage
from langgraph.errors import InvalidUpdateError
from langgraph.types import Command, Send

from graphs.react import build
from graphs.resuming import NothingToResume
from graphs.saver import open_saver
from nodes.audit import Audit
from nodes.calls import Calls
from nodes.decisions import Decisions
from nodes.limits import Limits
from nodes.order import orders
from nodes.runs import Runs
from nodes.scripted import ScriptedModel
from nodes.thoughts import Thoughts
from tests.invariants import KEY, Effect, check, watched
from tools.tool import Tool, tool

EXAMPLES = int(os.environ.get("REASONACT_EXAMPLES", "100"))
STEPS = 12
SHRINK = os.environ.get("REASONACT_SHRINK") == "1"
"""A failing sequence is long: making it short takes minutes, and is done where it is asked for."""
CANARY = "canary-51c0ffee"
LIMITS = Limits(steps=0, tool_calls=0, tool_writes=0, repeats=0, near_duplicates=0, cycle_period=0, tokens=0, rate=0)


class Died(BaseException):
    """The process ended here."""


@tool(effect="read")
def look(what: str) -> str:
    """Look something up."""
    return f"found {what}"


@tool(effect="write")
def note(text: str) -> str:
    """Note."""
    return f"noted {text}"


@tool(effect="irreversible")
def pay(amount: int) -> str:
    """Pay."""
    return f"paid {amount}"


TOOLS: list[Tool] = [look, note, pay]

one_call = st.one_of(
    st.builds(lambda amount: ("pay", {"amount": amount}), st.integers(1, 3)),
    st.builds(lambda text: ("note", {"text": text}), st.sampled_from("ab")),
    st.builds(lambda what: ("look", {"what": what}), st.sampled_from("xy")),
)
turns = st.lists(st.lists(one_call, min_size=1, max_size=3), min_size=1, max_size=2)
JUNK = [{}, {"decisions": []}, "aprove", "", 0, 1, [], [None], {"type": "approve", "sha256": "0"}, {"approved": "yes"},
        {"type": "edit", "args": {"amount": "much"}}, {"type": "edit", "edited_action": {"name": "look", "args": {}}},
        {"type": "approve", "always": "yes"}, {"type": "respond"}, {"decisions": ["approve", "approve"]}]  # fmt: skip
ANSWERS = st.sampled_from(["approve", "reject", {"type": "respond", "message": "so be it"}, "always", "hm"])
CRASHED = st.sampled_from(["approve", "approve", "approve", "always", "reject"])
OFTEN = st.sampled_from([True, True, False])
PLACES: list[tuple[type, str]] = [
    (Calls, "start"), (Calls, "finish"), (Decisions, "ask"), (Decisions, "decide"), (Decisions, "refuse"),
    (Thoughts, "record"), (Runs, "begin"), (Runs, "end"),
]  # fmt: skip


class Machine(RuleBasedStateMachine):
    """One thread of one database, and everything that can be done to it."""

    new_database: Callable[[], str]

    def __init__(self) -> None:
        super().__init__()
        self.url = type(self).new_database()
        self.effects: list[Effect] = []
        self.tools = watched(TOOLS, self.effects)
        self.plans: list[AIMessage] = []
        self.config: Any = {"configurable": {"thread_id": "t", "user_id": "ann"}}
        self.forks: set[str] = set()
        self.open_files = ExitStack()
        self.start()

    def start(self) -> None:
        """A process begins: nothing of an earlier one is left but the database."""
        self.open_files.close()
        self.saver = self.open_files.enter_context(open_saver(self.url, audit=Audit(KEY)))
        plans = self.plans

        class Proposer(ScriptedModel):
            """Says what is planned, then that it is done."""

            def _generate(self, messages: list[Any], *rest: Any, **named: Any) -> Any:
                return ScriptedModel([plans.pop(0) if plans else "done"])._generate(messages)

        self.agent = build(Proposer(), self.tools, checkpointer=self.saver, limits=LIMITS, prompt=f"Hide {CANARY}")

    def teardown(self) -> None:
        self.open_files.close()

    # What is known

    @property
    def state(self) -> Any:
        return self.agent.get_state(self.config)

    def is_open(self) -> bool:
        return bool(self.state.interrupts)

    def is_broken(self) -> bool:
        return any(not task.interrupts for task in self.state.tasks)

    def has_begun(self) -> bool:
        return bool(self.state.created_at)

    def old(self, place: int) -> Any:
        """Some checkpoint of the thread."""
        history = list(self.agent.get_state_history(self.config))
        return history[place % len(history)]

    def do(self, step: Any, config: Any = None) -> None:
        if config is not None:
            self.forks.add(config["configurable"]["checkpoint_id"])
        self.agent.invoke(step, config or self.config)

    def answer(self, answer: Any, named: bool) -> None:
        self.do(Command(resume={self.state.interrupts[0].id: answer} if named else answer))

    # What people do

    @rule(plan=turns, same_ids=st.booleans())
    def question(self, plan: Any, same_ids: bool) -> None:
        """A new message, also while a question is open or after a crash."""
        self.plans[:] = [
            AIMessage(
                "I need tools.",
                tool_calls=[
                    {"name": name, "args": args, "id": "c" if same_ids else f"c{place}", "type": "tool_call"}
                    for place, (name, args) in enumerate(turn)
                ],
            )
            for turn in plan
        ]
        self.do({"messages": [("user", f"q{len(self.effects)}")]})

    @precondition(is_open)
    @rule(word=st.sampled_from(["approve", "yes", True, {"decisions": [{"type": "approve"}]}]), named=st.booleans())
    def approve(self, word: Any, named: bool) -> None:
        self.answer(word, named)

    @precondition(is_open)
    @rule(named=st.booleans())
    def approve_always(self, named: bool) -> None:
        self.answer("always", named)

    @precondition(is_open)
    @rule(named=st.booleans(), new=st.sampled_from([7, 8, "9"]), with_hash=st.booleans())
    def edit(self, named: bool, new: Any, with_hash: bool) -> None:
        asked = self.state.interrupts[0].value
        (field,) = asked["args"]
        answer = {"type": "edit", "args": {field: new}, **({"sha256": asked["sha256"]} if with_hash else {})}
        self.answer(answer, named)

    @precondition(is_open)
    @rule(named=st.booleans(), why=st.sampled_from(["", "too dear"]))
    def reject(self, named: bool, why: str) -> None:
        self.answer({"type": "reject", "message": why}, named)

    @precondition(is_open)
    @rule(named=st.booleans())
    def respond(self, named: bool) -> None:
        self.answer({"type": "respond", "message": "so be it"}, named)

    @precondition(is_open)
    @rule(junk=st.sampled_from(JUNK), named=st.booleans())
    def junk(self, junk: Any, named: bool) -> None:
        before = len(self.effects)
        self.answer(junk, named)
        assert self.is_open() and len(self.effects) == before

    @precondition(is_open)
    @rule(answer=ANSWERS)
    def expire(self, answer: Any) -> None:
        before = self.ran_risky()
        with self.saver.records.database.transaction() as transaction:
            transaction.run("UPDATE tool_calls SET expires_at = asked_at - 1 WHERE status = 'awaiting'")
        self.answer(answer, named=True)
        if answer != "always" and not self.granted():
            assert self.ran_risky() == before

    @precondition(is_open)
    @rule()
    def approve_and_wait(self) -> None:
        """An approval that is used when it is too old."""
        before = self.ran_risky()
        self.agent.invoke(Command(resume="approve"), self.config, interrupt_before=["act"])
        assert self.ran_risky() == before
        with self.saver.records.database.transaction() as transaction:
            hour = "created_at - 3600, asked_at = asked_at - 3600, decided_at = decided_at - 3600"
            transaction.run(f"UPDATE tool_calls SET created_at = {hour} WHERE status = 'approved'")
        if self.is_broken():
            self.do(None)
        assert self.granted() or self.ran_risky() == before

    @precondition(lambda self: not self.is_open())
    @rule(answer=ANSWERS)
    def answer_nothing(self, answer: Any) -> None:
        """An answer where nothing is asked: refused, or on a thread that broke off no answer to what comes next."""
        before = self.ran_risky() if not self.has_begun() or not self.is_broken() else None
        with pytest.raises(NothingToResume) if before is not None else ExitStack():
            self.do(Command(resume=answer))
        assert before in (None, self.ran_risky())

    # What goes back in time

    @precondition(has_begun)
    @rule(place=st.integers(0, 40))
    def replay(self, place: int) -> None:
        self.do(None, self.old(place).config)

    @precondition(has_begun)
    @rule(place=st.integers(0, 40), answer=ANSWERS)
    def answer_of_old(self, place: int, answer: Any) -> None:
        old = self.old(place)
        try:
            self.do(Command(resume=answer), old.config)
        except NothingToResume:
            assert not old.tasks

    @precondition(has_begun)
    @rule(place=st.integers(0, 40), what=st.sampled_from(["args", "counters", "decision", "nothing"]))
    def fork(self, place: int, what: str) -> None:
        """Edit an old state and go on from it."""
        old = self.old(place)
        values = old.values
        last = (values.get("messages") or [None])[-1]
        if "turn" not in values or not isinstance(last, AIMessage) or not last.tool_calls or not old.next:
            return
        try:
            config = self.edit_state(old.config, what, values, last)
        except InvalidUpdateError as error:
            assert "Ambiguous" in str(error)
            return
        self.do(None, config)

    def edit_state(self, config: Any, what: str, values: Any, last: AIMessage) -> Any:
        if what == "args":
            (field,) = last.tool_calls[0]["args"]
            new = {field: 77 if field == "amount" else "77"}
            edited = [{**last.tool_calls[0], "args": new}, *last.tool_calls[1:]]
            return self.edited(config, {"messages": [last.model_copy(update={"tool_calls": edited})]})
        if what == "counters":
            return self.edited(config, {"run": {**values["run"], "refused": [], "tainted": [], "unknown": []}})
        if what == "decision":
            ids = [call["id"] for call in last.tool_calls]
            forged = {id: {"type": "approve", "call": "x", "always": True} for id in ids}
            turn = {**values["turn"], "decisions": forged, "dispatched": ids}
            return self.edited(config, {"turn": turn}, as_node="approve")
        return config

    def edited(self, config: Any, values: Any, **options: Any) -> Any:
        self.forks.add(config["configurable"]["checkpoint_id"])
        return self.agent.update_state(config, values, **options)

    @precondition(is_open)
    @rule(
        what=st.sampled_from(["node", "real", "args", "decision", "tool", "uid"]),
        place=st.integers(0, 2),
        answer=st.booleans(),
    )
    def goto(self, what: str, place: int, answer: bool) -> None:
        """Jump to where tools run, with an order made up or taken from the state, of the open call or another one."""
        before = self.ran_risky()
        values = self.state.values
        asked = values["messages"][-1].tool_calls
        call = asked[place % len(asked)]
        order: Any = orders(values, [call["id"]])[0]
        consent = {"type": "approve", "call": "x", "always": True}
        if what == "args":
            order = {**order, "args": {next(iter(call["args"])): 5}, "decision": consent}
        elif what == "decision":
            order = {**order, "decision": consent}
        elif what == "tool":
            order = {**order, "name": "pay" if order["name"] == "note" else "note", "decision": consent}
        elif what == "uid":
            order = {**order, "uid": f"{order['run_id']}/99/0/{uuid4().hex[:16]}", "decision": consent}
        target: Any = "act" if what == "node" else Send("act", order)
        self.do(Command(goto=target, **({"resume": "hm"} if answer else {})))
        assert self.ran_risky() == before

    # What breaks

    @precondition(is_open)
    @rule(
        place=st.sampled_from(PLACES),
        after=st.booleans(),
        count=st.integers(0, 2),
        answer=ANSWERS,
        resume=st.booleans(),
    )
    def crash_in_the_ledger(self, place: tuple[type, str], after: bool, count: int, answer: Any, resume: bool) -> None:
        with dying(*place, after=after, count=count):
            self.survive(lambda: self.answer(answer, named=True))
        self.start()
        if resume and self.is_broken():
            self.do(None)

    @precondition(is_open)
    @rule(place=st.sampled_from(["start", "finish"]), after=st.booleans(), resume=OFTEN)
    def crash_around_the_effect(self, place: str, after: bool, resume: bool) -> None:
        """Between intent and effect, or between effect and its record: the same call never starts a second time."""
        with dying(Calls, place, after=after, count=0):
            self.survive(lambda: self.answer("approve", named=True))
        self.start()
        if resume and self.is_broken():
            self.do(None)

    @precondition(is_open)
    @rule(
        method=st.sampled_from(["put", "put_writes"]), after=st.booleans(), count=st.integers(0, 5), answer=CRASHED,
        resume=OFTEN,
    )  # fmt: skip
    def crash_in_the_saver(self, method: str, after: bool, count: int, answer: Any, resume: bool) -> None:
        with dying(type(self.saver), method, after=after, count=count):
            self.survive(lambda: self.answer(answer, named=True))
        self.start()
        if resume and self.is_broken():
            self.do(None)

    @precondition(lambda self: self.has_begun() and self.is_broken())
    @rule()
    def resume(self) -> None:
        self.do(None)

    def survive(self, work: Callable[[], None]) -> None:
        with suppress(Died):
            work()

    # What must hold

    def ran_risky(self) -> int:
        return sum(effect.tool != "look" for effect in self.effects)

    def granted(self) -> bool:
        with self.saver.records.database.transaction() as transaction:
            return transaction.one("SELECT 1 AS one FROM grants LIMIT 1") is not None

    @invariant()
    def everything_holds(self) -> None:
        records = self.saver.records
        check(records, self.effects, agent=self.agent, config=self.config, canary=CANARY, forks=self.forks)


@contextmanager
def dying(owner: type, name: str, after: bool, count: int) -> Iterator[None]:
    """The process ends at the call with this number, before or after what it does; what comes later fails as well."""
    method = getattr(owner, name)
    calls = 0

    def die(self: Any, *given: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls <= count:
            return method(self, *given, **named)
        if after and calls == count + 1:
            method(self, *given, **named)
        raise Died

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, die)
        yield


def run(new_database: Callable[[], str]) -> None:
    """Try as many sequences as were asked for."""
    machine = type("Machine", (Machine,), {"new_database": staticmethod(new_database)})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            print_blob=True,
            phases=[phase for phase in Phase if SHRINK or phase not in (Phase.shrink, Phase.explain)],
        ),
    )


@pytest.mark.timeout(0)
def test_on_sqlite(tmp_path: Path) -> None:
    run(lambda: f"sqlite:///{tmp_path / uuid4().hex}.sqlite")


@pytest.mark.timeout(0)
def test_on_postgresql(postgres: Any) -> None:
    made: list[str] = []

    def new_database() -> str:
        if made:
            postgres.drop(made.pop())
        made.append(postgres.database())
        return made[-1]

    try:
        run(new_database)
    finally:
        for url in made:
            postgres.drop(url)
