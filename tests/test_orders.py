"""The shop does what is asked once, or refuses and changes nothing."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tools.observation import ToolFailure
from tools.orders import Shop, shop_tools


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path / "deep" / "shop.db")


def facts(shop: Shop) -> list[Any]:
    """Everything in the shop's file."""
    with closing(sqlite3.connect(shop.path)) as file:
        return [
            file.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()
            for table in ("customers", "products", "orders", "refunds", "done")
        ]


def stock(shop: Shop, sku: str) -> int:
    with closing(sqlite3.connect(shop.path)) as file:
        return int(file.execute("SELECT stock FROM products WHERE sku = ?", (sku,)).fetchone()[0])


def refunds(shop: Shop) -> int:
    with closing(sqlite3.connect(shop.path)) as file:
        return int(file.execute("SELECT count(*) FROM refunds").fetchone()[0])


def outcomes(calls: int, call: Callable[[int], Any]) -> list[Any]:
    """What `call` gives in as many threads at once: a result, or the refusal."""
    together = threading.Barrier(calls)

    def run(number: int) -> Any:
        together.wait()
        try:
            return call(number)
        except ToolFailure as refusal:
            return refusal

    with ThreadPoolExecutor(calls) as pool:
        return list(pool.map(run, range(calls)))


@pytest.mark.parametrize("customer", ["Ada Lovelace", " ada lovelace ", "ADA@example.com"])
def test_lists_a_customers_orders(shop: Shop, customer: str) -> None:
    first, second = shop.list_orders(customer)
    assert (first["order_id"], first["total"], first["status"]) == ("O-1001", "34.00 USD", "delivered")
    assert (second["order_id"], second["product"], second["quantity"]) == ("O-1002", "Green tea, 100 g", 3)


def test_lists_a_chinese_customers_orders(shop: Shop) -> None:
    assert [order["order_id"] for order in shop.list_orders("王小明")] == ["O-1005"]


def test_places_an_order_from_the_stock(shop: Shop) -> None:
    placed = shop.place_order("Grace Hopper", "tea-01", 4)
    assert (placed["order_id"], placed["total"], placed["status"]) == ("O-1006", "34.00 USD", "placed")
    assert stock(shop, "TEA-01") == 36
    assert shop.list_orders("Grace Hopper")[-1] == placed


def test_the_last_piece_can_be_ordered(shop: Shop) -> None:
    shop.place_order("Grace Hopper", "LAMP-01", 3)
    assert stock(shop, "LAMP-01") == 0
    with pytest.raises(ToolFailure, match="only 0 of LAMP-01"):
        shop.place_order("Grace Hopper", "LAMP-01", 1)


@pytest.mark.parametrize("order_id", ["O-1001", "1001", "#1001", "o1001", " order 1001 "])
def test_refunds_all_that_is_left(shop: Shop, order_id: str) -> None:
    done = shop.refund_order(order_id, "arrived broken")
    assert (done["order_id"], done["paid_back"], done["refunded"]) == ("O-1001", "34.00 USD", "34.00 USD")
    assert done["status"] == "refunded"


def test_refunds_a_part_and_then_the_rest(shop: Shop) -> None:
    assert shop.refund_order("O-1001", "a scratch", "$10.5")["status"] == "partly refunded"
    assert shop.refund_order("O-1001", "another", "23.50")["status"] == "refunded"


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda shop: shop.list_orders("Nobody"), "no customer 'Nobody'"),
        (lambda shop: shop.list_orders(""), "no customer ''"),
        (lambda shop: shop.list_orders("' OR 1=1 --"), "no customer"),
        (lambda shop: shop.place_order("Nobody", "TEA-01", 1), "no customer"),
        (lambda shop: shop.place_order("Ada Lovelace", "GOLD", 1), "no product 'GOLD'; there are CUP-02, LAMP-01"),
        (lambda shop: shop.place_order("Ada Lovelace", "TEA-01", 0), "above 0"),
        (lambda shop: shop.place_order("Ada Lovelace", "TEA-01", -3), "above 0"),
        (lambda shop: shop.place_order("Ada Lovelace", "TEA-01", True), "above 0"),
        (lambda shop: shop.place_order("Ada Lovelace", "TEA-01", 1.5), "above 0"),
        (lambda shop: shop.place_order("Ada Lovelace", "POT-01", 7), "only 6 of POT-01"),
        (lambda shop: shop.place_order("Ada Lovelace", "POT-01", 10**40), "only 6 of POT-01"),
        (lambda shop: shop.refund_order("O-9999", "broken"), "no order 'O-9999'"),
        (lambda shop: shop.refund_order("all", "broken"), "no order 'all'"),
        (lambda shop: shop.refund_order("9" * 50, "broken"), "no order"),
        (lambda shop: shop.refund_order("O-1001", "  "), "needs a reason"),
        (lambda shop: shop.refund_order("O-1001", "x" * 501), "needs a reason"),
        (lambda shop: shop.refund_order("O-1001", "broken", "34.01"), "only 34.00 USD of order O-1001"),
        (lambda shop: shop.refund_order("O-1001", "broken", "0"), "above 0"),
        (lambda shop: shop.refund_order("O-1001", "broken", "-5"), "above 0"),
        (lambda shop: shop.refund_order("O-1001", "broken", "1.005"), "written like 12.50"),
        (lambda shop: shop.refund_order("O-1001", "broken", "1e3"), "written like 12.50"),
        (lambda shop: shop.refund_order("O-1001", "broken", "NaN"), "written like 12.50"),
        (lambda shop: shop.refund_order("O-1003", "broken", "49.51"), "only 49.50 USD"),
        (lambda shop: shop.refund_order("O-1004", "broken"), "already refunded in full"),
    ],
)
def test_refuses_and_changes_nothing(shop: Shop, call: Callable[[Shop], Any], why: str) -> None:
    shop.list_orders("Ada Lovelace")
    before = facts(shop)
    with pytest.raises(ToolFailure, match=why):
        call(shop)
    assert facts(shop) == before


def test_fifty_refunds_at_once_pay_once(shop: Shop) -> None:
    found = outcomes(50, lambda _: shop.refund_order("O-1001", "broken"))
    assert sum(isinstance(one, dict) for one in found) == 1
    assert all("already refunded" in str(one) for one in found if isinstance(one, ToolFailure))
    assert refunds(shop) == 3
    assert shop.list_orders("Ada Lovelace")[0]["refunded"] == "34.00 USD"


def test_fifty_part_refunds_at_once_never_pay_too_much(shop: Shop) -> None:
    found = outcomes(50, lambda _: shop.refund_order("O-1001", "broken", "1.00"))
    assert sum(isinstance(one, dict) for one in found) == 34


def test_orders_at_once_never_sell_more_than_there_is(shop: Shop) -> None:
    found = outcomes(20, lambda _: shop.place_order("Ada Lovelace", "POT-01", 1))
    assert sum(isinstance(one, dict) for one in found) == 6
    assert stock(shop, "POT-01") == 0


def test_the_first_use_from_many_shops_at_once(tmp_path: Path) -> None:
    found = outcomes(16, lambda _: Shop(tmp_path / "shop.db").list_orders("Ada Lovelace"))
    assert all(one == found[0] and len(one) == 2 for one in found)


def test_the_same_key_gives_the_first_result(shop: Shop) -> None:
    first = shop.place_order("Ada Lovelace", "TEA-01", 2, idempotency_key="run/1/0")
    assert shop.place_order("Ada Lovelace", "TEA-01", 2, idempotency_key="run/1/0") == first
    assert stock(shop, "TEA-01") == 38
    assert shop.place_order("Ada Lovelace", "TEA-01", 2, idempotency_key="run/2/0") != first


def test_fifty_refunds_with_one_key_pay_once_and_agree(shop: Shop) -> None:
    found = outcomes(50, lambda _: shop.refund_order("O-1002", "late", "5.00", idempotency_key="k"))
    assert all(one == found[0] and one["paid_back"] == "5.00 USD" for one in found)
    assert refunds(shop) == 3


def test_a_key_outlives_the_process(shop: Shop) -> None:
    first = shop.refund_order("O-1002", "late", "5.00", idempotency_key="k")
    assert Shop(shop.path).refund_order("O-1002", "late", "5.00", idempotency_key="k") == first


def test_a_key_is_for_one_call(shop: Shop) -> None:
    shop.refund_order("O-1002", "late", "5.00", idempotency_key="k")
    with pytest.raises(ToolFailure, match="used for another call"):
        shop.refund_order("O-1002", "late", "6.00", idempotency_key="k")


def test_a_refused_call_does_not_use_up_its_key(shop: Shop) -> None:
    with pytest.raises(ToolFailure):
        shop.refund_order("O-1002", "late", "500.00", idempotency_key="k")
    assert shop.refund_order("O-1002", "late", "5.00", idempotency_key="k")["paid_back"] == "5.00 USD"


def test_opening_again_keeps_what_was_done(shop: Shop) -> None:
    shop.place_order("Ada Lovelace", "POT-01", 6)
    assert len(Shop(shop.path).list_orders("Ada Lovelace")) == 3
    assert stock(shop, "POT-01") == 0


def test_a_file_that_was_deleted_is_made_again(shop: Shop) -> None:
    shop.list_orders("Ada Lovelace")
    for file in shop.path.parent.iterdir():
        file.unlink()
    assert len(shop.list_orders("Ada Lovelace")) == 2


def test_the_file_is_in_write_ahead_mode(shop: Shop) -> None:
    shop.list_orders("Ada Lovelace")
    with closing(sqlite3.connect(shop.path)) as file:
        assert file.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_the_tools_hide_the_key_and_declare_their_effects(tmp_path: Path) -> None:
    tools = {tool.name: tool for tool in shop_tools(tmp_path / "shop.db")}
    assert {name: tool.effect for name, tool in tools.items()} == {
        "list_orders": "read",
        "place_order": "write",
        "refund_order": "irreversible",
    }
    assert list(tools["place_order"].parameters) == tools["place_order"].required == ["customer", "sku", "quantity"]
    assert list(tools["refund_order"].parameters) == ["order_id", "reason", "amount"]
    assert tools["refund_order"].required == ["order_id", "reason"]
    assert list(tmp_path.iterdir()) == []
