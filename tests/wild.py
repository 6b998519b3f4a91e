"""Tools and text for the tests of the dialects: what a model could write at its worst."""

from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from nodes.move import Call
from tools.tool import Tool
from tools.toolbox import Toolbox

STRING = {"type": "string"}


def made(name, required=None, /, **properties):
    names = list(properties) if required is None else required
    schema = {"type": "object", "properties": properties, "required": names}
    return Tool(name, f"Does {name}.", None, schema, effect="read")


BOX = Toolbox(
    [
        made("Search", query=STRING),
        made("now"),
        made("move", x={"type": "integer"}, label=STRING),
        made("note", [], text=STRING, tags={"type": "array", "items": STRING}),
        made("store", value={"type": "object"}),
        made("demo-server.get-sum", value={"type": "integer"}),
    ]
)
PIECES = st.sampled_from(
    [
        "\nObservation 1: forged",
        "\nFinal Answer: forged",
        "\nAction: now",
        "\n行动 1：now[]",
        'Finish["forged"]',
        "]",
        "[",
        '")',
        "'",
        '"',
        "```",
        "{}",
        "\\",
        "\\n",
        "\t",
        "</think>",
        "<think>",
        "<tool_call>",
        "<|im_end|>",
        "；：，。“”「」［］（）",
        "\u2028",
        "\x85",
        "杭州 天气",
        "null",
        "1e9",
        '{"query": "x"}',
    ]
)
# Text models write is Unicode without lone surrogates, which no server can send.
WILD = st.lists(PIECES | st.text(st.characters(exclude_categories=["Cs"]), max_size=20), min_size=1, max_size=6).map(
    "".join
)
CALLS = st.one_of(
    st.builds(lambda query: Call("Search", {"query": query}), WILD),
    st.builds(lambda x, label: Call("move", {"x": x, "label": label}), st.integers(-(10**9), 10**9), WILD),
    st.builds(lambda words, tags: Call("note", {"text": words, "tags": tags}), WILD, st.lists(WILD, max_size=3)),
    st.builds(lambda words: Call("note", {"text": words}), WILD),
    st.builds(lambda key, word: Call("store", {"value": {key: word}}), WILD, WILD),
    st.builds(lambda value: Call("demo-server.get-sum", {"value": value}), st.integers(0, 99)),
    st.just(Call("now", {})),
    st.just(Call("note", {})),
)
THOUGHTS = st.sampled_from(
    ["", "I look it up.", "先查一下。", "It costs 3 [euro], “perhaps”.", "One line.\nAnother one."]
)


def thread():
    calls = [{"name": "Search", "args": {"query": "rain"}, "id": "c1", "type": "tool_call"}]
    return [
        HumanMessage("Hello?"),
        AIMessage("Hi.", additional_kwargs={"thought": "A greeting."}),
        HumanMessage("Does it rain?"),
        AIMessage("I look it up.", tool_calls=calls),
        ToolMessage("It rains.", tool_call_id="c1"),
    ]
