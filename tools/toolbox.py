"""The tools of one agent, found by the name that a model wrote."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tools.tool import Tool, ToolError


class Toolbox(Mapping[str, Tool]):
    """Tools by name, in the order given.

    Raises:
        ToolError: two tools have one name, or something given cannot be a tool.
    """

    def __init__(self, tools: Iterable[Any] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        # LangGraph's ToolNode holds its tools by name.
        given = getattr(tools, "tools_by_name", None)
        for tool in map(Tool.of, tools if given is None else given.values()):
            if tool.name in self._tools:
                raise ToolError(f"two tools are named {tool.name!r}: give one of them another name")
            self._tools[tool.name] = tool
        self._normal: dict[str, list[Tool]] = {}
        for tool in self._tools.values():
            self._normal.setdefault(normal(tool.name), []).append(tool)

    def __getitem__(self, name: str) -> Tool:
        return self._tools[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)

    def __hash__(self) -> int:
        return id(self)

    def find(self, name: str) -> Tool | None:
        """The tool meant by `name`: exact, else the only one equal after normalising it."""
        if found := self._tools.get(name):
            return found
        alike = self._normal.get(normal(name), [])
        return alike[0] if len(alike) == 1 else None

    def nearest(self, name: str) -> str | None:
        """The registered name closest to `name`, as a hint for the model; never a reason to run it."""
        close = difflib.get_close_matches(normal(name)[:64], self._normal, n=1)
        return self._normal[close[0]][0].name if close else None


def normal(name: str) -> str:
    """`name` without the differences that carry no meaning: `Get-Weather`, `getWeather` and `get_weather` are one.

    Separators are made one kind, not dropped: `json_format` and `jsonformat` stay two tools.
    """
    folded = unicodedata.normalize("NFKC", name)
    marks = []
    for before, mark in zip(" " + folded, folded, strict=False):
        if mark.isupper() and (before.islower() or before.isdigit()):
            marks.append("_")
        marks.append(mark.casefold() if mark.isalnum() else "_")
    return "_".join(filter(None, "".join(marks).split("_")))
