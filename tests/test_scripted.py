"""A script must be played to its end, and not beyond."""

import pytest
from langchain_core.messages import AIMessage

from nodes.scripted import ScriptedModel, UnexpectedCall, Unplayed


def test_it_says_what_it_is_told_and_remembers_what_it_was_asked() -> None:
    model = ScriptedModel(["one", AIMessage("two"), ConnectionError("three")])
    assert model.invoke("a").text == "one" and model.invoke("b", stop=["x"]).text == "two"
    with pytest.raises(ConnectionError):
        model.invoke("c")
    assert [request[0].text for request in model.requests] == ["a", "b", "c"] and model.options[1]["stop"] == ["x"]
    model.assert_played()
    with pytest.raises(UnexpectedCall, match="3 replies"):
        model.invoke("d")


def test_what_is_left_is_said() -> None:
    model = ScriptedModel(["one", "two"])
    model.invoke("a")
    with pytest.raises(Unplayed, match="1 of 2.*two"):
        model.assert_played()


def test_it_takes_tools_or_not() -> None:
    assert ScriptedModel(["x"]).bind_tools([]) is not None
    with pytest.raises(NotImplementedError):
        ScriptedModel(["x"], tool_calling=False).bind_tools([])
