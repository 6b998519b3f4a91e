"""A tool: what the model may call, and what calling it means for the world."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

Effect = Literal["read", "egress", "write", "irreversible"]
"""read: changes nothing, tells nobody. egress: sends something out. write: can be undone. irreversible: cannot."""


class ToolError(ValueError):
    """Something handed over as a tool cannot be one; the message says what to change."""


@dataclass(frozen=True)
class Tool:
    """A function the model may call, with the facts that decide when it may.

    A tool whose effect is not declared is treated as the worst kind: a person is asked before it runs.
    """

    name: str
    """What the model writes to call it; unique in a toolbox."""
    description: str
    """What it does and when to use it: the model's manual."""
    function: Callable[..., Any] | None
    """Sync or async, called with the arguments by keyword; None is a schema alone, which can be read but not run."""
    schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})
    """JSON Schema (2020-12) of the arguments, an object."""
    effect: Effect | None = None
    """What calling it does to the world; None is unknown and needs approval."""
    cap: int | None = None
    """Calls allowed in one run; None takes the number from `Limits`."""
    rate: int | None = None
    """Calls allowed in one minute, over all runs; None takes the number from `Limits`."""
    timeout: float | None = None
    """Seconds one call may take; None takes the number from `Limits`."""
    idempotent: bool = False
    """Calling it twice with the same arguments is the same as calling it once."""
    repeatable: bool = False
    """The same call may rightly return the same again and again (polling); the loop rules leave it alone."""
    returns_answer: bool = False
    """What it returns is the answer of the run; its failure is not."""

    def __post_init__(self) -> None:
        if not self.name or self.name != self.name.strip():
            raise ToolError(f"a tool needs a name without spaces around it, got {self.name!r}")
        if self.effect is not None and self.effect not in get_args(Effect):
            raise ToolError(
                f"tool {self.name}: effect must be one of {', '.join(get_args(Effect))} or None, got {self.effect!r}"
            )

    @property
    def writes(self) -> bool:
        """Whether a call may change the world; unknown counts as yes."""
        return self.effect not in ("read", "egress")

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The JSON Schema of each parameter by name."""
        return cast(Mapping[str, Any], self.schema.get("properties", {}))

    @property
    def required(self) -> list[str]:
        """Names of the parameters that have no default."""
        return list(self.schema.get("required", ()))

    @classmethod
    def of(cls, thing: Any) -> Tool:
        """Take a `Tool`, a LangChain tool, a plain function or a function schema as a tool.

        Raises:
            ToolError: `thing` is none of these, or a function without a name or a readable signature.
        """
        if isinstance(thing, cls):
            return thing
        if isinstance(thing, Mapping):
            return _from_schema(thing)
        if hasattr(thing, "args_schema") and hasattr(thing, "invoke"):
            return _from_langchain(thing)
        if callable(thing):
            return _from_function(thing)
        raise ToolError(f"cannot make a tool of {type(thing).__name__}: give a Tool, a LangChain tool or a function")


def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    effect: Effect | None = None,
    **facts: Any,
) -> Any:
    """Make a `Tool` of a function, with its facts: `@tool(effect="read")`.

    Name, description and schema come from the function's name, docstring and signature unless given.
    """

    def make(function: Callable[..., Any]) -> Tool:
        plain = _from_function(function, name=name, description=description)
        return Tool(plain.name, plain.description, plain.function, plain.schema, effect=effect, **facts)

    return make if function is None else make(function)


def _from_function(function: Callable[..., Any], *, name: str | None = None, description: str | None = None) -> Tool:
    from langchain_core.tools import StructuredTool

    called = name or getattr(function, "__name__", "")
    if called in ("", "<lambda>"):
        raise ToolError("a function used as a tool needs a name: define it with def, or wrap it in Tool(name=…)")
    manual = description or inspect.getdoc(function) or called
    sync = None if inspect.iscoroutinefunction(function) else function
    try:
        made = StructuredTool.from_function(
            func=sync,
            coroutine=function if sync is None else None,
            name=called,
            description=manual,
            parse_docstring=False,
        )
    except Exception as error:
        raise ToolError(f"cannot read the signature of {called}: {error}") from error
    return Tool(called, manual, function, _schema(made))


def _from_langchain(given: BaseTool) -> Tool:
    from langchain_core.tools import StructuredTool

    function: Callable[..., Any] | None = None
    if type(given) is StructuredTool and not _injects(given):
        function = given.func or given.coroutine
    metadata = given.metadata or {}
    return Tool(
        given.name,
        given.description,
        function or _invoker(given),
        _schema(given),
        effect=metadata.get("effect"),
        returns_answer=bool(given.return_direct),
    )


def _injects(given: BaseTool) -> bool:
    return set(given.get_input_schema().model_json_schema().get("properties", {})) != set(given.args)


def _invoker(given: BaseTool) -> Callable[..., Any]:
    """A LangChain tool with machinery of its own (injected arguments, callbacks) is run through its own `invoke`."""
    only_async = type(given)._run is not None and getattr(given, "func", given) is None
    if only_async:

        async def ainvoke(**args: Any) -> Any:
            return await given.ainvoke(args)

        return ainvoke

    def invoke(**args: Any) -> Any:
        return given.invoke(args)

    return invoke


def _schema(given: BaseTool) -> dict[str, Any]:
    shown = given.tool_call_schema
    schema = dict(shown) if isinstance(shown, dict) else shown.model_json_schema()
    kept = {key: schema[key] for key in ("properties", "required", "$defs", "additionalProperties") if key in schema}
    return {"type": "object", "properties": {}, **kept}


def _from_schema(given: Mapping[str, Any]) -> Tool:
    inner = given.get("function", given)
    if not isinstance(inner, Mapping) or "name" not in inner:
        raise ToolError("a tool given as a mapping must be a function schema with a name")
    schema = inner.get("parameters") or inner.get("input_schema") or {"type": "object", "properties": {}}
    return Tool(inner["name"], inner.get("description", inner["name"]), None, schema)
