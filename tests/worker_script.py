"""A worker with a model that needs no network: python -m tests.worker_script URL [--once]."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from graphs.fenced import Fenced
from graphs.react import build
from reasonact.settings import Settings
from reasonact.worker import run_worker
from tests.walking import calls
from tools.database import Database, Transaction
from tools.tool import Tool

HEARTBEAT = 0.5
TABLE = "CREATE TABLE IF NOT EXISTS effects (thread TEXT NOT NULL, amount INTEGER NOT NULL, worker INTEGER NOT NULL)"


class Payer(BaseChatModel):
    """Goes by the history alone: `NAME pays N times` becomes N calls of pay, each after the other, then an answer."""

    def _llm_type(self) -> str:  # type: ignore[override]
        return "payer"

    def _generate(self, messages: list[Any], stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        place = max(i for i, message in enumerate(messages) if isinstance(message, HumanMessage))
        name, _, times, *_ = messages[place].text.split()
        paid = sum(isinstance(message, ToolMessage) for message in messages[place:])
        reply = calls(("pay", {"who": name, "amount": paid})) if paid < int(times) else AIMessage(f"{name} paid {paid}")
        return ChatResult(generations=[ChatGeneration(message=reply)])

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self.bind(tools=list(tools), **kwargs)


def payment(database: Database, seconds: float) -> Tool:
    def pay(who: str, amount: int, transaction: Transaction) -> str:
        transaction.run("INSERT INTO effects VALUES (?, ?, ?)", who, amount, os.getpid())
        time.sleep(seconds)
        return f"paid {amount}"

    properties = {"who": {"type": "string"}, "amount": {"type": "integer"}}
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return Tool("pay", "Pays.", pay, schema, effect="irreversible", rate=0, database=database)


def agent(saver: Fenced, settings: Settings, seconds: float = 0.02) -> Any:
    model = Payer(profile={"tool_calling": True})  # type: ignore[call-arg]
    tools = [payment(saver.records.database, seconds)]
    return build(model, tools, approve=settings.approve or "risky", checkpointer=saver, dialect="native")  # type: ignore[arg-type]


if __name__ == "__main__":
    slow = float(sys.argv[2]) if len(sys.argv) > 2 else 0.02
    run_worker(
        sys.argv[1],
        4,
        lambda saver, settings: agent(saver, settings, slow),
        once="--once" in sys.argv,
        heartbeat=HEARTBEAT,
    )
