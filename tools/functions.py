"""A Python function as a tool: the JSON Schema of its parameters, and JSON values brought to its types."""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from tools.injected import KEY, TRANSACTION, injected
from tools.observation import ToolFailure
from tools.schemas import about, is_field, is_json


@dataclass(frozen=True)
class Parameter:
    """A parameter that the model fills."""

    name: str
    type: Any
    default: Any = inspect.Parameter.empty

    @property
    def required(self) -> bool:
        """Whether it has no default."""
        return self.default is inspect.Parameter.empty


@dataclass(frozen=True)
class Signature:
    """What a function takes."""

    parameters: list[Parameter]
    injected: list[str]
    """Parameters without a default that LangChain or LangGraph fills."""
    others: Any = None
    """The type of `**kwargs`; None where there are none."""


def signature(function: Callable[..., Any]) -> Signature:
    """The parameters of a function, by who fills them.

    Raises:
        TypeError, NameError, ValueError: they cannot be read, or not be given by name.
    """
    hints = _hints(function)
    parameters: list[Parameter] = []
    wanting: list[str] = []
    others = None
    for name, found in inspect.signature(function).parameters.items():
        kind, given = hints.get(name, Any), found.default
        if found.kind is found.POSITIONAL_ONLY:
            raise TypeError(f"its parameter {name} cannot be given by name")
        if found.kind is found.VAR_KEYWORD:
            others = kind
        elif found.kind is found.VAR_POSITIONAL:
            continue
        elif not injected(name, kind):
            parameters.append(_parameter(name, kind, given))
        elif given is found.empty and name not in (KEY, TRANSACTION):
            wanting.append(name)
    return Signature(parameters, wanting, others)


def schema(taken: Signature) -> dict[str, Any]:
    """The JSON Schema of the parameters that the model fills."""
    properties: dict[str, Any] = {}
    definitions: dict[str, Any] = {}
    for parameter in taken.parameters:
        described = about(parameter.type)
        definitions |= described.pop("$defs", {})
        if isinstance(parameter.default, (str, int, float, bool, type(None))) and not parameter.required:
            described["default"] = parameter.default
        properties[parameter.name] = described
    made: dict[str, Any] = {"type": "object", "properties": properties}
    if required := [parameter.name for parameter in taken.parameters if parameter.required]:
        made["required"] = required
    if taken.others is not None:
        made["additionalProperties"] = about(taken.others) or True
    if definitions:
        made["$defs"] = definitions
    return made


def adapted(function: Callable[..., Any], taken: Signature) -> Callable[..., Any]:
    """The function itself where JSON values fit its types, else one that first brings them there (a date, a model)."""
    rich = {each.name: each for each in taken.parameters if not is_json(each.type) or _from_field(each)}
    if not rich:
        return function

    @functools.cache
    def adapter(name: str) -> Any:
        from pydantic import TypeAdapter

        return TypeAdapter(rich[name].type)

    def converted(args: dict[str, Any]) -> dict[str, Any]:
        defaults = {name: each.default for name, each in rich.items() if _from_field(each) and name not in args}
        return defaults | {
            name: _brought(adapter(name), name, args[name]) if name in rich else args[name] for name in args
        }

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def arun(**args: Any) -> Any:
            return await function(**converted(args))

        return arun

    @functools.wraps(function)
    def run(**args: Any) -> Any:
        return function(**converted(args))

    return run


def _brought(adapter: Any, name: str, value: Any) -> Any:
    from pydantic import ValidationError

    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(part) for part in (name, *first["loc"]))
        raise ToolFailure(f"wrong arguments: {where}: {first['msg']}") from error


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    """Annotations with names resolved; that of the result is left alone, it may name what is not imported."""
    target: Any = inspect.unwrap(function)
    while isinstance(target, functools.partial):
        target = target.func
    if isinstance(target, type):
        target = vars(target).get("__init__", target)
    elif not hasattr(target, "__code__") and not hasattr(target, "__func__"):
        target = type(target).__call__ if hasattr(type(target).__call__, "__code__") else target
    noted = {name: kind for name, kind in getattr(target, "__annotations__", {}).items() if name != "return"}
    names = getattr(target, "__globals__", {})
    return typing.get_type_hints(types.SimpleNamespace(__annotations__=noted), names, include_extras=True)


def _parameter(name: str, kind: Any, given: Any) -> Parameter:
    """A parameter; a `Field(…)` in the place of its default describes it, as pydantic's own functions allow."""
    if type(given).__name__ == "FieldInfo":
        default = inspect.Parameter.empty if given.is_required() else given.get_default(call_default_factory=True)
        return Parameter(name, Annotated[kind, given], default)
    return Parameter(name, kind, given)


def _from_field(parameter: Parameter) -> bool:
    return not parameter.required and any(map(is_field, getattr(parameter.type, "__metadata__", ())))
