"""Which dialect a model gets, why, and what follows a refusal."""

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_openai import ChatOpenAI

from nodes.dialects.choice import DIALECTS, choose, lower, refused
from tests.wild import BOX


class Calling(FakeListChatModel):
    def bind_tools(self, tools, **kwargs):
        return self.bind(tools=tools)


class Broken(FakeListChatModel):
    def bind_tools(self, tools, **kwargs):
        raise ValueError("no such thing")


class Refusal(Exception):
    def __init__(self, status, message):
        super().__init__(message)
        self.status_code = status


def fake(kind=FakeListChatModel, **profile):
    return kind(responses=["x"], profile=profile or None)


def served(**profile):
    return ChatOpenAI(model="some-model", api_key="k", base_url="http://localhost:1", profile=profile or None)


@pytest.mark.parametrize(
    ("model", "name", "why"),
    [
        (fake(tool_calling=True), "native", "profile says that it calls tools"),
        (fake(tool_calling=False, structured_output=True), "json", "cannot call tools, but can be held"),
        (fake(tool_calling=False), "text", "cannot call tools and no JSON schema"),
        (fake(Calling), "native", "takes tools"),
        (fake(), "text", "takes no tools (NotImplementedError)"),
        (fake(Broken, structured_output=True), "json", "takes no tools (ValueError), but can be held"),
        (served(), "native", "takes tools"),
        (served(tool_calling=False), "json", "cannot call tools, but can be held"),
        (served(tool_calling=False, structured_output=False), "text", "no JSON schema"),
    ],
)
def test_auto_goes_by_what_the_model_can_do(model, name, why):
    chosen, reason = choose(model, "auto", BOX)
    assert chosen == name
    assert why in reason


@pytest.mark.parametrize("wanted", DIALECTS)
def test_a_wanted_dialect_is_taken(wanted):
    assert choose(fake(), wanted, BOX) == (wanted, f"{wanted} was asked for")


def test_each_dialect_has_a_lower_one_down_to_text():
    assert [lower("native"), lower("json"), lower("text")] == ["json", "text", None]
    assert list(DIALECTS) == ["text", "json", "native"]


@pytest.mark.parametrize(
    ("name", "status", "message"),
    [
        ("native", 400, "registry.ollama.ai/library/gemma:2b does not support tools"),
        ("native", 400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
        ("native", 404, "No endpoints found that support tool use."),
        ("native", 500, "tools param requires --jinja flag"),
        ("native", 422, "Extra inputs are not permitted: tool_choice"),
        ("native", 400, "Unrecognized request argument supplied: functions"),
        ("json", 400, "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model."),
        ("json", 400, "failed to parse grammar"),
        ("json", 501, "guided decoding is not implemented"),
    ],
)
def test_a_refusal_of_the_dialect_is_recognised(name, status, message):
    assert refused(Refusal(status, message), name)


@pytest.mark.parametrize(
    ("name", "status", "message"),
    [
        ("native", 429, "rate limit reached for tools"),
        ("native", 401, "this key may not use tools"),
        ("native", 500, "internal error in tool worker"),
        ("native", 400, "maximum context length is 8192 tokens, tools included"),
        ("native", 400, "An assistant message with 'tool_calls' must be followed by tool messages"),
        ("native", 400, "temperature must be at most 2"),
        ("json", 400, "this model does not support tools"),
    ],
)
def test_other_errors_are_not_refusals(name, status, message):
    assert not refused(Refusal(status, message), name)


def test_an_error_without_a_status_is_a_refusal_only_if_nothing_is_implemented():
    assert refused(NotImplementedError(), "native")
    assert not refused(ConnectionError("tools"), "native")
