"""LangChain tools keep their schema, however often they are handed over and however old their kind."""

from typing import Annotated

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import InjectedToolCallId
from langchain_core.tools import Tool as TextTool
from langchain_core.tools import tool as langchain_tool
from langgraph.prebuilt import ToolRuntime

from tools.tool import Tool


def test_a_tool_handed_over_twice_is_the_same_twice() -> None:
    @langchain_tool
    def look(what: str, many: int = 1) -> str:
        """Look."""
        return what * many

    assert Tool.of(look).schema == Tool.of(look).schema
    assert Tool.of(look).required == ["what"]


def test_the_oldest_kind_takes_one_text() -> None:
    made = Tool.of(TextTool(name="shout", description="Shout.", func=lambda text: f"{text}!"))
    assert made.required == list(made.parameters) == ["tool_input"]
    assert made.function is not None and made.function(tool_input="hey") == "hey!"


def test_what_langchain_injects_is_hidden_and_supplied() -> None:
    @langchain_tool
    def identify(what: str, call_id: Annotated[str, InjectedToolCallId], config: RunnableConfig) -> str:
        """Identify."""
        return f"{what} {bool(call_id)} {config is not None}"

    @langchain_tool
    def running(what: str, runtime: ToolRuntime) -> str:
        """Run."""
        return f"{what} {bool(runtime.tool_call_id)} {runtime.state}"

    for given, wanted in ((identify, "x True True"), (running, "x True {}")):
        made = Tool.of(given)
        assert list(made.parameters) == made.required == ["what"]
        assert made.function is not None and made.function(what="x").content == wanted
