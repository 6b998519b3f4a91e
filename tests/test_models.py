"""Models by name, over real HTTP on this machine, and what their faults become."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from graphs.react import build
from nodes.limits import Limits
from nodes.models import ModelError, find_model
from nodes.scripted import ScriptedModel
from tests.walking import World

ASK: Any = {"messages": [("user", "q")]}
KEY = "sk-THEKEY1234567890"


@pytest.fixture
def server(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> HTTPServer:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", httpserver.url_for("/v1"))
    monkeypatch.setattr("nodes.node.time.sleep", lambda seconds: None)
    return httpserver


def completion(content: str | None, call: dict[str, Any] | None = None) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if call:
        message["tool_calls"] = [{"id": "c1", "type": "function", "function": call}]
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if call else "stop"}
    usage = {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16}
    return {"id": "x", "object": "chat.completion", "created": 1, "model": "test", "choices": [choice], "usage": usage}


def serve(server: HTTPServer, *replies: Any) -> list[dict[str, Any]]:
    """Answer in turn, with a completion, a status, or (status, body, headers)."""
    asked: list[dict[str, Any]] = []
    left = list(replies)

    def answer(request: Request) -> Response:
        asked.append(request.get_json())
        reply = left.pop(0)
        if isinstance(reply, int):
            reply = (reply, {"error": {"message": f"no, {KEY}"}}, {})
        import json

        status, body, headers = reply if isinstance(reply, tuple) else (200, reply, {})
        return Response(json.dumps(body), status, {"content-type": "application/json", **headers})

    server.expect_request("/v1/chat/completions").respond_with_handler(answer)
    return asked


def run(model: Any = "openai:test", **settings: Any) -> dict[str, Any]:
    return build(model, World().tools, approve="none", **settings).invoke(ASK)  # type: ignore[no-any-return]


def test_a_real_client_calls_a_tool(server: HTTPServer) -> None:
    asked = serve(server, completion("I look.", {"name": "look", "arguments": '{"what": "a"}'}), completion("A"))
    state = run()
    assert (state["status"], state["answer"], state["tokens"]["total"]) == ("finished", "A", 32)
    assert asked[0]["tools"][0]["function"]["name"] == "look" and asked[1]["messages"][-1]["role"] == "tool"


@pytest.mark.parametrize("name", ["openai:test", "openai/test"])
def test_names_with_a_provider(server: HTTPServer, name: str) -> None:
    serve(server, completion("A"))
    assert run(name)["answer"] == "A"


def test_a_429_and_a_500_are_tried_again(server: HTTPServer) -> None:
    asked = serve(server, (429, {"error": {"message": "slow"}}, {"retry-after": "1"}), 500, 503, completion("A"))
    assert run()["answer"] == "A" and len(asked) == 4


def test_the_next_model_takes_over(server: HTTPServer) -> None:
    asked = serve(server, *[500] * 3)
    state = run(["openai:test", ScriptedModel(["from the second"])], limits=Limits(model_retries=3))
    assert state["answer"] == "from the second" and len(asked) == 3


def test_a_refused_key_fails_the_run_and_is_never_shown(server: HTTPServer, caplog: pytest.LogCaptureFixture) -> None:
    asked = serve(server, 401)
    state = run()
    assert state["status"] == "failed" and "401" in state["reason"] and "key" in state["reason"]
    assert KEY not in str(state) + caplog.text and len(asked) == 1


def refusal(of: str) -> tuple[int, dict[str, Any], dict[str, str]]:
    return 400, {"error": {"message": f"this server does not support {of}", "type": "invalid_request_error"}}, {}


def test_refused_tools_fall_back_to_json_then_text(server: HTTPServer) -> None:
    answer = " I know.\nAction 1: Finish[A]"
    asked = serve(server, refusal("tools"), refusal("response_format"), completion(answer))
    state = run()
    assert state["answer"] == "A" and state["messages"][-1].response_metadata["dialect"] == "text"
    assert "tools" in asked[0] and "response_format" in asked[1] and "stop" in asked[2]


def test_a_wrong_answer_of_the_server_is_a_failure_not_a_crash(server: HTTPServer) -> None:
    serve(server, {"nonsense": True})
    assert run()["status"] == "failed"


@pytest.mark.parametrize(
    ("model", "says"),
    [
        ("gpt-5.5", "provider:name"),
        ("openai:", "provider:name"),
        ("nobody:x", "nobody"),
        (7, "chat model"),
        ("", "provider"),
    ],
)
def test_names_that_cannot_work(model: Any, says: str) -> None:
    with pytest.raises(ModelError, match=says):
        find_model(model)


def test_with_neither_key_nor_local_model_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nodes.local.available", lambda path=None: False)
    with pytest.raises(ModelError, match="OPENAI_API_KEY.*scripts/setup"):
        find_model(None)
