"""What a caller may set for one run; Studio shows it as a form."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

from langgraph.runtime import Runtime

DialectName = Literal["auto", "text", "json", "native"]


def _field(default: Any, description: str, **extra: Any) -> Any:
    return field(default=default, metadata={"description": description, "json_schema_extra": extra})


@dataclass(frozen=True, kw_only=True)
class Context:
    """Settings of one run; what is None keeps the value the graph was built with."""

    model: str | None = _field(
        None, "Model of this run, as provider:name, for example openai:gpt-5.5", langgraph_nodes=["think"]
    )
    system_prompt: str | None = _field(
        None, "Your own instructions, put before the agent's", langgraph_nodes=["think"], langgraph_type="prompt"
    )
    dialect: DialectName | None = _field(
        None, "How the model is spoken to: auto, text, json or native", langgraph_nodes=["think"]
    )
    language: Literal["auto", "en", "zh"] = _field(
        "auto", "Language of instructions and feedback; auto goes by the question", langgraph_nodes=["begin"]
    )
    max_steps: int | None = _field(None, "Calls of the model this run may take", langgraph_nodes=["guard"])

    def __post_init__(self) -> None:
        if self.dialect is not None and self.dialect not in get_args(DialectName):
            raise ValueError(f"dialect must be one of {', '.join(get_args(DialectName))}, got {self.dialect!r}")

    @classmethod
    def of(cls, runtime: Runtime[Any] | None) -> Context:
        """The context of this run; a caller may give none, or one of another class, of which the same names count."""
        given = getattr(runtime, "context", None)
        if isinstance(given, cls):
            return given
        if given is None:
            return cls()
        named = given if isinstance(given, dict) else vars(given)
        return cls(**{field.name: named[field.name] for field in fields(cls) if named.get(field.name) is not None})
