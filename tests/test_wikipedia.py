"""Wikipedia's answers become pages, its faults sentences that give nothing away; the server is on this machine."""

from __future__ import annotations

import time
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from tools.observation import ToolFailure
from tools.tool import Tool, ToolError
from tools.toolbox import Toolbox
from tools.wikipedia import Wikipedia, wikipedia_tools

INTRODUCTION = (
    "The Rhine is a river in Europe. It rises in Switzerland. It is about 1,230 km long. "
    "It flows through Basel. It flows through Cologne. It ends in the North Sea."
)
REST = "\n\n\n== History ==\nThe Romans called it Rhenus. Dr. Smith wrote about the river in 1870."


def page(title: str, extract: str, **more: Any) -> dict[str, Any]:
    """What the action API answers for a page, in its format version 2."""
    about = {"pageid": 25845, "ns": 0, "title": title, "extract": extract, **more}
    return {"batchcomplete": True, "query": {"pages": [about]}}


def missing(title: str) -> dict[str, Any]:
    return {"batchcomplete": True, "query": {"pages": [{"ns": 0, "title": title, "missing": True}]}}


def hits(*titles: str) -> dict[str, Any]:
    found = [{"ns": 0, "title": title, "pageid": 100 + i} for i, title in enumerate(titles)]
    return {"batchcomplete": True, "query": {"searchinfo": {"totalhits": len(found)}, "search": found}}


@pytest.fixture
def asked(httpserver: HTTPServer) -> list[dict[str, str]]:
    """A MediaWiki with one river, and what was asked of it."""
    queries: list[dict[str, str]] = []

    def answer(request: Request) -> Response:
        asked = dict(request.args)
        queries.append({**asked, "agent": request.headers["User-Agent"]})
        if asked.get("list") == "search":
            return reply(hits("Rhine", "Rhineland", "Rhine Falls"))
        if asked["titles"] == "Rhine":
            return reply(page("Rhine", INTRODUCTION if "exintro" in asked else INTRODUCTION + REST))
        if asked["titles"] == "Rhine (disambiguation)":
            return reply(page("Rhine (disambiguation)", "Rhine may refer to:", pageprops={"disambiguation": ""}))
        return reply(missing(asked["titles"]))

    httpserver.expect_request("/w/api.php").respond_with_handler(answer)
    return queries


def reply(body: dict[str, Any]) -> Response:
    from json import dumps

    return Response(dumps(body, ensure_ascii=False), content_type="application/json; charset=utf-8")


@pytest.fixture(autouse=True)
def _direct(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")


@pytest.fixture
def tools(httpserver: HTTPServer) -> Toolbox:
    return Toolbox(wikipedia_tools(url=httpserver.url_for("/w/api.php")))


def run(tool: Tool, **args: Any) -> str:
    assert tool.function is not None
    return str(tool.function(**args))


def test_a_search_gives_the_first_five_sentences(tools: Toolbox, asked: list[dict[str, str]]) -> None:
    told = run(tools["search"], query="Rhine")
    assert told == INTRODUCTION.removesuffix(" It ends in the North Sea.")
    (query,) = asked
    assert query["action"] == "query" and query["explaintext"] == "1" and query["redirects"] == "1"
    assert query["agent"].startswith("reasonact/")


def test_a_page_that_is_not_there(tools: Toolbox, asked: list[dict[str, str]]) -> None:
    told = run(tools["search"], query="Rhein River")
    assert told == "Could not find Rhein River. Similar: [Rhine, Rhineland, Rhine Falls]."
    assert asked[1]["srsearch"] == "Rhein River" and asked[1]["srlimit"] == "5"


def test_a_title_of_many_meanings_gives_the_choices(tools: Toolbox, asked: list[dict[str, str]]) -> None:
    told = run(tools["search"], query="Rhine (disambiguation)")
    assert told == "Could not find Rhine (disambiguation). Similar: [Rhine, Rhineland, Rhine Falls]."


def test_lookup_goes_through_the_whole_page(tools: Toolbox, asked: list[dict[str, str]]) -> None:
    def look(number: int) -> str:
        return run(tools["lookup"], keyword="river", page="Rhine", number=number)

    assert look(1) == "(Result 1 / 2) The Rhine is a river in Europe."
    assert look(2) == "(Result 2 / 2) Dr. Smith wrote about the river in 1870."
    assert look(3) == "No more results."
    assert run(tools["lookup"], keyword="river", page="Rhain").startswith("Could not find Rhain. Similar: [Rhine")


def test_a_title_cannot_be_several(tools: Toolbox, asked: list[dict[str, str]]) -> None:
    run(tools["search"], query="Rhine|Danube\x1fElbe#mouth" + "x" * 1_000)
    assert asked[0]["titles"].startswith("Rhine Danube Elbe mouthx")
    assert len(asked[0]["titles"]) <= 255


@pytest.mark.parametrize("query", ["", "  ", "|#", "\x00"])
def test_an_empty_title_asks_nobody(tools: Toolbox, query: str) -> None:
    with pytest.raises(ToolFailure, match="empty"):
        run(tools["search"], query=query)


@pytest.mark.parametrize(
    ("status", "why"),
    [(429, "too often"), (500, "status 500"), (503, "status 503"), (403, "status 403"), (404, "status 404")],
)
def test_a_refusal_is_a_sentence(tools: Toolbox, httpserver: HTTPServer, status: int, why: str) -> None:
    httpserver.expect_request("/w/api.php").respond_with_data("<html>SECRET</html>", status=status)
    with pytest.raises(ToolFailure, match=why) as failed:
        run(tools["search"], query="Rhine")
    assert "SECRET" not in str(failed.value) and "127.0.0.1" not in str(failed.value)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("<html>not json</html>", "could not be read"),
        ("[" * 100_000, "could not be read"),
        ("[1]", "refused"),
        ('{"error": {"code": "internal_api_error", "info": "SECRET"}}', "refused"),
    ],
)
def test_an_answer_that_is_none(tools: Toolbox, httpserver: HTTPServer, body: str, why: str) -> None:
    httpserver.expect_request("/w/api.php").respond_with_data(body, content_type="application/json")
    with pytest.raises(ToolFailure, match=why) as failed:
        run(tools["search"], query="Rhine")
    assert "SECRET" not in str(failed.value)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"query": None},
        {"query": {"pages": "x"}},
        {"query": {"pages": []}},
        {"query": {"pages": [1]}},
        {"query": []},
    ],
)
def test_an_answer_without_a_page(tools: Toolbox, httpserver: HTTPServer, body: Any) -> None:
    httpserver.expect_request("/w/api.php").respond_with_json(body)
    assert run(tools["search"], query="Rhine") == "Could not find Rhine. Similar: []."


def test_a_page_that_is_too_large(tools: Toolbox, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/w/api.php").respond_with_json(page("Rhine", "x" * 3_000_000))
    with pytest.raises(ToolFailure, match="too large"):
        run(tools["search"], query="Rhine")


def test_a_redirect_without_end(tools: Toolbox, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/w/api.php").respond_with_data("", status=302, headers={"Location": "/w/api.php"})
    with pytest.raises(ToolFailure, match="redirected"):
        run(tools["search"], query="Rhine")


def test_a_server_that_hangs(tools: Toolbox, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.wikipedia.SECONDS", 0.2)

    def wait(request: Request) -> Response:
        time.sleep(0.6)
        return Response("{}")

    httpserver.expect_request("/w/api.php").respond_with_handler(wait)
    with pytest.raises(ToolFailure, match="too long"):
        run(tools["search"], query="Rhine")


def test_nobody_is_there() -> None:
    search = wikipedia_tools(url="http://127.0.0.1:9/w/api.php")[0]
    with pytest.raises(ToolFailure, match="could not be reached") as failed:
        run(search, query="Rhine")
    assert "127.0.0.1" not in str(failed.value)


def test_each_language_has_its_own_site() -> None:
    assert Wikipedia("zh").url == "https://zh.wikipedia.org/w/api.php"
    assert Wikipedia("zh-yue").url == "https://zh-yue.wikipedia.org/w/api.php"


@pytest.mark.parametrize("language", ["", "en.evil.example/", "EN", "e", "en\n", "../x"])
def test_a_language_cannot_name_another_host(language: str) -> None:
    with pytest.raises(ToolError, match="language"):
        wikipedia_tools(language)


def test_asking_is_egress() -> None:
    assert [(tool.name, tool.effect, tool.idempotent) for tool in wikipedia_tools()] == [
        ("search", "egress", True),
        ("lookup", "egress", True),
    ]
