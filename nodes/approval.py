"""The approval contract: when a person is asked, what is shown, and what a decision is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from nodes.trail import fingerprint, key
from tools.tool import Tool

DECISIONS = ("approve", "edit", "reject", "respond")


class Decision(TypedDict):
    """What a person decided on one call."""

    type: Literal["approve", "edit", "reject", "respond", "expired"]
    """expired is what nobody decided in time."""
    call: str
    """Fingerprint of the call it was given for; an edit carries that of the edited call."""
    args: NotRequired[dict[str, Any]]
    """The arguments after an edit."""
    message: NotRequired[str]
    """The reason that was given, or the observation of a response."""
    always: NotRequired[bool]
    """Whether an approval holds for every call of the tool in this run."""


def call_fingerprint(name: str, args: Mapping[str, Any]) -> str:
    """What binds a decision to one call."""
    return fingerprint(key(name, args))


class Facts(TypedDict):
    """What else a person needs to know about a call."""

    sha256: str
    """Hash of the tool's name and the canonical arguments: what is approved, and what then runs."""
    expires_at: str
    """When the question can no longer be answered, ISO 8601 in UTC."""
    effect_class: str
    """What happens should the process die in the middle of it (see `tools.effects.EffectClass`)."""
    why: str
    """Why a person is asked."""
    untrusted: list[dict[str, Any]]
    """Arguments that hold text from an untrusted tool: argument, tool and number of the observation."""


def request(call: Mapping[str, Any], tool: Tool, thought: str, facts: Facts, error: str = "") -> dict[str, Any]:
    """The interrupt's payload: one action, with the key sets of every client that renders approvals.

    Sources: LangChain's HITLRequest (`action_requests`, `review_configs`), its per-call form (`type`, `name`, `args`),
    langgraph.prebuilt's HumanInterrupt (`action_request`, `config`) and AG-UI (`reason`, `message`, `tool_call_id`).
    """
    name, args = call["name"], call["args"]
    allowed = list(DECISIONS)
    description = _description(name, args, tool, thought, facts, error)
    return {
        "action_requests": [
            {"name": name, "args": args, "arguments": args, "description": description, "tool_call_id": call["id"]}
        ],
        "review_configs": [
            {
                "action_name": name,
                "allowed_decisions": allowed,
                "args_schema": dict(tool.schema),
                "actionName": name,
                "allowedDecisions": allowed,
            }
        ],
        "action_request": {"action": name, "args": args},
        "config": {"allow_accept": True, "allow_edit": True, "allow_respond": True, "allow_ignore": True},
        "description": description,
        "type": "tool_approval",
        "name": name,
        "args": args,
        "tool_call_id": call["id"],
        "effect": tool.effect or "unknown",
        "call": call_fingerprint(name, args),
        **facts,
        "thought": thought,
        "reason": "tool_approval",
        "message": description,
        "error": error,
    }


def _description(name: str, args: Mapping[str, Any], tool: Tool, thought: str, facts: Facts, error: str) -> str:
    shown = "\n".join(f"  {visible(field)}: {visible(value)}" for field, value in args.items()) or "  (no arguments)"
    parts = [f"{name} ({tool.effect or 'unknown effect'}) wants to run with:\n{shown}"]
    if error:
        parts.insert(0, f"The last answer was not used: {error}")
    for found in facts["untrusted"]:
        parts.append(
            f"Careful: {visible(found['argument'])} holds text from {found['tool']} (observation "
            f"{found['observation']}), which anybody may have written."
        )
    parts.append(f"Why you are asked: {facts['why']}. Answer by {facts['expires_at']}. Hash {facts['sha256'][:16]}.")
    if thought:
        parts.append(f"The model's thought: {visible(thought)}")
    parts.append("Answer approve, edit, reject or respond.")
    return "\n\n".join(parts)


def visible(value: Any) -> str:
    """A value in full on one line, with line breaks, control, bidirectional and zero-width characters escaped.

    On one line, so that no value can look like another argument beside it.
    """
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return "".join(mark if mark.isprintable() else _escaped(mark) for mark in text)


def _escaped(mark: str) -> str:
    code = ord(mark)
    return "\\n" if mark == "\n" else f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


RESPONSE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "type": {"type": "string", "enum": list(DECISIONS)},
        "message": {"type": "string", "description": "Why it is rejected, or what stands as the observation"},
        "always": {"type": "boolean", "description": "With approve: every call of this tool in this run"},
        "sha256": {"type": "string", "description": "The hash that was shown; another one is refused"},
        "edited_action": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "args": {"type": "object"}},
        },
    },
    "required": ["type"],
}
"""Published with the interrupt; advisory, because clients answer in several forms."""
