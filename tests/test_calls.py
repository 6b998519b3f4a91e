"""A call is started once and finished once; a broken one is taken up by what its tool promises."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from nodes.call_rows import found
from nodes.calls import Admission, Calls
from nodes.decisions import Decisions
from nodes.leases import LeaseLost
from nodes.order import Order
from nodes.policy import Policy
from nodes.records import Records
from nodes.runs import Runs
from tools.database import Database
from tools.orders import shop_tools
from tools.tool import Tool
from tools.toolbox import Toolbox

PAY = Tool(
    "pay",
    "Pay.",
    lambda amount: amount,
    {"type": "object", "properties": {"amount": {"type": "integer"}}},
    "irreversible",
)
LOOK = Tool("look", "Look.", lambda: 1, effect="read")
KEYED = Tool("keyed", "Pay.", lambda amount, idempotency_key: amount, effect="write")
ASKING = Tool("asking", "Pay.", lambda amount: amount, effect="write", reconcile=lambda key, args: None)
UNKNOWN = "unknown"


class Ledger:
    """The parts of a ledger over one database."""

    def __init__(self, database: Database, policy: Policy | None = None) -> None:
        self.records = Records(database)
        self.toolbox = Toolbox([PAY, LOOK, KEYED, ASKING, *shop_tools(database)])
        self.policy = policy or Policy()
        self.calls = Calls(self.records, self.policy, self.toolbox)
        self.decisions = Decisions(self.records, self.policy, self.toolbox)
        self.run = Runs(self.records).begin("t", {"id": "q", "text": "q", "before": ""}, "ann", None)

    def order(self, tool: Tool, index: int = 0, **args: Any) -> Order:
        return {
            "id": f"c{index}", "uid": f"{self.run}/1/{index}/b", "name": tool.name, "args": args, "run_id": self.run,
            "step": 1, "index": index, "seconds": 0.0, "decision": None,
        }  # fmt: skip

    def approve(self, order: Order) -> None:
        self.decisions.ask("t", order, "question")
        self.decisions.decide(order["uid"], "question", {"type": "approve", "call": ""}, "ben")

    def start(self, order: Order, fence: int | None = None) -> Admission:
        return self.calls.start("t", order, self.toolbox[order["name"]], fence)

    def status(self, order: Order) -> str:
        with self.records.database.transaction() as transaction:
            return str((found(transaction, order["uid"]) or {})["status"])


@pytest.fixture
def ledger(database_url: str) -> Iterator[Ledger]:
    database = Database(database_url)
    yield Ledger(database)
    database.close()


def seen(order: Order, text: str = "ok", code: str = "ok") -> dict[str, Any]:
    return {"call_id": order["id"], "args": order["args"], "text": text, "code": code, "seconds": 0.0}


def test_a_risky_call_starts_only_when_it_is_approved(ledger: Ledger) -> None:
    order = ledger.order(PAY, amount=1)
    assert "needs the approval" in str(ledger.start(order).refusal)
    ledger.decisions.ask("t", order, "question")
    assert "not decided" in str(ledger.start(order).refusal)
    ledger.approve(order)
    assert ledger.start(order).attempt == 1 and ledger.status(order) == "started"


def test_other_arguments_than_the_approved_ones_do_not_start(ledger: Ledger) -> None:
    order = ledger.order(PAY, amount=1)
    ledger.approve(order)
    assert "changed afterwards" in str(ledger.start({**order, "args": {"amount": 999}}).refusal)
    assert "changed afterwards" in str(ledger.calls.start("t", {**order, "name": "look"}, LOOK, None).refusal)
    assert ledger.start(order).attempt == 1


def test_of_many_that_start_one_call_at_once_one_may(ledger: Ledger) -> None:
    """Without a lease, as on a server that brings its own: the row alone decides."""
    for index in range(12):
        order, together = ledger.order(PAY, index, amount=1), threading.Barrier(8)
        ledger.approve(order)

        def start(_: int, order: Order = order, together: threading.Barrier = together) -> Admission:
            together.wait()
            return ledger.start(order, fence=1)

        with ledger.records.database.transaction() as transaction:
            transaction.run("INSERT INTO leases VALUES ('t', 'me', 1, 1e300) ON CONFLICT DO NOTHING")
        with ThreadPoolExecutor(8) as pool:
            admitted = [given for given in pool.map(start, range(8)) if given.attempt]
        assert len(admitted) == 1


def test_a_decision_stands(ledger: Ledger) -> None:
    order = ledger.order(PAY, amount=1)
    ledger.decisions.ask("t", order, "question")
    together = threading.Barrier(8)

    def decide(number: int) -> str:
        together.wait()
        kind: Any = "approve" if number % 2 else "reject"
        return ledger.decisions.decide(order["uid"], "question", {"type": kind, "call": ""}, f"p{number}")["type"]

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(decide, range(8)))) == 1, "everybody is told the one decision that stands"


def test_a_question_that_nobody_answered_in_time_is_closed(ledger: Ledger) -> None:
    order = ledger.order(PAY, amount=1)
    ledger.decisions.ask("t", order, "question")
    with ledger.records.database.transaction() as transaction:
        transaction.run("UPDATE tool_calls SET expires_at = 1")
    asked = ledger.decisions.ask("t", order, "question")
    assert asked.decision is not None and asked.decision["type"] == "expired" and ledger.status(order) == "expired"
    assert "its time has passed" in str(ledger.start(order).refusal)


def test_a_finished_call_answers_for_ever(ledger: Ledger) -> None:
    order = ledger.order(LOOK)
    attempt = ledger.start(order).attempt
    assert ledger.calls.finish(order, attempt, seen(order, "first"), "done")["text"] == "first"
    assert ledger.calls.finish(order, attempt, seen(order, "second"), "done")["text"] == "first"
    assert (ledger.start(order).observation or {})["text"] == "first"


@pytest.mark.parametrize(
    ("tool", "then"),
    [(PAY, "unknown"), (LOOK, "again"), (KEYED, "again"), (ASKING, "again")],
    ids=lambda x: getattr(x, "name", x),
)
def test_a_broken_call_is_taken_up_by_what_its_tool_promises(ledger: Ledger, tool: Tool, then: str) -> None:
    order = ledger.order(tool, **({} if tool is LOOK else {"amount": 1}))
    if tool is not LOOK:
        ledger.approve(order)
    first = ledger.start(order)
    second = ledger.start(order)
    if then == "unknown":
        assert (second.observation or {})["code"] == "unknown" and ledger.status(order) == "unknown"
    else:
        assert (second.attempt, second.broken) == (2, True)
        with pytest.raises(LeaseLost):
            ledger.calls.finish(order, first.attempt, seen(order), "done")
        ledger.calls.finish(order, second.attempt, seen(order), "done")


def test_a_key_that_the_service_may_have_forgotten_is_not_used_again(ledger: Ledger) -> None:
    order = ledger.order(KEYED, amount=1)
    ledger.approve(order)
    ledger.start(order)
    with ledger.records.database.transaction() as transaction:
        transaction.run("UPDATE tool_calls SET started_at = started_at - 90000")
    assert (ledger.start(order).observation or {})["code"] == "unknown"


def test_effect_and_record_are_there_together_or_not_at_all(ledger: Ledger) -> None:
    place = ledger.toolbox["place_order"]
    order = ledger.order(place, customer="Ada Lovelace", sku="TEA-01", quantity=1)
    assert place.effect_class(ledger.records.database) == "transactional" and place.function is not None
    ledger.approve(order)
    attempt = ledger.start(order).attempt

    def run(transaction: Any, fails: bool = False) -> dict[str, Any]:
        assert place.function is not None
        made = place.function(**order["args"], idempotency_key=order["uid"], transaction=transaction)
        if fails:
            raise RuntimeError("killed before the commit")
        return seen(order, str(made))

    def placed() -> int:
        with ledger.records.database.transaction() as transaction:
            return int((transaction.one("SELECT count(*) AS n FROM orders WHERE status = 'placed'") or {})["n"])

    with pytest.raises(RuntimeError):
        ledger.calls.together(order, attempt, lambda transaction: run(transaction, fails=True))
    assert ledger.status(order) == "started"
    again = ledger.start(order)
    ledger.calls.together(order, again.attempt, run)
    assert (ledger.status(order), placed()) == ("done", 1)
    ledger.calls.together(order, again.attempt, run)
    assert placed() == 1


def test_the_ledger_elsewhere_makes_the_shop_keyed(ledger: Ledger) -> None:
    assert ledger.toolbox["place_order"].effect_class(Database()) == "keyed"


def test_a_call_after_taint_needs_a_person(database_url: str) -> None:
    page = Tool("page", "Read a page.", lambda: 1, effect="read", untrusted=True)
    database = Database(database_url)
    ledger = Ledger(database, Policy(default="none"))
    ledger.calls = Calls(ledger.records, ledger.policy, Toolbox([page, PAY]))
    read = ledger.order(page)
    ledger.calls.finish(read, ledger.calls.start("t", read, page, None).attempt, seen(read), "done")
    later: Order = {**ledger.order(PAY, 1, amount=1), "step": 2, "uid": f"{ledger.run}/2/0/b"}
    assert "needs the approval" in str(ledger.calls.start("t", later, PAY, None).refusal)
    database.close()
