"""Tokens as the provider counts them, else an estimate that does not read the history again."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from nodes.begin import fresh
from nodes.tokens import estimate, spent


def run(context: int) -> Any:
    return {**fresh("r", "q", "en")["run"], "context_tokens": context}


def test_the_providers_count_wins() -> None:
    usage: Any = {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10}
    assert spent(AIMessage("x" * 400, usage_metadata=usage), [], [], run(50)) == (7, 3)


def test_without_it_only_what_is_new_is_estimated() -> None:
    request = [HumanMessage("x" * 4000)]
    first, wrote = spent(AIMessage("y" * 40), request, [], run(0))
    assert first == 1001 and wrote == 11
    later, _ = spent(AIMessage("y"), request * 1000, [ToolMessage("z" * 400, tool_call_id="c")], run(first + wrote))
    assert later == first + wrote + 101


def test_chinese_costs_more_than_a_quarter() -> None:
    assert estimate("今天天气怎么样" * 10) > 2 * estimate("a" * 70)
