"""What goes wrong with approvals, identity and shared state in public projects; each test names its case."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command, interrupt

from graphs.react import build
from graphs.resuming import NothingToResume
from graphs.saver import open_saver
from nodes.leases import ThreadBusy
from nodes.policy import Policy
from nodes.scripted import ScriptedModel
from tests.walking import World, calls
from tools.tool import tool

T: Any = {"configurable": {"thread_id": "t"}}
QUESTION = {"messages": [("user", "q")]}


def note(text: str) -> AIMessage:
    return calls(("note", {"text": text}))


def pay(amount: int) -> AIMessage:
    return calls(("pay", {"amount": amount}))


def agent(replies: list[Any], world: World, saver: Any = None, **built: Any) -> Any:
    return build(ScriptedModel(replies), world.tools, checkpointer=saver or InMemorySaver(), **built)


def observations(state: dict[str, Any]) -> list[str]:
    return [message.text for message in state["messages"] if isinstance(message, ToolMessage)]


def test_c181_what_stands_before_the_question_happens_once() -> None:
    world = World()
    made = agent([note("a"), "done"], world)
    made.invoke(QUESTION, T)
    for unclear in ("hm", {"type": "perhaps"}):
        made.invoke(Command(resume=unclear), T)
    assert made.invoke(Command(resume="approve"), T)["status"] == "finished"
    assert world.effects == ["note a"]


def test_c183_what_runs_is_what_was_approved() -> None:
    world, saver = World(), InMemorySaver()
    agent([note("reviewed")], world, saver).invoke(QUESTION, T)
    model = ScriptedModel(["done"])
    build(model, world.tools, checkpointer=saver).invoke(Command(resume="approve"), T)
    assert world.effects == ["note reviewed"] and len(model.requests) == 1


@pytest.mark.parametrize(
    "smuggled",
    [
        {"type": "accept", "args": {"action": "pay", "args": {"amount": 9}}},
        {"type": "approve", "edited_action": {"name": "pay", "args": {"amount": 9}}},
        {"type": "edit", "edited_action": {"name": "pay", "args": {"amount": 9}}},
    ],
)
def test_c184_an_answer_brings_no_other_action(smuggled: Any) -> None:
    world = World()
    made = agent([note("a"), "done"], world)
    made.invoke(QUESTION, T)
    made.invoke(Command(resume=smuggled), T)
    assert world.effects == [] and made.get_state(T).interrupts[0].value["error"]


@pytest.mark.parametrize("first", ["approve", "reject"])
def test_c185_two_calls_of_one_turn_are_decided_each(first: str) -> None:
    world = World()
    made = agent([calls(("note", {"text": "a"}), ("pay", {"amount": 1})), "done"], world)
    made.invoke(QUESTION, T)
    second = "reject" if first == "approve" else "approve"
    asked = []
    for answer in (first, second):
        (question,) = made.get_state(T).interrupts
        asked.append(question.value["name"])
        state = made.invoke(Command(resume={question.id: answer}), T)
    assert asked == ["note", "pay"]
    assert world.effects == (["note a"] if first == "approve" else ["pay 1"])
    assert len(observations(state)) == 2


def test_c187_c188_answers_for_what_is_not_open_name_what_is() -> None:
    made = agent([calls(("note", {"text": "a"}), ("pay", {"amount": 1})), "done"], World())
    made.invoke(QUESTION, T)
    (question,) = made.get_state(T).interrupts
    with pytest.raises(NothingToResume, match=question.id):
        made.invoke(Command(resume={"0" * 32: "approve"}), T)
    with pytest.raises(NothingToResume, match=question.id):
        made.invoke(Command(resume={question.id: "approve", "0" * 32: "approve"}), T)
    assert made.get_state(T).interrupts[0].id == question.id


def test_c190_one_result_a_call() -> None:
    made = agent([calls(("look", {"what": "a"}), ("note", {"text": "b"})), "done"], World())
    made.invoke(QUESTION, T)
    state = made.invoke(Command(resume="approve"), T)
    ids = [message.tool_call_id for message in state["messages"] if isinstance(message, ToolMessage)]
    assert len(ids) == len(set(ids)) == 2


def test_c191_c194_the_model_reads_what_became_of_its_call() -> None:
    world = World()
    made = agent([note("a"), note("b"), "done"], world)
    made.invoke(QUESTION, T)
    made.invoke(Command(resume={"type": "reject", "message": "wrong recipient"}), T)
    state = made.invoke(Command(resume={"type": "edit", "args": {"text": "c"}}), T)
    assert world.effects == ["note c"]
    rejected, edited = observations(state)
    assert "wrong recipient" in rejected and '"text": "c"' in edited and "a person changed the arguments" in edited


def test_c197_an_edit_that_does_not_fit_keeps_the_run_paused() -> None:
    world = World()
    made = agent([pay(1), "done"], world)
    made.invoke(QUESTION, T)
    for wrong in ({"amount": "much"}, {"amount": {"amount": 1}}, {"sum": 1}, {}):
        made.invoke(Command(resume={"type": "edit", "args": wrong}), T)
        assert made.get_state(T).interrupts[0].value["error"]
    made.invoke(Command(resume=[{"type": "edit", "args": {"action": "pay", "args": {"amount": "2"}}}]), T)
    assert world.effects == ["pay 2"]


def test_c198_the_second_question_of_a_thread_can_be_answered() -> None:
    world = World()
    made = agent([note("a"), "one", note("b"), "two"], world)
    for text in ("one", "two"):
        made.invoke(QUESTION, T)
        assert made.invoke(Command(resume="approve"), T)["answer"] == text
    assert world.effects == ["note a", "note b"]


def test_c200_c201_an_answer_without_a_question_is_refused() -> None:
    world = World()
    made = agent([note("a"), "done"], world)
    with pytest.raises(NothingToResume, match="does not exist"):
        made.invoke(Command(resume="approve"), T)
    made.invoke(QUESTION, T)
    with pytest.raises(NothingToResume, match="None"):
        made.invoke(Command(resume=None), T)
    made.invoke(Command(resume="approve"), T)
    for again in range(2):
        with pytest.raises(NothingToResume, match="finished"):
            made.invoke(Command(resume="approve"), T) if again else asyncio.run(
                made.ainvoke(Command(resume="approve"), T)
            )
    assert world.effects == ["note a"]


def test_c202_a_decision_stands_also_on_an_old_checkpoint() -> None:
    world = World()
    made = agent([note("a"), "done", "again"], world)
    made.invoke(QUESTION, T)
    old = made.get_state(T).config
    made.invoke(Command(resume=True), T)
    state = made.invoke(Command(resume=False), old)
    assert world.effects == ["note a"] and "noted a" in observations(state)[0]


def test_c203_nobody_is_asked_when_there_is_nothing_to_approve() -> None:
    made = agent(["Paris"], World())
    assert made.invoke(QUESTION, T)["answer"] == "Paris"


@pytest.mark.parametrize("wrapped", [False, True])
def test_c205_c206_a_pause_inside_a_tool_is_not_swallowed(wrapped: bool) -> None:
    ran: list[str] = []

    @tool(effect="irreversible")
    def send(body: str) -> str:
        """Send."""
        approved = interrupt("send it?")
        ran.append(f"{body} {approved}")
        return "sent"

    made = build(ScriptedModel([calls(("send", {"body": "x"})), "done"]), [send], checkpointer=InMemorySaver())
    made.invoke(QUESTION, T)
    made.invoke(Command(resume="approve"), T)
    assert ran == [] and made.get_state(T).interrupts[0].value == "send it?"
    step = Command(resume="yes")
    state = asyncio.run(made.ainvoke(step, T)) if wrapped else made.invoke(step, T)
    assert state["status"] == "finished" and ran == ["x yes"]


def test_c207_a_policy_that_fails_asks() -> None:
    def broken(_: Any) -> Any:
        raise ConnectionError("the policy store is down")

    world = World()
    made = agent([pay(1), "done"], world, approve=Policy(default="none", tools={"pay": broken}))
    made.invoke(QUESTION, T)
    assert world.effects == [] and "policy for this tool failed" in made.get_state(T).interrupts[0].value["why"]


def test_c209_another_process_goes_on_and_a_lost_memory_says_so(tmp_path: Path) -> None:
    world = World()
    for url in (f"sqlite:///{tmp_path}/a.sqlite", "memory"):
        with open_saver(url) as saver:
            agent([note(url), "done"], world, saver).invoke(QUESTION, T)
        with open_saver(url) as saver:
            made = agent(["done"], world, saver)
            if url == "memory":
                with pytest.raises(NothingToResume, match="does not exist"):
                    made.invoke(Command(resume="approve"), T)
            else:
                assert made.invoke(Command(resume="approve"), T)["status"] == "finished"
    assert len(world.effects) == 1


def test_c211_the_question_is_in_the_state() -> None:
    made = agent([pay(1)], World())
    made.invoke(QUESTION, T)
    (question,) = made.get_state(T).interrupts
    assert question.id and question.value["args"] == {"amount": 1} and question.value["sha256"]


def test_c224_the_prompt_is_not_kept(tmp_path: Path) -> None:
    with open_saver(f"sqlite:///{tmp_path}/a.sqlite") as saver:
        made = agent([f"answer {n}" for n in range(10)], World(), saver, prompt="CANARY-PROMPT " * 50)
        for _ in range(10):
            made.invoke(QUESTION, T)
        saver.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert b"CANARY-PROMPT" not in (tmp_path / "a.sqlite").read_bytes()


def test_c234_a_long_call_is_not_dispatched_again(tmp_path: Path) -> None:
    effects: list[str] = []
    running = threading.Event()

    @tool(effect="irreversible")
    def send(body: str) -> str:
        """Send."""
        running.set()
        time.sleep(1)
        effects.append(body)
        return "sent"

    with open_saver(f"sqlite:///{tmp_path}/a.sqlite") as saver, ThreadPoolExecutor(1) as pool:
        made = build(
            ScriptedModel([calls(("send", {"body": "x"})), "done"]), [send], approve="none", checkpointer=saver
        )
        first = pool.submit(made.invoke, QUESTION, T)
        running.wait(5)
        with pytest.raises(ThreadBusy):
            made.invoke(None, T)
        assert first.result()["status"] == "finished" and effects == ["x"]


def test_c246_our_savers_are_async_too_and_langgraphs_names_the_other_class(tmp_path: Path) -> None:
    async def run(saver: Any) -> Any:
        made = agent(["hello"], World(), saver)
        state = await made.ainvoke(QUESTION, T)
        assert (await made.aget_state(T)).values["answer"] == "hello"
        assert [found async for found in made.aget_state_history(T)]
        return state["answer"]

    for url in (f"sqlite:///{tmp_path}/a.sqlite", "memory"):
        with open_saver(url) as saver:
            assert asyncio.run(run(saver)) == "hello"
    with (
        SqliteSaver.from_conn_string(str(tmp_path / "b.sqlite")) as stock,
        pytest.raises(NotImplementedError, match="AsyncSqliteSaver"),
    ):
        asyncio.run(run(stock))


def test_c248_two_messages_at_once_are_one_run_and_one_refusal() -> None:
    world = World()
    barrier = threading.Barrier(2)
    slow = ScriptedModel(["one", "two"])
    made = build(
        slow, [*world.tools], checkpointer=InMemorySaver(), prompt=lambda state: (time.sleep(0.3), state["messages"])[1]
    )

    def send(text: str) -> str:
        barrier.wait()
        try:
            return str(made.invoke({"messages": [("user", text)]}, T)["answer"])
        except ThreadBusy:
            return "busy"

    with ThreadPoolExecutor(2) as pool:
        told = sorted(pool.map(send, ("a", "b")))
    assert told == ["busy", "one"]
    assert len([m for m in made.get_state(T).values["messages"] if m.type == "human"]) == 1


def test_c250_threads_share_nothing() -> None:
    world = World()

    class Echo(ScriptedModel):
        def _generate(self, messages: list[Any], *rest: Any, **named: Any) -> Any:
            self._requests.clear()
            return ScriptedModel([messages[-1].text])._generate(messages)

    made = build(Echo([]), world.tools, checkpointer=InMemorySaver())

    def ask(number: int) -> bool:
        config: Any = {"configurable": {"thread_id": f"t{number}"}}
        state = made.invoke({"messages": [("user", f"word-{number}")]}, config)
        words = {f"word-{n}" for n in range(20) if f"word-{n}" in " ".join(m.text for m in state["messages"]).split()}
        return words == {f"word-{number}"}

    with ThreadPoolExecutor(20) as pool:
        assert all(pool.map(ask, range(20)))


def test_c251_parallel_calls_do_not_collide() -> None:
    world = World()
    made = agent([calls(*[("look", {"what": str(n)}) for n in range(6)]), "done"], world)
    state = made.invoke(QUESTION, T)
    assert len(observations(state)) == 6 and len(world.effects) == 6


def test_c252_a_thread_of_an_older_shape_is_asked_again_and_goes_on() -> None:
    """A thread that paused before there was a ledger: its state lacks the new keys, and no row knows its call."""
    world = World()
    saver = InMemorySaver()
    made = agent([note("a"), "done"], world, saver)
    made.invoke(QUESTION, T)
    values = made.get_state(T).values
    old_run = {key: value for key, value in values["run"].items() if key not in ("tainted", "unknown")} | {"version": 1}
    old_turn = {key: value for key, value in values["turn"].items() if key != "basis"}
    made.update_state(T, {"run": old_run, "turn": old_turn}, as_node="guard")
    made.invoke(None, T)
    made.invoke(Command(resume="approve"), T)
    assert world.effects == ["note a"] and made.get_state(T).values["status"] == "finished"
