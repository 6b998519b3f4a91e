"""Everything that can be a tool becomes one, with a schema, a function that runs and facts that are safe."""

from __future__ import annotations

import asyncio
import functools
import inspect
import subprocess
import sys
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from langchain_core.callbacks import CallbackManagerForToolRun
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, InjectedToolArg, InjectedToolCallId, StructuredTool, ToolException
from langchain_core.tools import tool as langchain_tool
from langgraph.prebuilt import InjectedState
from pydantic import BaseModel, Field

from tools.arguments import coerce
from tools.observation import ToolFailure, clean
from tools.tool import Tool, ToolError, tool


class Trip(BaseModel):
    """Where to go."""

    city: str = Field(description="the city")
    days: int = 1


def run(made: Tool, **args: Any) -> Any:
    """What Act does: coerce, call, wait."""
    assert made.function is not None
    value = made.function(**coerce(made, args))
    return asyncio.run(value) if inspect.isawaitable(value) else value


def weather(city: str, days: int = 1, unit: Literal["c", "f"] = "c") -> str:
    """The weather in a city."""
    return f"{city} {days} {unit}"


def test_a_tool_stays_itself() -> None:
    made = Tool("a", "A.", None)
    assert Tool.of(made) is made


class TestFunctions:
    def test_name_manual_and_schema_come_from_the_function(self) -> None:
        made = Tool.of(weather)
        assert (made.name, made.description, made.required) == ("weather", "The weather in a city.", ["city"])
        assert {name: about.get("type") for name, about in made.parameters.items()} == {
            "city": "string",
            "days": "integer",
            "unit": "string",
        }
        assert made.parameters["unit"]["enum"] == ["c", "f"] and made.parameters["days"]["default"] == 1
        assert run(made, city="Rome", days="3") == "Rome 3 c"

    def test_nothing_declared_needs_approval(self) -> None:
        made = Tool.of(weather)
        assert made.effect is None and made.writes and not made.idempotent and not made.repeatable

    def test_an_async_function_stays_async(self) -> None:
        async def slow(city: str) -> str:
            """Slow."""
            return city

        made = Tool.of(slow)
        assert inspect.iscoroutinefunction(made.function)
        assert run(made, city="Rome") == "Rome"

    def test_types_that_json_has_not_are_made(self) -> None:
        def book(trip: Trip, day: date, guests: list[Trip]) -> str:
            """Book."""
            return f"{trip.city} {day.year + 1} {guests[0].days}"

        made = Tool.of(book)
        assert made.parameters["day"]["format"] == "date"
        told = run(made, trip={"city": "Rome"}, day="2030-01-02", guests=[{"city": "x", "days": 4}])
        assert told == "Rome 2031 4"
        assert made.function is not None
        with pytest.raises(ToolFailure, match="day"):
            made.function(trip={"city": "Rome"}, day="someday", guests=[])

    def test_an_async_function_with_rich_types(self) -> None:
        async def book(trip: Trip) -> str:
            """Book."""
            return trip.city

        made = Tool.of(book)
        assert inspect.iscoroutinefunction(made.function)
        assert run(made, trip={"city": "Rome"}) == "Rome"

    def test_words_in_annotations_describe(self) -> None:
        def find(
            city: Annotated[str, "its English name"], limit: Annotated[int, Field(ge=1, description="how many")] = 5
        ) -> str:
            """Find."""
            return city

        made = Tool.of(find)
        assert made.parameters["city"]["description"] == "its English name"
        assert made.parameters["limit"]["minimum"] == 1

    def test_keywords_of_any_name(self) -> None:
        def log(level: str, **more: str) -> str:
            """Log."""
            return f"{level} {sorted(more)}"

        made = Tool.of(log)
        assert made.schema["additionalProperties"]
        assert run(made, level="info", b="1", a="2") == "info ['a', 'b']"

    def test_a_key_of_the_ledger_is_not_the_models(self) -> None:
        def pay(amount: int, *, idempotency_key: str | None = None) -> str:
            """Pay."""
            return f"{amount} {idempotency_key}"

        made = Tool.of(pay)
        assert list(made.parameters) == ["amount"]
        assert made.function is not None and made.function(amount=1, idempotency_key="k") == "1 k"

    @pytest.mark.parametrize(
        "make",
        [
            lambda: functools.partial(weather, "Rome", unit="f"),
            lambda: Station().weather,
            lambda: Station(),
        ],
        ids=["partial", "method", "instance"],
    )
    def test_other_callables(self, make: Callable[[], Any]) -> None:
        made = Tool.of(make())
        assert made.name and "self" not in made.parameters
        assert "Rome" in run(
            made, **({} if made.name == "weather" and "city" not in made.required else {"city": "Rome"})
        )

    def test_an_async_callable_object(self) -> None:
        class Slow:
            """Slow."""

            async def __call__(self, city: str) -> str:
                return city

        assert run(Tool.of(Slow()), city="Rome") == "Rome"

    def test_no_parameters(self) -> None:
        def now() -> str:
            """Now."""
            return "now"

        made = Tool.of(now)
        assert made.schema["type"] == "object" and dict(made.parameters) == {} and made.required == []
        assert run(made) == "now"

    def test_what_cannot_be_called_by_name_is_refused(self) -> None:
        def odd(city: str, /) -> str:
            """Odd."""
            return city

        for thing, why in (
            (lambda city: city, "needs a name"),
            (odd, "cannot be given by name"),
            (3, "int"),
            (None, "None"),
        ):
            with pytest.raises(ToolError, match=why):
                Tool.of(thing)

    def test_a_function_that_wants_what_nobody_gives(self) -> None:
        def peek(state: Annotated[dict[str, Any], InjectedState], city: str) -> str:
            """Peek."""
            return city

        peek.__annotations__ = {"state": Annotated[dict[str, Any], InjectedState], "city": str}
        with pytest.raises(ToolError, match="state"):
            Tool.of(peek)


class Station:
    """A station."""

    def weather(self, city: str) -> str:
        """The weather."""
        return f"{city} sun"

    def __call__(self, city: str) -> str:
        """The weather."""
        return f"{city} rain"


class TestLangChain:
    def test_a_decorated_function(self) -> None:
        @langchain_tool
        def weather(city: str, days: int = 1) -> str:
            """The weather."""
            return f"{city} {days}"

        made = Tool.of(weather)
        assert (made.name, made.required, made.effect) == ("weather", ["city"], None)
        assert "weather" in made.description.lower()
        assert run(made, city="Rome", days="2") == "Rome 2"

    def test_an_async_one(self) -> None:
        @langchain_tool
        async def weather(city: str) -> str:
            """The weather."""
            return city

        made = Tool.of(weather)
        assert inspect.iscoroutinefunction(made.function)
        assert run(made, city="Rome") == "Rome"

    def test_its_metadata_says_what_it_does(self) -> None:
        structured = StructuredTool.from_function(
            weather, metadata={"effect": "read", "cap": 3, "idempotent": True, "mine": 1}, return_direct=True
        )
        made = Tool.of(structured)
        assert (made.effect, made.cap, made.idempotent, made.returns_answer) == ("read", 3, True, True)
        with pytest.raises(ToolError, match="effect"):
            Tool.of(StructuredTool.from_function(weather, metadata={"effect": "harmless"}))

    def test_a_pydantic_schema(self) -> None:
        structured = StructuredTool.from_function(
            lambda city, days: f"{city} {days}", name="trip", description="A trip.", args_schema=Trip
        )
        made = Tool.of(structured)
        assert made.parameters["city"]["description"] == "the city" and made.required == ["city"]
        assert run(made, city="Rome") == "Rome 1"

    def test_a_schema_that_is_a_mapping(self) -> None:
        schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
        structured = StructuredTool(
            name="trip", description="A trip.", args_schema=schema, func=lambda city: f"to {city}"
        )
        made = Tool.of(structured)
        assert made.schema["properties"] == schema["properties"] and made.required == ["city"]
        assert run(made, city="Rome") == "to Rome"

    def test_an_artifact_is_not_shown_to_the_model(self) -> None:
        @langchain_tool(response_format="content_and_artifact")
        def chart(city: str) -> tuple[str, bytes]:
            """A chart."""
            return f"chart of {city}", b"\x89PNG"

        assert clean(run(Tool.of(chart), city="Rome")).text == "chart of Rome"

    def test_what_langchain_injects_is_not_the_models(self) -> None:
        @langchain_tool
        def who(
            city: str,
            config: RunnableConfig,
            call: Annotated[str, InjectedToolCallId],
        ) -> str:
            """Who."""
            return f"{city} {bool(config)} {call.startswith('call_')}"

        made = Tool.of(who)
        assert list(made.parameters) == ["city"]
        assert clean(run(made, city="Rome")).text == "Rome True True"

    def test_an_injected_argument_with_a_default(self) -> None:
        @langchain_tool
        def who(city: str, user: Annotated[str, InjectedToolArg] = "nobody") -> str:
            """Who."""
            return f"{city} {user}"

        made = Tool.of(who)
        assert list(made.parameters) == ["city"]
        assert run(made, city="Rome") == "Rome nobody"

    def test_the_state_of_a_graph_is_refused(self) -> None:
        def peek(city: str, state: Any) -> str:
            """Peek."""
            return city

        peek.__annotations__["state"] = Annotated[dict[str, Any], InjectedState]
        peek.__annotations__["city"] = str
        with pytest.raises(ToolError, match="state"):
            Tool.of(StructuredTool.from_function(peek))

    def test_a_class_of_ones_own(self) -> None:
        class Weather(BaseTool):
            name: str = "weather"
            description: str = "The weather."

            def _run(self, city: str, run_manager: CallbackManagerForToolRun | None = None) -> str:
                return f"{city} {run_manager is not None}"

        made = Tool.of(Weather())
        assert list(made.parameters) == ["city"]
        assert run(made, city="Rome") == "Rome True"
        with pytest.raises(ToolError, match="instance"):
            Tool.of(Weather)

    def test_errors_stay_errors(self) -> None:
        @langchain_tool
        def fails(city: str) -> str:
            """Fail."""
            raise ToolException(f"no {city}")

        with pytest.raises(ToolException, match="no Rome"):
            run(Tool.of(fails), city="Rome")

        fails.handle_tool_error = True
        with pytest.raises(ToolFailure, match="no Rome"):
            run(Tool.of(fails), city="Rome")


class TestSchemas:
    @pytest.mark.parametrize(
        "given",
        [
            {
                "type": "function",
                "function": {"name": "pay", "description": "Pay.", "parameters": Trip.model_json_schema()},
            },
            {"name": "pay", "description": "Pay.", "parameters": Trip.model_json_schema()},
            {"name": "pay", "description": "Pay.", "input_schema": Trip.model_json_schema()},
            {**Trip.model_json_schema(), "title": "pay", "description": "Pay."},
        ],
        ids=["openai", "bare", "anthropic", "json schema"],
    )
    def test_can_be_read_and_not_run(self, given: Mapping[str, Any]) -> None:
        made = Tool.of(given)
        assert (made.name, made.description, made.function) == ("pay", "Pay.", None)
        assert made.required == ["city"] and list(made.parameters) == ["city", "days"]

    def test_no_parameters(self) -> None:
        made = Tool.of({"type": "function", "function": {"name": "now"}})
        assert made.schema["type"] == "object" and dict(made.parameters) == {}
        assert made.description == "now"

    @pytest.mark.parametrize(
        "given", [{}, {"function": "x"}, {"name": 3}, {"name": " "}, {"name": "a", "parameters": "x"}]
    )
    def test_what_is_none_is_refused(self, given: Mapping[str, Any]) -> None:
        with pytest.raises(ToolError):
            Tool.of(given)


class TestDecorator:
    def test_facts_are_given_with_it(self) -> None:
        @tool(effect="write", cap=2, rate=3, timeout=1.5, idempotent=True, repeatable=True, returns_answer=True)
        def note(text: str) -> str:
            """Note."""
            return text

        assert (note.effect, note.cap, note.rate, note.timeout) == ("write", 2, 3, 1.5)
        assert note.idempotent and note.repeatable and note.returns_answer and note.writes
        assert run(note, text="a") == "a"

    def test_without_brackets(self) -> None:
        @tool
        def note(text: str) -> str:
            """Note."""
            return text

        assert note.name == "note" and note.effect is None

    def test_name_and_manual_can_be_given(self) -> None:
        made = tool(name="meteo", description="Another manual.", effect="read")(weather)
        assert (made.name, made.description) == ("meteo", "Another manual.") and not made.writes

    def test_an_async_function_stays_async(self) -> None:
        @tool(effect="read")
        async def slow(city: str) -> str:
            """Slow."""
            return city

        assert inspect.iscoroutinefunction(slow.function)

    def test_an_effect_that_is_none_of_the_four(self) -> None:
        with pytest.raises(ToolError, match="read, egress, write, irreversible"):
            tool(effect="harmless")(weather)  # type: ignore[call-overload]


@pytest.mark.parametrize("name", ["", " a", "a "])
def test_a_name_without_spaces(name: str) -> None:
    with pytest.raises(ToolError, match="name"):
        Tool(name, "A.", None)


@pytest.mark.parametrize(
    ("effect", "writes"), [("read", False), ("egress", False), ("write", True), ("irreversible", True)]
)
def test_what_changes_the_world(effect: Any, writes: bool) -> None:
    assert Tool("a", "A.", None, effect=effect).writes is writes


def test_importing_tools_is_cheap() -> None:
    code = (
        "import sys\n"
        "import tools.tool, tools.toolbox, tools.calculator, tools.clock, tools.defaults, tools.wikipedia\n"
        "tools.defaults.demo_tools()\n"
        "heavy = [n for n in ('langchain_core', 'pydantic', 'httpx2', 'langgraph', 'jsonschema') if n in sys.modules]\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, cwd=Path(__file__).parents[1])
