"""A tool: what the model may call, and what calling it means for the world."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast, get_args, overload

from tools import functions
from tools.database import Database
from tools.effects import Effect, EffectClass
from tools.injected import KEY, TRANSACTION, hidden


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
    untrusted: bool = False
    """What it returns may have been written by anybody: after it, only reading goes on unasked."""
    reconcile: Callable[[str, Mapping[str, Any]], Any] | None = None
    """Asks the service what became of a call that broke off, by key and arguments: its result, or None if it never saw
    it. What it raises leaves the call unknown."""
    database: Database | None = None
    """Where its changes go; with a parameter `transaction`, effect and record commit together."""

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

    @cached_property
    def hidden(self) -> frozenset[str]:
        """Which of `idempotency_key` and `transaction` the function takes; the model's schema never shows them."""
        return hidden(self.function)

    def effect_class(self, ledger: Database | None = None) -> EffectClass:
        """What follows when the process died in the middle of a call, where `ledger` holds the record of it."""
        if ledger is not None and self.database == ledger and TRANSACTION in self.hidden:
            return "transactional"
        if self.effect == "read" or self.idempotent:
            return "pure"
        if self.reconcile is not None:
            return "reconcilable"
        return "keyed" if KEY in self.hidden else "once"

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
        if hasattr(thing, "invoke") and (hasattr(thing, "args_schema") or isinstance(thing, type)):
            return _from_langchain(thing)
        if callable(thing):
            return _from_function(thing)
        raise ToolError(f"cannot make a tool of {type(thing).__name__}: give a Tool, a LangChain tool or a function")


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...


@overload
def tool(
    *, name: str | None = None, description: str | None = None, effect: Effect | None = None, **facts: Any
) -> Callable[[Callable[..., Any]], Tool]: ...


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
        return replace(_from_function(function, name=name, description=description), effect=effect, **facts)

    return make if function is None else make(function)


def _from_function(function: Callable[..., Any], *, name: str | None = None, description: str | None = None) -> Tool:
    called = name or getattr(function, "__name__", "") or getattr(getattr(function, "func", None), "__name__", "")
    called = called or type(function).__name__
    if called == "<lambda>":
        raise ToolError("a function used as a tool needs a name: define it with def, or wrap it in Tool(name=…)")
    manual = description or _manual(function) or called
    try:
        taken = functions.signature(function)
        schema = functions.schema(taken)
    except Exception as error:
        raise ToolError(f"cannot read the signature of {called}: {error}") from error
    if taken.injected:
        raise ToolError(
            f"{called} wants {', '.join(taken.injected)} injected: make it a LangChain tool, or give a default"
        )
    return Tool(called, manual, functions.adapted(function, taken), schema)


def _manual(function: Callable[..., Any]) -> str:
    """The docstring of a function, or of the class whose instance is called; never that of `functools.partial`."""
    target = getattr(function, "func", function)
    return inspect.getdoc(target) or inspect.getdoc(type(target).__call__) or ""


def _from_langchain(given: Any) -> Tool:
    from tools.foreign import facts

    if isinstance(given, type):
        raise ToolError(f"{given.__name__} is a class: give an instance of it, {given.__name__}()")
    try:
        return Tool(**facts(given))
    except ToolError:
        raise
    except Exception as error:
        raise ToolError(f"cannot make a tool of {given.name}: {error}") from error


def _from_schema(given: Mapping[str, Any]) -> Tool:
    inner = given.get("function", given)
    if not isinstance(inner, Mapping) or not isinstance(name := inner.get("name") or inner.get("title"), str):
        raise ToolError("a tool given as a mapping must be a function schema with a name")
    schema = inner.get("parameters") or inner.get("input_schema") or inner.get("inputSchema")
    if schema is None and "properties" in inner:
        schema = {key: value for key, value in inner.items() if key not in ("name", "title", "description")}
    if not isinstance(schema or {}, Mapping):
        raise ToolError(f"tool {name}: the schema of its parameters must be an object")
    described = inner.get("description")
    return Tool(name, described if isinstance(described, str) and described else name, None, _object(schema or {}))


def _object(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema as that of an object with named properties, which is what everybody else counts on."""
    return {**schema, "type": "object", "properties": schema.get("properties") or {}}
