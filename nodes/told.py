"""What a reply tells, as the state keeps it: one message for a move, or the error of a reply that is none."""

from __future__ import annotations

import logging
import re
from typing import Any

from langchain_core.messages import AIMessage

from nodes.dialects.choice import DIALECTS
from nodes.move import Call, CallError, FormatError, Move
from nodes.state import Run, Turn, Update
from tools.toolbox import Toolbox

logger = logging.getLogger("reasonact")
KEPT_REPLY = 2_000
"""Characters of an unreadable reply that are kept for the model and the auditor."""


def told(reply: AIMessage, dialect: str, toolbox: Toolbox, run: Run, used_ids: set[str], seconds: float) -> Update:
    """Read a reply that took `seconds`; a move becomes a message of the history, what is no move an error of this turn.

    While the run is closing, only an answer counts.
    """
    try:
        move = DIALECTS[dialect].parse(reply, toolbox)
    except FormatError as error:
        return _unreadable(reply, error, run)
    if run["closing"] and move.answer is None:
        return _unreadable(reply, FormatError("no_action", "asked for the best answer so far, it gave none"), run)
    facts = {"dialect": dialect, "step": run["step"] + 1, "seconds": round(seconds, 3)}
    return _move(reply, move, run, used_ids, facts)


def _unreadable(reply: AIMessage, error: FormatError, run: Run) -> Update:
    text = reply.text.strip() or _calls_as_text(reply)
    turn: Turn = {"error": {"kind": error.kind, "sentence": error.sentence, "reply": text[:KEPT_REPLY]}}
    counted = {
        **run,
        "repairs": run["repairs"] + 1,
        "repairs_in_a_row": run["repairs_in_a_row"] + 1,
        "failed": [*run["failed"], {"number": run["step"] + 1, "kind": error.kind, "sentence": error.sentence}],
    }
    return {"run": counted, "turn": turn}


def _calls_as_text(reply: AIMessage) -> str:
    calls = [*reply.tool_calls, *reply.invalid_tool_calls]
    return "\n".join(f"{call['name']}({call['args']})" for call in calls)


def _move(reply: AIMessage, move: Move, run: Run, used_ids: set[str], facts: dict[str, Any]) -> Update:
    turn: Turn = {}
    asked: list[Call | CallError] = [*move.calls, *move.call_errors]
    ids = [_unused(call.id, used_ids, run, index) for index, call in enumerate(asked)]
    calls = [_stored(call, id) for call, id in zip(asked, ids, strict=True)]
    if move.answer is not None:
        turn["answer"] = move.answer
    if move.call_errors:
        turn["unread"] = dict(zip(ids[len(move.calls) :], (e.sentence for e in move.call_errors), strict=True))
    if move.dropped:
        logger.info("step %s: not used from the reply: %s", run["step"] + 1, "; ".join(move.dropped))
        turn["dropped"] = list(move.dropped)
        turn["note"] = "Not used from your last reply: " + "; ".join(move.dropped) + "."
    extra = {name: text for name, text in (("thought", move.thought), ("reasoning", move.reasoning)) if text}
    if move.answer is None:
        extra.pop("thought", None)
    message = AIMessage(
        content=move.thought if move.answer is None else move.answer,
        tool_calls=calls,
        id=_unused(reply.id or "", used_ids, run, 0),
        usage_metadata=reply.usage_metadata,
        additional_kwargs=extra,
        response_metadata=_metadata(reply) | facts,
    )
    return {"messages": [message], "run": {**run, "repairs_in_a_row": 0}, "turn": turn}


def _unused(given: str, used: set[str], run: Run, index: int) -> str:
    id = given if given and given not in used else f"{run['id'][:12]}-{run['step'] + 1}-{index}"
    used.add(id)
    return id


def _stored(call: Call | CallError, id: str) -> Any:
    if isinstance(call, Call):
        return {"name": call.name, "args": call.args, "id": id, "type": "tool_call"}
    accepted = re.sub(r"[^a-zA-Z0-9_-]", "_", call.name)[:64] or "unnamed"
    return {"name": accepted, "args": {}, "id": id, "type": "tool_call"}


def _metadata(reply: AIMessage) -> dict[str, Any]:
    kept = ("finish_reason", "model_name", "model")
    return {name: reply.response_metadata[name] for name in kept if name in reply.response_metadata}
