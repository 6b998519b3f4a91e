"""The reader of replies: every style, no surprises, in linear time."""

import re
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nodes.dialects import brackets
from nodes.dialects.reader import LONGEST, read
from nodes.move import FormatError, Move
from tests.replays import load
from tools.tool import Tool
from tools.toolbox import Toolbox

STRING, INTEGER = {"type": "string"}, {"type": "integer"}


def made(name, /, **properties):
    return Tool(name, "", None, {"type": "object", "properties": properties, "required": list(properties)})


BOX = Toolbox(
    [
        made("search", query=STRING),
        made("add", a=INTEGER, b=INTEGER),
        made("weather", city=STRING, days=INTEGER),
        made("now"),
    ]
)
SEARCH = [("search", {"query": "x"})]
ADD = [("add", {"a": 2, "b": 5})]
OSLO = [("weather", {"city": "Oslo", "days": 3})]


def calls(text, **facts):
    return [(call.name, call.args) for call in read(text, BOX, **facts).calls]


def kind(text, **facts):
    with pytest.raises(FormatError) as refused:
        read(text, BOX, **facts)
    assert refused.value.sentence
    return refused.value.kind


ONE_CALL = {
    "numbered": ('Thought 3: t\nAction 3: search["x"]', SEARCH),
    "unquoted": ("Action: search[x]", SEARCH),
    "parentheses": ('Action: search("x")', SEARCH),
    "keywords": ('Action: weather(city="Oslo", days=3)', OSLO),
    "positions": ('Action: weather("Oslo", 3)', OSLO),
    "positions unquoted": ("Action: weather[Oslo, 3]", OSLO),
    "object in brackets": ('Action: weather[{"city": "Oslo", "days": "3"}]', OSLO),
    "numbers in the input": ("Action: add\nAction Input: 2, 5", ADD),
    "list in the input": ("Action: add\nAction Input: [2, 5]", ADD),
    "keywords in the input": ("Action: add\nAction Input: a=2, b=5", ADD),
    "lines in the input": ("Action: add\nAction Input: a: 2\nb: 5", ADD),
    "words before the object": ('Action: add\nAction Input: Here: {"a": 2, "b": 5}', ADD),
    "one line": ('Action: search Action Input: {"query": "x"}', SEARCH),
    "object under the name": ('Action: search\n{"query": "x"}', SEARCH),
    "object after the name": ('Action: search {"query": "x"}', SEARCH),
    "object as the action": ('Action: {"name": "search", "arguments": {"query": "x"}}', SEARCH),
    "fenced object": ('Action:\n```json\n{"action": "search", "action_input": "x"}\n```', SEARCH),
    "all in a fence": ("```\nThought: t\nAction: search\nAction Input: x\n```", SEARCH),
    "empty line after the label": ("Action 3:\n\nsearch[x]", SEARCH),
    "headings": ("## Thought\nt\n## Action\nsearch\n## Action Input\nx", SEARCH),
    "bold": ("**Action:** search\n**Action Input:** x", SEARCH),
    "list items": ("- Action: search\n- Action Input: x", SEARCH),
    "quotation": ("> Action: search[x]", SEARCH),
    "capitals": ("ACTION: SEARCH\nACTION INPUT: x", SEARCH),
    "spaces before colons": ("Action : search\nAction Input : x", SEARCH),
    "windows lines": ("Action: search\r\nAction Input: x\r\n", SEARCH),
    "numbered input": ("Action 1: search\nAction 1 Input: x", SEARCH),
    "Chinese": ("思考1：t\n行动1：search\n行动输入1：x", SEARCH),
    "Chinese synonyms": ("想法：t\n动作：search\n动作输入：x", SEARCH),
    "Chinese parameters": ("行动：weather\n参数：{“city”：“Oslo”，“days”：3}", OSLO),
    "full-width brackets": ("行动：search［“x”］", SEARCH),
    "full-width parentheses": ("行动：search（“x”）", SEARCH),
    "lenticular brackets": ("行动：search【x】", SEARCH),
    "quoted name": ('Action: "search"\nAction Input: x', SEARCH),
    "bracketed name": ("Action: [search]\nAction Input: x", SEARCH),
    "name with parentheses": ("Action: search()\nAction Input: x", SEARCH),
    "name with a full stop": ("Action: search.\nAction Input: x", SEARCH),
    "signature copied": ('Action: search(query)\nAction Input: {"query": "x"}', SEARCH),
    "words after the bracket": ("Action: search[x] on the web", SEARCH),
    "observation on the line": ("Action: search[x] Observation: y", SEARCH),
    "unclosed": ("Action: search[x", SEARCH),
    "unclosed object": ('Action: search\nAction Input: {"query": "x"', SEARCH),
    "bare call": ('I look it up.\nsearch("x")', SEARCH),
    "bare object": ('I look it up.\n{"name": "search", "arguments": {"query": "x"}}', SEARCH),
    "closing tag alone": ("first this\n</think>\nAction: search[x]", SEARCH),
    "token at the end": ("Action: search\nAction Input: x</s>", SEARCH),
    "next turn invented": ("Action: search\nAction Input: x<|im_end|>\n<|im_start|>user\ny", SEARCH),
    "function tags": ("<function=search><parameter=query>\nx\n</parameter></function>", SEARCH),
    "function tag with JSON": ('<function=search>{"query": "x"}</function>', SEARCH),
    "invoke": ('<invoke name="search"><parameter name="query">x</parameter></invoke>', SEARCH),
    "named by a tag": ('<toolcall><name>search</name><arguments>{"query": "x"}</arguments></toolcall>', SEARCH),
    "argument tags": ("<tool_call>search\n<arg_key>query</arg_key>\n<arg_value>x</arg_value>\n</tool_call>", SEARCH),
    "python tag": ('<|python_tag|>{"name": "search", "parameters": {"query": "x"}}<|eom_id|>', SEARCH),
    "name before [ARGS]": ('[TOOL_CALLS]search[ARGS]{"query": "x"}', SEARCH),
    "token tags": ('<|tool_call|>[{"name": "search", "arguments": {"query": "x"}}]<|/tool_call|>', SEARCH),
    "section tokens": (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.search:0<|tool_call_argument_begin|>"
        '{"query": "x"}<|tool_call_end|><|tool_calls_section_end|>',
        SEARCH,
    ),
    "channels": (
        "<|channel|>analysis<|message|>look<|end|><|start|>assistant<|channel|>commentary to=functions.search "
        '<|constrain|>json<|message|>{"query": "x"}<|call|>',
        SEARCH,
    ),
    "result invented in tags": (
        '<tool_call>{"name": "search", "arguments": {"query": "x"}}</tool_call>\n<tool_response>y</tool_response>\n'
        '<tool_call>{"name": "now", "arguments": {}}</tool_call>',
        SEARCH,
    ),
    "two objects in one tag": (
        '<tool_call>\n{"name": "now", "arguments": {}}\n{"name": "search", "arguments": {"query": "x"}}\n</tool_call>',
        [("now", {}), *SEARCH],
    ),
    "tool_calls": (
        '{"thought": "t", "tool_calls": [{"type": "function", "function": '
        '{"name": "search", "arguments": "{\\"query\\": \\"x\\"}"}}]}',
        SEARCH,
    ),
    "Chinese keys": ('{"思考": "t", "行动": "search", "行动输入": {"query": "x"}}', SEARCH),
    "camel keys": ('{"toolName": "search", "toolInput": "x"}', SEARCH),
    "call in the action field": ('{"thought": "t", "action": "search[x]"}', SEARCH),
    "answer null": ('{"action": "search", "action_input": "x", "final_answer": null}', SEARCH),
    "second object": ('{"action": "search", "action_input": "x"}\n{"action": "now"}', SEARCH),
    "two actions": ("Action: search[x]\nAction: now", SEARCH),
}


@pytest.mark.parametrize(("text", "wanted"), ONE_CALL.values(), ids=ONE_CALL.keys())
def test_a_call_is_read_in_every_style(text, wanted):
    assert calls(text) == wanted


ANSWERS = {
    "final answer": ("Thought: t\nFinal Answer: 42", "42"),
    "bold": ("**Final Answer:** Oslo", "Oslo"),
    "bold answer": ("Final Answer: **Oslo** it is", "**Oslo** it is"),
    "heading": ("### Final Answer\nOslo", "Oslo"),
    "finish": ('Action: Finish["It said \\"hi\\""]', 'It said "hi"'),
    "finish alone": ("I think so.\nFinish[yes]", "yes"),
    "finish with an object": ('Action: finish\nAction Input: {"answer": "42"}', "42"),
    "none, then the answer": ("Action: None\nFinal Answer: 42", "42"),
    "empty action, then the answer": ("Action 3:\n\nFinish[42]", "42"),
    "the answer names an action": ("Final Answer: write\nAction: click\nnow", "write\nAction: click\nnow"),
    "final after a draft": ("Answer: let me see\nFinal Answer: 42", "42"),
    "channel": ("<|channel|>final<|message|>42<|return|>", "42"),
    "object": ('{"final_answer": "42"}', "42"),
    "no label": ("It is 42.", "It is 42."),
    "other JSON": ('{"total": 42}', '{"total": 42}'),
}


@pytest.mark.parametrize(("text", "answer"), ANSWERS.values(), ids=ANSWERS.keys())
def test_an_answer_is_read_in_every_style(text, answer):
    assert read(text, BOX).answer == answer


ERRORS = {
    "thought alone": ("Thought: t", "no_action"),
    "observation first": ("Observation: t", "no_action"),
    "no action needed": ("Action: No action needed", "no_action"),
    "namespace": ("Action: functions.search\nAction Input: x", "unknown_tool"),
    "words as a name": ("Action: Search the web\nAction Input: x", "unknown_tool"),
    "no input": ("Action: search\nAction Input:", "missing_action_input"),
    "no name": ("Action:\nAction Input: x", "missing_action_name"),
    "unnamed object": ('{"action_input": "x"}', "missing_action_name"),
    "answer, then action": ("Answer: 42\nAction: search[x]", "ambiguous_action_and_answer"),
    "cut object, normal end": ('Action: search\nAction Input: {"query": "x', "invalid_arguments"),
    "duplicate key": ('Action: add\nAction Input: {"a": 2, "a": 3, "b": 1}', "invalid_arguments"),
    "unknown parameter": ('Action: search\nAction Input: {"query": "x", "n": 1}', "invalid_arguments"),
    "too many values": ("Action: add[1, 2, 3]", "invalid_arguments"),
    "huge argument": (f"Action: search[{'x' * 40_000}]", "invalid_arguments"),
    "empty answer": ("Action: Finish[]", "empty_output"),
    "tokens alone": ("<|im_end|>", "empty_output"),
    "broken object": ('{"action": "search", "action_input" = "x"}', "invalid_call_shape"),
    "too many calls": ("[" + ",".join(['{"name": "now", "arguments": {}}'] * 17) + "]", "invalid_call_shape"),
}


@pytest.mark.parametrize(("text", "error"), ERRORS.values(), ids=ERRORS.keys())
def test_what_cannot_be_read_is_named(text, error):
    assert kind(text) == error


CUT = ["Action: search[x", "Action: search\nAction Input: x", 'Action: search\nAction Input: {"query": "x"', "Action:"]
CUT += ["Final Answer: 4", "Finish[4", "Thought: t", "It is 4", '{"action": "search", "action_input": "x"', " "]


@pytest.mark.parametrize("text", CUT)
def test_nothing_is_used_that_the_output_limit_cut(text):
    assert kind(text, truncated=True) == "truncated"


@pytest.mark.parametrize(
    "text", ["Action: search[x]", "Action: search\nAction Input: x\nObservation: y and", "search('x')"]
)
def test_what_was_complete_before_the_cut_is_used(text):
    assert calls(text, truncated=True) == SEARCH


def test_what_is_dropped_is_told():
    assert "observation" in read("Action: now\nObservation: 3", BOX).dropped[0]
    assert "question" in read("Finish[1]\nQuestion: next?\nAction: now", BOX).dropped[0]
    assert "further action" in read("Action: now\nAction: now", BOX).dropped[0]
    assert "answer" in read("Action: now\nFinal Answer: 3", BOX).dropped[0]


def test_reasoning_is_kept_apart():
    move = read("<think>a</think>\n<think>Action: now</think>\nThought: t\nFinal Answer: c", BOX)
    assert (move.reasoning, move.thought, move.answer) == ("a\nAction: now", "t", "c")


def test_words_are_no_answer_where_an_object_was_asked_for():
    assert kind("I will search.", unlabelled_is_answer=False) == "no_action"
    assert calls('So: {"action": "search", "action_input": "x"}', unlabelled_is_answer=False) == SEARCH


def test_a_tool_that_takes_the_answer_finishes():
    box = Toolbox([made("final_answer", answer=STRING), made("finish", task=STRING)])
    assert read("Action: final_answer[42]", box).answer == "42"
    assert read("Action: finish\nAction Input: t1", box).calls


PIECES = ["Thought: ", "Action: ", "Action 2: ", "\nAction: ", "\nAction Input: ", "\nObservation: ", "\nQuestion: "]
PIECES += [
    "Final Answer: ",
    "Finish[",
    "思考：",
    "\n行动：",
    "行动输入：",
    "\n观察：",
    "search",
    "add",
    "now",
    "weather",
]
PIECES += [
    *"[](){}［］（）\"'“”,，:：=\\\n #|xé天\ud800\x00",
    "\r\n",
    "```",
    "```json\n",
    "**",
    "None",
    "null",
    "NaN",
    "1e999",
    "12",
]
PIECES += [
    "<tool_call>",
    "</tool_call>",
    "<function=search>",
    "<parameter=query>",
    "</parameter>",
    "<think>",
    "</think>",
]
PIECES += ['<invoke name="now">', "[TOOL_CALLS]", "<|im_end|>", "<|channel|>final<|message|>", '{"name": "now"']
PIECES += [', "arguments": {}}', '{"action": "search"', '"action_input": "x"', "query", "final_answer"]
# One draw of bytes for a whole reply: a draw for each piece is what took the time.
REPLIES = st.binary(max_size=24).map(lambda chosen: "".join(PIECES[byte % len(PIECES)] for byte in chosen))


@settings(max_examples=20_000, deadline=None, suppress_health_check=list(HealthCheck), database=None)
@given(REPLIES, st.booleans(), st.booleans())
def test_no_reply_raises_anything_else_or_calls_what_is_not_registered(text, truncated, unlabelled):
    try:
        move = read(text, BOX, truncated=truncated, unlabelled_is_answer=unlabelled)
    except FormatError as error:
        assert error.sentence
        return
    assert isinstance(move, Move) and bool(move.calls) != (move.answer is not None)
    for call in move.calls:
        assert call.name in BOX
        assert set(call.args) == set(BOX[call.name].required)


@settings(max_examples=500, deadline=None)
@given(st.text(), st.booleans())
def test_no_text_at_all_raises_anything_else(text, truncated):
    try:
        read(text, BOX, truncated=truncated)
    except FormatError as error:
        assert error.sentence


REPEATED = [
    "Thought: a\n",
    "Action: search[x]\n",
    "Action Input: x\n",
    "Observation: x\n",
    "Answer: x\n",
    "Finish[x]\n",
]
REPEATED += [
    "[",
    "]",
    "[]",
    "(",
    "{",
    "}",
    '{"a":1},',
    '"',
    "'",
    '"a",',
    "“",
    "```\n",
    "```json\n",
    "`",
    "\\",
    '\\"',
    "\n",
]
REPEATED += [
    "<tool_call>",
    "</tool_call>",
    "<think>",
    "</think>\n",
    "<function=now>",
    "<parameter=a>",
    "*",
    "# ",
    ",",
    "：",
]
BEFORE = [
    "",
    "Action: add[",
    "Action: add\nAction Input: {",
    "<function=add><parameter=a>",
    'Action: search["',
    "Finish[",
]


def spent(text):
    times = []
    for _ in range(3):
        started = time.thread_time()
        try:
            read(text, BOX)
        except FormatError as error:
            assert error.sentence
        times.append(time.thread_time() - started)
    return min(times)


@pytest.mark.parametrize("before", BEFORE)
def test_time_grows_with_the_length_and_no_faster(before):
    for piece in REPEATED:
        text = before + piece * (LONGEST // len(piece))
        half, whole = spent(text[: LONGEST // 2]), spent(text[:LONGEST])
        # What takes no time has no ratio; a busy machine makes the bound of 50 ms a wide one here.
        assert whole < 0.2, (before, piece, whole)
        assert whole < 0.01 or whole / half < 2.6 or spent(text[:LONGEST]) / spent(text[: LONGEST // 2]) < 2.6, piece


def test_a_megabyte_is_cut_and_said_so():
    assert kind("Thought: " + "x" * 1_000_000) == "truncated"
    assert calls("Action: search[x]\nObservation: " + "y" * 1_000_000) == SEARCH


RECORDED = re.compile(r"\s*(\w+)\[(.*?)\]?\s*(?:on different website)?", re.S)
UNREAD = {"fever": {"unknown_tool": 1, "no_action": 1}, "webshop": {"unknown_tool": 3}, "hotpot_react": {}}
"""`Login`, `exit[…]`: tools that never were; and one reply that ends after the word Action."""


@pytest.mark.parametrize(
    ("name", "begun", "names"),
    [
        ("fever", "Thought 1:", ("Search", "Lookup")),
        ("hotpot_react", "Thought 1:", ("Search", "Lookup")),
        ("webshop", "Action:", ("search", "click", "think")),
    ],
)
def test_recorded_replies_read_to_the_recorded_action(name, begun, names):
    box = Toolbox([made(tool, query=STRING) for tool in names])
    unread: dict[str, int] = {}
    for turn in (turn for episode in load(name) for turn in episode["turns"]):
        try:
            move = read(begun + turn["completion"], box)
        except FormatError as error:
            unread[error.kind] = unread.get(error.kind, 0) + 1
            continue
        tool, argument = RECORDED.fullmatch(turn["action"]).groups()
        if move.answer is not None:
            found = ("finish", move.answer)
        else:
            found = (move.calls[0].name.lower(), move.calls[0].args["query"])
        assert found == (tool.lower(), brackets.unquoted(argument)), turn
    assert unread == UNREAD[name]


INVENTED = re.compile(r"^[\s>#*_`-]*(?:observation|question|观察|问题)[ \d]*[*_`]*\s*[:：]", re.I | re.M)


def test_nothing_a_small_model_invents_becomes_a_move():
    box = Toolbox([made(tool, query=STRING) for tool in ("Search", "Lookup", "Calculator")])
    for record in load("local_model_raw"):
        text = record["output"] if isinstance(record["output"], str) else record["output"].get("content") or ""
        text = record["prompt_tail"].rpartition("\n")[2] + text
        invented = INVENTED.search(text)
        own = text[: invented.start()] if invented else text
        try:
            move = read(text, box, truncated=record["finish_reason"] == "length")
        except FormatError as error:
            assert error.sentence
            continue
        for call in move.calls:
            assert call.name.lower() in own.lower() and all(str(value) in own for value in call.args.values())
        assert move.answer is None or move.answer in own


@pytest.mark.parametrize("opening", ["<function=", "<invoke ", "<function=<invoke name=", "<tool_call><function="])
def test_markup_that_only_opens_comes_to_an_end(opening: str) -> None:
    for count in (1, 2, 50):
        with pytest.raises(FormatError):
            read(opening * count, BOX)
