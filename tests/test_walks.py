"""The table of walks: what the model says and people answer, the road it takes, and how it ends.

Letters: b begin, T think, g guard, A act, ? approve, o observe, F finish, H halt.
"""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import pytest
from langchain_core.messages import AIMessage, ToolMessage

from nodes.limits import Limits
from tests.walking import Walked, World, calls, look, short, walk

FREE = Limits(tool_calls=0)
PAY = calls(("pay", {"amount": 5}))
BROKEN = AIMessage("Thought: I should think more.")


class Walk(NamedTuple):
    replies: list[Any]
    path: str
    status: str
    answer: str | None = None
    effects: list[str] = []
    answers: list[Any] = []
    limits: Limits = Limits()
    built: dict[str, Any] = {}


def many(*names: str) -> list[AIMessage]:
    return [look(name) for name in names]


WALKS: dict[str, Walk] = {
    # finish
    "answers at once": Walk(["Paris"], "bTgF", "finished", "Paris"),
    "one tool, then the answer": Walk([look("a"), "A"], "bTgAoTgF", "finished", "A", ["look a"]),
    "two tools in one turn": Walk(
        [calls(("look", {"what": "a"}), ("look", {"what": "b"})), "AB"], "bTgAAoTgF", "finished", "AB", ["look a", "look b"]
    ),
    "a tool that fails is an observation": Walk(
        [calls(("flaky", {"what": "x"})), "no"], "bTgAoTgF", "finished", "no", ["flaky x"]
    ),
    "the result of a tool is the answer": Walk(
        [calls(("oracle", {"what": "life"}))], "bTgAoTgF", "finished", "the answer to life", ["oracle life"]
    ),
    "a failed result is no answer": Walk(
        [calls(("oracle", {"what": "fail"})), "it is silent"], "bTgAoTgF", "finished", "it is silent", ["oracle fail"]
    ),
    # correct
    "an unreadable reply is mended": Walk([BROKEN, "A"], "bTgoTgF", "finished", "A"),
    "an unknown tool is mended": Walk([calls(("loook", {"what": "a"})), "A"], "bTgoTgF", "finished", "A"),
    "wrong arguments are mended": Walk([calls(("look", {"where": "a"})), "A"], "bTgoTgF", "finished", "A"),
    "one good call runs beside a broken one": Walk(
        [calls(("look", {"what": "a"}), ("loook", {"what": "b"})), "A"], "bTgAoTgF", "finished", "A", ["look a"]
    ),
    "a tool before an answer": Walk(
        ["guess", look("a"), "A"], "bTgoTgAoTgF", "finished", "A", ["look a"], limits=Limits(require_tool=True)
    ),
    "an answer must cite": Walk(
        [look("a"), "A", "A [7]", "A [1]"], "bTgAoTgoTgoTgF", "finished", "A [1]", ["look a"],
        limits=Limits(require_citation=True),
    ),
    "too many calls in one turn": Walk(
        [calls(*[("look", {"what": str(i)}) for i in range(3)]), "A"], "bTgAAoTgF", "finished", "A", ["look 0", "look 1"],
        limits=Limits(parallel=2),
    ),
    # stop
    "three unreadable replies in a row": Walk([BROKEN] * 3, "bTgoTgoTgH", "unreadable"),
    "five unreadable replies in all": Walk(
        [BROKEN, look("a"), BROKEN, look("b"), BROKEN, look("c"), BROKEN, look("d"), BROKEN],
        "bTgoTgAoTgoTgAoTgoTgAoTgoTgAoTgH", "unreadable", None, [f"look {x}" for x in "abcd"],
    ),
    "the step limit": Walk(
        many("a", "b", "c"), "bTgAoTgAoTgAoTgH", "step_limit", None, ["look a", "look b", "look c"], limits=Limits(steps=3)
    ),
    "the same call three times": Walk(many("a", "a", "a"), "bTgAoTgAoTgAoTgH", "loop", None, ["look a"] * 3),
    "the same call in disguise": Walk(
        many("A b", "a  b", "\uff41 b\u200b"), "bTgAoTgAoTgAoTgH", "loop", None, ["look A b", "look a  b", "look \uff41 b\u200b"],
        built={"world": World(answers=dict.fromkeys(("A b", "a  b", "\uff41 b\u200b"), "x"))},
    ),
    "a then b then a then b": Walk(
        many(*"ababab"), "b" + "TgAo" * 6 + "TgH", "loop", None, [f"look {x}" for x in "ababab"]
    ),
    "a longer cycle": Walk(
        many(*"abc" * 3), "b" + "TgAo" * 9 + "TgH", "loop", None, [f"look {x}" for x in "abc" * 3], limits=Limits(steps=20)
    ),
    "calls that hardly differ and learn nothing": Walk(
        many(*[f"population of the town in 200{n}" for n in "123456"]),
        "b" + "TgAo" * 6 + "TgH", "loop", None, [f"look population of the town in 200{n}" for n in "123456"],
        built={"world": World(answers={f"population of the town in 200{n}": "nothing" for n in "123456"})},
    ),
    "one tool too often": Walk(
        [look(x) for x in "abc"], "bTgAoTgAoTgH", "tool_limit", None, ["look a", "look b"], limits=Limits(tool_calls=2)
    ),
    "a tool's own cap": Walk(
        [calls(("note", {"text": x})) for x in "abc"], "bTgAoTgAoTgH", "tool_limit", None, ["note a", "note b"],
        built={"approve": "none"},
    ),
    "the token budget": Walk(
        [calls(("look", {"what": x}), tokens=4000) for x in "ab"], "bTgAoTgAoTgH", "token_budget", None,
        ["look a", "look b"], limits=Limits(tokens=10_000),
    ),
    "a model that cannot be called": Walk([RuntimeError("key sk-secret")], "bTgH", "failed"),
    # no stop on progress
    "a repeated call that learns something": Walk(
        [*many("next", "next", "next", "next"), "A"], "b" + "TgAo" * 4 + "TgF", "finished", "A", ["look next"] * 4,
        built={"world": World(answers={"next": ["1", "2", "3", "4"]})},
    ),
    "a tool that may be asked again": Walk(
        [*[calls(("poll", {}))] * 5, "A"], "b" + "TgAo" * 5 + "TgF", "finished", "A", ["poll"] * 5
    ),
    # at a limit
    "the best answer so far": Walk(
        [look("a"), "perhaps A"], "bTgAoTgHTgH", "step_limit", "perhaps A", ["look a"],
        limits=Limits(steps=1, on_limit="answer"),
    ),
    "no answer in the last call either": Walk(
        [look("a"), look("b")], "bTgAoTgHTgH", "step_limit", None, ["look a"], limits=Limits(steps=1, on_limit="answer")
    ),
    "a person extends": Walk(
        [look("a"), "A"], "bTgAoTgHTgF", "finished", "A", ["look a"], ["extend"], Limits(steps=1, on_limit="ask")
    ),
    "a person hints": Walk(
        [look("a"), "B"], "bTgAoTgHTgF", "finished", "B", ["look a"], [{"type": "hint", "message": "it is B"}],
        Limits(steps=1, on_limit="ask"),
    ),
    "a person answers": Walk(
        [look("a")], "bTgAoTgH", "finished", "42", ["look a"], ["what?", {"type": "answer", "message": "42"}],
        Limits(steps=1, on_limit="ask"),
    ),
    "a person aborts": Walk([look("a")], "bTgAoTgH", "aborted", None, ["look a"], ["abort"], Limits(steps=1, on_limit="ask")),
    # approve
    "approved": Walk([PAY, "paid"], "bTg?A?oTgF", "finished", "paid", ["pay 5"], ["approve"]),
    "rejected": Walk(
        [PAY, "not paid"], "bTg?oTgF", "finished", "not paid", [], [{"decisions": [{"type": "reject", "message": "no"}]}]
    ),
    "edited": Walk(
        [PAY, "paid"], "bTg?A?oTgF", "finished", "paid", ["pay 3"],
        [{"type": "edit", "edited_action": {"name": "pay", "args": {"amount": "3"}}}],
    ),
    "responded": Walk([PAY, "ok"], "bTg?oTgF", "finished", "ok", [], [{"type": "respond", "message": "already paid"}]),
    "asked again until it is clear": Walk(
        [PAY, "paid"], "bTg????A?oTgF", "finished", "paid", ["pay 5"],
        ["sure, why not", {"type": "edit", "edited_action": {"name": "look", "args": {}}}, {"decisions": []}, "yes"],
    ),
    "two risky calls and a harmless one": Walk(
        [calls(("pay", {"amount": 1}), ("look", {"what": "a"}), ("pay", {"amount": 2})), "done"],
        "bTgA?A?oTgF", "finished", "done", ["look a", "pay 1"], ["yes", "no"],
    ),
    "a rejected call is not asked again, and ends the run": Walk(
        [PAY, PAY, PAY], "bTg?oTgoTgH", "rejected", None, [], ["reject"]
    ),
    "a tool nobody declared": Walk(
        [calls(("unknown", {"x": "1"})), "A"], "bTg?A?oTgF", "finished", "A", ["unknown 1"], ["y"]
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WALKS)
@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
def test_walk(name: str, asynchronous: bool) -> None:
    wanted = WALKS[name]
    built = copy.deepcopy(wanted.built)
    walked = walk(wanted.replies, wanted.answers, wanted.limits, asynchronous=asynchronous, **built)
    state = walked.state
    assert (state["status"], state["answer"]) == (wanted.status, wanted.answer), state["reason"]
    assert sorted(walked.world.effects) == sorted(wanted.effects)
    assert short(walked.path) == wanted.path
    check_result(walked)


def check_result(walked: Walked) -> None:
    """What holds for every run, however it ends."""
    state = walked.state
    open_calls: list[str] = []
    for message in state["messages"]:
        if isinstance(message, ToolMessage):
            assert message.tool_call_id == open_calls.pop(0), "an observation for each call, in call order"
        else:
            assert not open_calls, "no call without an observation"
            open_calls = [str(call["id"]) for call in getattr(message, "tool_calls", [])]
    ids = [message.id for message in state["messages"]]
    assert len(ids) == len(set(ids)) and None not in ids
    assert state["reason"].endswith((".", "answer")) and state["reason"]
    assert [step["number"] for step in state["steps"]] == sorted(step["number"] for step in state["steps"])
    assert len(state["steps"]) == state["run"]["step"]
    assert state["tokens"]["total"] == state["tokens"]["input"] + state["tokens"]["output"]
    if state["status"] != "finished":
        assert "Stopped" in state["messages"][-1].text


def test_every_drawn_edge_is_walked() -> None:
    from graphs.react import graph

    walked: set[tuple[str, str]] = set()
    names = {letter: name for name, letter in zip(
        ("begin", "think", "guard", "act", "approve", "observe", "finish", "halt"), "bTgA?oFH", strict=True)}  # fmt: skip
    for walk_ in WALKS.values():
        path = [names[letter] for letter in walk_.path]
        walked |= set(zip(path, path[1:], strict=False))
    drawn = {(edge.source, edge.target) for edge in graph.get_graph().edges if "__" not in edge.source + edge.target}
    assert drawn - walked == set()
