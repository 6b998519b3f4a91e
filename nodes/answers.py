"""Reading a person's answer to an approval, whichever client it comes from; what is unclear is asked again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from nodes.approval import DECISIONS, Decision, call_fingerprint
from nodes.order import sha256
from tools.arguments import InvalidArguments, coerce
from tools.tool import Tool


class UnclearAnswer(ValueError):
    """An answer that cannot count as a decision; the message tells the person why."""


_WORDS = {
    "approve": "approve", "approved": "approve", "accept": "approve", "yes": "approve", "y": "approve", "ok": "approve",
    "同意": "approve", "批准": "approve", "是": "approve",
    "edit": "edit",
    "reject": "reject", "rejected": "reject", "ignore": "reject", "no": "reject", "n": "reject", "deny": "reject",
    "拒绝": "reject", "否": "reject",
    "respond": "respond", "response": "respond",
}  # fmt: skip
_ALWAYS = ("always", "approve always", "总是同意")


def decide(answer: Any, call: Mapping[str, Any], tool: Tool) -> Decision:
    """Read an answer as the decision on `call`.

    Takes `{"decisions": [d]}`, a bare `d`, `[{"type", "args"}]`, AG-UI forms, `{"approved": bool}`, a bool, a word and
    JSON text. Free text is never consent.

    Raises:
        UnclearAnswer: it is none of these, or meant for another call, or an edit that the tool's schema refuses.
    """
    found = _unwrap(answer, call)
    word = str(found.get("type", "")).strip().casefold()
    kind = "approve" if word in _ALWAYS else _WORDS.get(word)
    if kind is None:
        raise UnclearAnswer(f"answer with one of {', '.join(DECISIONS)}")
    always = found.get("always", word in _ALWAYS)
    if not isinstance(always, bool) or (always and kind != "approve"):
        raise UnclearAnswer("always is true or false, and goes with approve only")
    if found.get("sha256") not in (None, sha256(call["name"], call["args"])):
        raise UnclearAnswer("the hash is that of other arguments than the open call's")
    if kind == "approve":
        _same_call(found, call, tool)
        approved: Any = {"type": "approve", "call": call_fingerprint(call["name"], call["args"]), **_why(found)}
        return cast(Decision, {**approved, "always": True} if always else approved)
    if kind == "edit":
        args = _edited(found, call, tool)
        return cast(
            Decision, {"type": "edit", "call": call_fingerprint(call["name"], args), "args": args, **_why(found)}
        )
    message = found.get("message", found.get("args"))
    if message is not None and not isinstance(message, str):
        raise UnclearAnswer(f"the message of {kind} must be text")
    if kind == "respond" and not (message or "").strip():
        raise UnclearAnswer("respond needs a message, which then stands as the observation")
    return {"type": kind, "call": call_fingerprint(call["name"], call["args"]), "message": message or ""}  # type: ignore[typeddict-item]


def _why(found: Mapping[str, Any]) -> Any:
    """The reason that a person gives for a consent; it is kept, and changes nothing."""
    why = found.get("message")
    return {"message": why} if isinstance(why, str) and why.strip() else {}


def _unwrap(answer: Any, call: Mapping[str, Any]) -> Mapping[str, Any]:
    for _ in range(6):
        if isinstance(answer, bool):
            return {"type": "approve" if answer else "reject"}
        if isinstance(answer, str):
            answer = _read_text(answer)
        elif isinstance(answer, (list, tuple)):
            answer = _only(answer)
        elif not isinstance(answer, Mapping):
            break
        elif (inner := _inside(answer)) is None:
            return answer
        else:
            answer = inner
    raise UnclearAnswer(f"this is no decision on {call['name']}: answer with one of {', '.join(DECISIONS)}")


def _inside(answer: Mapping[str, Any]) -> Any:
    """What a client's envelope holds; None if it is no envelope."""
    if answer.get("__agui_cancelled__"):
        return {"type": "reject", "message": "cancelled"}
    if "__agui_resume_map__" in answer:
        return list(answer["__agui_resume_map__"].values())
    if isinstance(answer.get("approved"), bool) and "type" not in answer:
        return {**answer, "type": "approve" if answer["approved"] else "reject"}
    return answer.get("decisions", answer.get("payload"))


def _read_text(text: str) -> Any:
    word = text.strip()
    if word.casefold() in (*_WORDS, *_ALWAYS):
        return {"type": word}
    try:
        read = json.loads(word)
    except (ValueError, RecursionError):
        read = None
    if isinstance(read, (Mapping, list, bool)):
        return read
    raise UnclearAnswer("free text is neither a yes nor a no; answer with approve, edit, reject or respond")


def _only(answers: Any) -> Any:
    if len(answers) != 1:
        raise UnclearAnswer(f"one decision is asked for, got {len(answers)}")
    return answers[0]


def _action(found: Mapping[str, Any]) -> Mapping[str, Any] | None:
    for field in ("edited_action", "editedAction", "action", "args"):
        value = found.get(field)
        if isinstance(value, Mapping):
            return value
    return None


def _same_call(found: Mapping[str, Any], call: Mapping[str, Any], tool: Tool) -> None:
    """An approval that names another call or other arguments comes from a stale page."""
    action = _action(found)
    if action is None:
        return
    name = action.get("name", action.get("action"))
    args = action.get("args", action.get("arguments"))
    if name is None and args is None:
        name, args = call["name"], action
    if name not in (None, call["name"]):
        raise UnclearAnswer(f"the approval names {name}, but {call['name']} is asked for")
    if isinstance(args, Mapping) and _as_stored(args, tool) != dict(call["args"]):
        raise UnclearAnswer("the approval names other arguments than the open call; use edit to change them")


def _as_stored(args: Mapping[str, Any], tool: Tool) -> dict[str, Any]:
    """The clients' forms send every value as text."""
    try:
        return coerce(tool, args)
    except InvalidArguments:
        return dict(args)


def _edited(found: Mapping[str, Any], call: Mapping[str, Any], tool: Tool) -> dict[str, Any]:
    action = _action(found)
    if action is None:
        raise UnclearAnswer("an edit needs edited_action with the arguments")
    name = action.get("name", action.get("action")) if ("args" in action or "arguments" in action) else None
    if name not in (None, call["name"]):
        raise UnclearAnswer(f"an edit cannot change the tool: {call['name']} is asked for, not {name}")
    args = action.get("args", action.get("arguments", action))
    if not isinstance(args, Mapping):
        raise UnclearAnswer("the edited arguments must be an object")
    try:
        return coerce(tool, args)
    except InvalidArguments as error:
        raise UnclearAnswer(f"the edited arguments do not fit: {error}") from error
