"""The steps of a run, read back from its messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from nodes.history import since
from nodes.state import Result, Run, Status, Step, Working
from nodes.wrapping import unwrap


def result(state: Working, status: Status, reason: str, answer: str | None) -> Result:
    """How the run ended, with everything it did."""
    run = state["run"]
    read, wrote = run["input_tokens"], run["output_tokens"]
    return {
        "status": status,
        "reason": reason,
        "answer": answer,
        "steps": steps_of(since(state["messages"], run["since"]), run),
        "tokens": {"input": read, "output": wrote, "total": read + wrote},
    }


def steps_of(messages: Sequence[BaseMessage], run: Run) -> list[Step]:
    """One step for each reply of the model, those that could not be read included, in order."""
    steps: list[Step] = [
        {"number": f["number"], "thought": "", "calls": [], "observations": [], "error": f["sentence"], "seconds": 0.0}
        for f in run["failed"]
    ]
    by_call: dict[str, Step] = {}
    for message in messages:
        if isinstance(message, AIMessage) and "step" in message.response_metadata:
            step = _step(message)
            steps.append(step)
            by_call |= {str(call["id"]): step for call in message.tool_calls}
        elif isinstance(message, ToolMessage) and message.tool_call_id in by_call:
            by_call[message.tool_call_id]["observations"].append(_observation(message))
    return sorted(steps, key=lambda step: step["number"])


def _step(message: AIMessage) -> Step:
    calls = [{"name": call["name"], "args": call["args"], "id": call["id"]} for call in message.tool_calls]
    thought = message.text if calls else message.additional_kwargs.get("thought", "")
    return {
        "number": message.response_metadata["step"],
        "thought": thought,
        "calls": calls,
        "observations": [],
        "seconds": message.response_metadata.get("seconds", 0.0),
    }


def _observation(message: ToolMessage) -> dict[str, Any]:
    facts = message.artifact or {}
    return {
        "call_id": message.tool_call_id,
        "number": facts.get("number", 0),
        "text": unwrap(message.text),
        "code": facts.get("code", "ok"),
        "seconds": facts.get("seconds", 0.0),
    }
