"""The failure shapes that public projects met, each with what a good parser returns."""

import json
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage
from langchain_openai.chat_models.base import _convert_dict_to_message

from nodes.dialects import json as json_dialect
from nodes.dialects import native, text
from nodes.move import FormatError
from tools.toolbox import Toolbox

DIALECTS = {"text": text, "json": json_dialect, "native": native}
FILE = Path(__file__).parent / "data" / "model_output.jsonl"
CASES = [json.loads(line) for line in FILE.read_text(encoding="utf-8").split("\n") if line]
DECIDED = {
    "C032": {"error": "unknown_tool"},
    "C076": {"error": "empty_output"},
    "C154": {"error": "unknown_tool"},
}
"""Cases of low confidence with two readings, of which the stricter one is ours."""


def toolbox(tools):
    return Toolbox([_schema(name, parameters) for name, parameters in tools.items()])


def _schema(name, parameters):
    properties = {key: {"type": kind} for key, kind in parameters.items()}
    return {"name": name, "parameters": {"type": "object", "properties": properties, "required": list(parameters)}}


def reply(given):
    if isinstance(given, str):
        return AIMessage(given, response_metadata={"finish_reason": "stop"})
    told = {"finish_reason": given["finish_reason"]}
    if "text" in given:
        return AIMessage(given["text"], response_metadata=told)
    message = _message(given)
    message.response_metadata = told
    return message


def _message(given):
    """As LangChain's client makes it; arguments that it refuses come as a call it could not read."""
    try:
        return _convert_dict_to_message({"role": "assistant", **given})
    except ValueError:
        calls = []
        for call in given["tool_calls"]:
            args = call["function"]["arguments"]
            written = args if isinstance(args, str) else json.dumps(args)
            unread = {"id": call["id"], "name": call["function"]["name"], "args": written, "error": None}
            calls.append({"type": "invalid_tool_call", **unread})
        return AIMessage(given["content"], invalid_tool_calls=calls)


def outcome(case):
    try:
        move = DIALECTS[case["dialect"]].parse(reply(case["input"]), toolbox(case["tools"]))
    except FormatError as error:
        return {"error": error.kind}
    calls = [{"name": call.name, "args": call.args} for call in move.calls]
    found = {"thought": move.thought, "calls": calls, "answer": move.answer}
    if move.call_errors:
        found["call_errors"] = [{"id": error.id, "error": error.error} for error in move.call_errors]
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['id']}-{case['tag']}")
def test_a_case_reads_as_it_should(case):
    assert outcome(case) == DECIDED.get(case["id"], case["expected"]), case["why"]


def test_only_cases_of_low_confidence_are_decided_otherwise():
    assert all(case["confidence"] == "low" for case in CASES if case["id"] in DECIDED)
