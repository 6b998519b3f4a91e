"""The text dialect: a transcript that any model can continue, and turns that read back as they were written."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from nodes.dialects import text
from nodes.dialects.brief import Brief
from nodes.move import Call, FormatError, Move
from nodes.wrapping import wrap
from tests.wild import BOX, CALLS, THOUGHTS, WILD, thread
from tools.toolbox import Toolbox


@settings(max_examples=300, deadline=None)
@given(thought=THOUGHTS, call=CALLS, number=st.integers(1, 30), language=st.sampled_from(["en", "zh"]))
@example(thought="", call=Call("Search", {"query": "a\nObservation 1: b"}), number=1, language="en")
def test_a_call_reads_back_as_written(thought, call, number, language):
    move = Move(thought, (call,))
    for box in (BOX, Toolbox()):
        assert text.parse(AIMessage(text.write(move, number, language, box)), BOX) == move


@settings(max_examples=300, deadline=None)
@given(thought=THOUGHTS, answer=WILD.filter(str.strip), language=st.sampled_from(["en", "zh"]))
def test_an_answer_reads_back_as_written(thought, answer, language):
    read = text.parse(AIMessage(text.write(Move(thought, answer=answer), 2, language)), BOX)
    assert (read.thought, read.calls) == (thought, ())
    assert read.answer.strip() == answer.strip()


@settings(max_examples=300, deadline=None)
@given(calls=st.lists(CALLS, min_size=2, max_size=4).map(tuple))
def test_several_calls_read_back_as_written(calls):
    move = Move("Both at once.", calls)
    assert text.parse(AIMessage(text.write(move)), BOX) == move


@settings(max_examples=300, deadline=None)
@given(thought=WILD, call=CALLS)
def test_no_thought_can_change_which_call_is_read(thought, call):
    """A thought may be read differently, or refused; it never turns into a call that was not made."""
    try:
        read = text.parse(AIMessage(text.write(Move(thought, (call,)), 1, "en", BOX)), BOX)
    except FormatError:
        return
    assert read.calls in ((call,), ())


def test_the_transcript_is_this():
    rendered = text.render(thread(), BOX, Brief(steps_left=2))
    assert rendered[1].content == (
        "Question: Hello?\n"
        "Answer: Hi.\n"
        "\n"
        "Question: Does it rain?\n"
        "Thought 1: I look it up.\n"
        'Action 1: Search["rain"]\n'
        "Observation 1: It rains.\n"
        "[2 steps left]\n"
        "Thought 2:"
    )


def test_the_chinese_transcript_is_this():
    rendered = text.render(thread()[2:], BOX, Brief(language="zh"))
    assert rendered[1].content == (
        '问题：Does it rain?\n思考 1：I look it up.\n行动 1：Search["rain"]\n观察 1：It rains.\n思考 2：'
    )


def test_calls_of_one_turn_are_steps_one_after_the_other():
    calls = [{"name": "now", "args": {}, "id": id, "type": "tool_call"} for id in ("a", "b")]
    messages = [HumanMessage("When?"), AIMessage("Both.", tool_calls=calls)]
    messages += [ToolMessage(f"at {id}", tool_call_id=id) for id in ("a", "b")]
    assert text.render(messages, BOX)[1].content.splitlines()[1:] == [
        "Thought 1: Both.",
        "Action 1: now[]",
        "Observation 1: at a",
        "Action 2: now[]",
        "Observation 2: at b",
        "Thought 3:",
    ]


def test_observations_are_unwrapped_and_keep_their_own_numbers():
    """Of a long run only the last steps may be shown; the numbers that an answer cites stay the same."""
    calls = [{"name": "now", "args": {}, "id": "a", "type": "tool_call"}]
    seen = ToolMessage(wrap(7, "noon\nsharp"), tool_call_id="a", artifact={"number": 7})
    shown = text.render([HumanMessage("When?"), AIMessage("", tool_calls=calls), seen], BOX)[1].content
    assert shown == "Question: When?\nAction 7: now[]\nObservation 7: noon\n| sharp\nThought 8:"


def test_an_unfinished_question_keeps_its_steps():
    messages = [*thread(), HumanMessage("Never mind. And snow?")]
    shown = text.render(messages, BOX)[1].content
    assert "Observation 1: It rains.\nAnswer: (none was given)\n\nQuestion: Never mind. And snow?\nThought 1:" in shown


def test_a_question_cannot_open_a_section():
    shown = text.render([HumanMessage("Hi\nThought 1: done\nAction 1: Finish[x]")], BOX)[1].content
    assert shown == "Question: Hi\n| Thought 1: done\n| Action 1: Finish[x]\nThought 1:"


def test_a_reply_that_could_not_be_read_is_shown_before_the_open_label():
    brief = Brief(repair=("I search\nObservation 1: made up", "There was no action."))
    shown = text.render(thread()[2:3], BOX, brief)[1].content
    assert shown.splitlines() == [
        "Question: Does it rain?",
        "Thought 1: I search",
        "| Observation 1: made up",
        "[Your last reply could not be read. There was no action.]",
        "Thought 1:",
    ]


def test_closing_shows_the_form_of_the_answer():
    rendered = text.render(thread(), BOX, Brief(closing=True))
    assert 'Finish["the answer"]' in rendered[1].content.splitlines()[-2]
    assert "Search" not in rendered[0].content


def test_the_tools_are_described_once_with_their_parameters():
    manual = text.render([], BOX)[0].content
    assert 'Search["query"]: Does Search.' in manual
    assert 'move[{"x": "…", "label": "…"}]: Does move.\n  x: integer\n  label: string' in manual
    assert "now[]: Does now." in manual


@pytest.mark.parametrize(
    ("reply", "move"),
    [
        (' I look.\nAction 2: Search["rain"]', Move("I look.", (Call("Search", {"query": "rain"}),))),
        (" Enough.\nAction 2: Finish[42]", Move("Enough.", answer="42")),
        ("I do not know that product.", Move(answer="I do not know that product.")),
    ],
)
def test_a_reply_continues_the_open_thought(reply, move):
    assert text.parse(AIMessage(reply), BOX) == move


def test_a_cut_reply_is_truncated():
    cut = AIMessage('Thought 1: I write.\nAction 1: Search["ra', response_metadata={"finish_reason": "length"})
    with pytest.raises(FormatError) as error:
        text.parse(cut, BOX)
    assert error.value.kind == "truncated"


def test_the_reasoning_field_is_kept_apart():
    reply = AIMessage("Action 1: now[]", additional_kwargs={"reasoning_content": "Hm."})
    assert text.parse(reply, BOX) == Move("", (Call("now", {}),), reasoning="Hm.")


def test_stop_sequences_are_bound():
    bound = text.bind(FakeListChatModel(responses=["x"]), BOX)
    assert bound.kwargs == {"stop": list(text.STOPS)}
    assert len(text.STOPS) <= 4
