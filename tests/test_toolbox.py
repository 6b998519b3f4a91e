"""A tool is found by the name a model wrote, and only if there is no doubt which is meant."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.tool import Tool, ToolError
from tools.toolbox import Toolbox, normal


def made(*names: str) -> Toolbox:
    return Toolbox([Tool(name, name, None) for name in names])


def test_is_a_mapping_in_the_order_given() -> None:
    toolbox = made("b", "a")
    assert list(toolbox) == ["b", "a"] and len(toolbox) == 2 and "a" in toolbox
    assert toolbox["a"].name == "a"
    with pytest.raises(KeyError):
        toolbox["c"]


def test_takes_anything_that_can_be_a_tool() -> None:
    def weather(city: str) -> str:
        """The weather."""
        return city

    assert list(Toolbox([weather, {"name": "schema"}, Tool("tool", "A tool.", None)])) == ["weather", "schema", "tool"]
    assert list(Toolbox()) == []


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ToolError, match="two tools are named 'a'"):
        made("a", "b", "a")


@pytest.mark.parametrize(
    "name",
    [
        "get_weather", "Get_Weather", "GET-WEATHER", "getWeather", "GetWeather", "get weather", " get_weather ",
        "`get_weather`", "**get_weather**", "“get_weather”", "get.weather", "__get__weather__",
        "ｇｅｔ＿ｗｅａｔｈｅｒ",
    ],
)  # fmt: skip
def test_is_found_whatever_the_case_and_decoration(name: str) -> None:
    found = made("get_weather", "get_time").find(name)
    assert found is not None and found.name == "get_weather"


@pytest.mark.parametrize(
    "name", ["", "weather", "get_weathers", "getweather", "get_weather_now", "delete", "天气", "\x00"]
)
def test_is_not_found_by_a_name_that_is_only_close(name: str) -> None:
    assert made("get_weather", "get_time").find(name) is None


def test_is_not_found_where_two_are_meant() -> None:
    toolbox = made("get_weather", "getWeather")
    assert toolbox.find("Get-Weather") is None
    assert {name: (found := toolbox.find(name)) and found.name for name in toolbox} == {name: name for name in toolbox}


def test_chinese_names() -> None:
    found = made("查天气", "计算器").find("【计算器】")
    assert found is not None and found.name == "计算器"


@pytest.mark.parametrize(
    ("name", "close"),
    [
        ("get_wether", "get_weather"),
        ("Weather", "get_weather"),
        ("getTimes", "get_time"),
        ("transfer", None),
        ("", None),
    ],
)
def test_the_nearest_is_a_hint(name: str, close: str | None) -> None:
    assert made("get_weather", "get_time").nearest(name) == close


def test_the_nearest_of_a_very_long_name_is_quick() -> None:
    toolbox = made(*(f"tool_number_{i}" for i in range(200)))
    began = time.process_time()
    toolbox.nearest("tool" * 100_000)
    assert time.process_time() - began < 0.5


@given(st.text(max_size=30))
def test_normal_form_is_stable(name: str) -> None:
    assert normal(normal(name)) == normal(name)


def test_normal_form_keeps_words_apart() -> None:
    assert normal("json_format") != normal("jsonformat")
    assert normal("HTTPGet2Page") == "httpget2_page"


def test_can_be_a_key() -> None:
    assert len({made("a"), made("a")}) == 2
