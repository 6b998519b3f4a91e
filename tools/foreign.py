"""A LangChain tool as one of ours: its schema, its facts, and how it is run with what it wants injected."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any, get_type_hints

from tools.injected import KEY, injected
from tools.observation import ToolFailure

FACTS = ("effect", "cap", "rate", "timeout", "idempotent", "repeatable", "untrusted", "reconcile")
"""What a LangChain tool may say about itself in its `metadata`."""

_SUPPLIED = ("InjectedState", "InjectedStore", "InjectedToolCallId", "ToolRuntime")


def facts(given: Any) -> dict[str, Any]:
    """The fields of a `Tool` for a LangChain tool.

    Raises:
        TypeError: it wants the state of a graph, which no tool of this agent sees.
    """
    metadata = given.metadata or {}
    return {
        "name": given.name,
        "description": given.description or given.name,
        "function": runner(given),
        "schema": schema(given),
        "returns_answer": bool(given.return_direct),
        **{fact: metadata[fact] for fact in FACTS if fact in metadata},
    }


def schema(given: Any) -> dict[str, Any]:
    """The JSON Schema of what the model fills."""
    if given.args_schema is None and any(kind.__name__ == "Tool" for kind in type(given).__mro__):
        # LangChain's oldest kind takes one text, and shows the signature of its own machinery instead.
        return {"type": "object", "properties": dict(given.args), "required": list(given.args)}
    shown = given.tool_call_schema
    if not isinstance(shown, dict):
        shown = shown.model_json_schema() if hasattr(shown, "model_json_schema") else shown.schema()
    # A copy: LangChain keeps the schema it gave and gives it again.
    whole = dict(shown)
    properties = {name: about for name, about in (whole.get("properties") or {}).items() if name != KEY}
    required = [name for name in whole.pop("required", None) or () if name in properties]
    kept = {key: value for key, value in whole.items() if key not in ("title", "description")}
    return {**kept, "type": "object", "properties": properties} | ({"required": required} if required else {})


def runner(given: Any) -> Callable[..., Any]:
    """A function that runs the tool through its own `invoke`, which validates, traces and injects."""
    extras = _injected(given)
    if "InjectedState" in extras.values():
        raise TypeError("it wants the graph's state (InjectedState); pass what it needs as an argument instead")
    as_call = bool(given.handle_tool_error or extras)

    def asked(args: dict[str, Any]) -> Any:
        if not as_call:
            return args
        made = f"call_{uuid.uuid4().hex}"
        extra = {name: _supplied(kind, made) for name, kind in extras.items() if kind != "InjectedToolCallId"}
        return {"type": "tool_call", "id": made, "name": given.name, "args": {**args, **extra}}

    async def arun(**args: Any) -> Any:
        return _result(await given.ainvoke(asked(args)))

    def run(**args: Any) -> Any:
        try:
            return _result(given.invoke(asked(args)))
        except NotImplementedError:
            # The subclass has only `_arun`: whoever called gets something to wait for.
            return arun(**args)

    return arun if getattr(given, "func", given) is None else run


def _result(value: Any) -> Any:
    """What a tool returned; a message that stands for a handled error is the failure it was."""
    if getattr(value, "type", "") == "tool" and getattr(value, "status", "") == "error":
        raise ToolFailure(str(value.content))
    return value


def _injected(given: Any) -> dict[str, str]:
    """The parameters of a LangChain tool that it does not fill by itself nor the model, with the kind of each."""
    from langchain_core.tools.base import get_all_basemodel_annotations

    function = getattr(given, "func", None) or getattr(given, "coroutine", None) or given._run
    annotations = _hints(function) | get_all_basemodel_annotations(given.get_input_schema())
    kinds = {name: injected(name, annotation) for name, annotation in annotations.items()}
    return {name: kind for name, kind in kinds.items() if kind in _SUPPLIED}


def _hints(function: Any) -> dict[str, Any]:
    try:
        return {name: kind for name, kind in get_type_hints(function, include_extras=True).items() if name != "return"}
    except NameError:
        return {}


def _supplied(kind: str, call_id: str) -> Any:
    """The store of the running graph, or a runtime with an empty state; None and empty outside of a graph."""
    from langchain_core.runnables.config import ensure_config
    from langgraph.prebuilt import ToolRuntime
    from langgraph.runtime import get_runtime

    config = ensure_config()
    try:
        runtime: Any = get_runtime()
    except Exception:
        runtime = None
    store = getattr(runtime, "store", None)
    if kind == "InjectedStore":
        return store
    writer = getattr(runtime, "stream_writer", lambda _: None)
    context = getattr(runtime, "context", None)
    return ToolRuntime(
        state={}, context=context, config=config, stream_writer=writer, tool_call_id=call_id, store=store
    )
