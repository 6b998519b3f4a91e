"""What a checkpoint can hold: a call that it cannot hold would stop its thread for good."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

DEEP = 100
"""Levels of nesting; LangGraph's serializer fails somewhere between 100 and 300."""


def storable(value: Any, depth: int = 0) -> bool:
    """Whether every integer has at most 64 bits and nothing lies deeper than `DEEP`."""
    if isinstance(value, Mapping):
        return depth < DEEP and all(storable(inner, depth + 1) for inner in value.values())
    if isinstance(value, list | tuple):
        return depth < DEEP and all(storable(inner, depth + 1) for inner in value)
    return not isinstance(value, int) or -(2**63) <= value < 2**63
