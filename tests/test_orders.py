"""The shop does what is asked once, or refuses and changes nothing."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tools.database import Database
from tools.functions import schema, signature
from tools.observation import ToolFailure
from tools.orders import Shop, shop_tools

ROW = "CREATE TABLE rows (n INTEGER PRIMARY KEY)"
CHILD = """
import sys
from tools.orders import Shop
from tools.database import Database
shop = Shop(Database(sys.argv[1]))
print(*(shop.place_order("Ada Lovelace", "TEA-01", 1)["order_id"] for _ in range(8)))
shop.database.close()
"""


@pytest.fixture
def shop(database_url: str) -> Iterator[Shop]:
    made = Shop(Database(database_url))
    yield made
    made.database.close()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "shop.db"


def rows(shop: Shop, query: str, *values: Any) -> list[dict[str, Any]]:
    with shop.database.transaction() as transaction:
        return transaction.all(query, *values)


def facts(shop: Shop) -> list[Any]:
    """Everything in the shop."""
    return [
        rows(shop, f"SELECT * FROM {table} ORDER BY 1")
        for table in ("customers", "products", "orders", "refunds", "done")
    ]


def stock(shop: Shop, sku: str) -> int:
    return int(rows(shop, "SELECT stock FROM products WHERE sku = ?", sku)[0]["stock"])


def refunds(shop: Shop) -> int:
    return len(rows(shop, "SELECT * FROM refunds"))


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
        (lambda shop: shop.list_orders("Ada\0"), "cannot be stored"),
        (lambda shop: shop.list_orders("%"), "no customer"),
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
        (lambda shop: shop.refund_order("O-1001", "\0broken"), "cannot be stored"),
        (lambda shop: shop.refund_order("O-1001", "broken \ud83d"), "cannot be stored"),
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


def test_sixteen_threads_never_oversell_and_never_share_an_id(shop: Shop) -> None:
    found = outcomes(16, lambda number: shop.place_order("Ada Lovelace", ("POT-01", "CUP-02")[number % 2], 2))
    placed = [one["order_id"] for one in found if isinstance(one, dict)]
    assert sorted(placed) == [f"O-{number}" for number in range(1006, 1015)]
    assert (stock(shop, "POT-01"), stock(shop, "CUP-02")) == (0, 0)


def test_processes_at_once_never_oversell_and_never_share_an_id(database_url: str) -> None:
    command, root = [sys.executable, "-c", CHILD, database_url], Path(__file__).parents[1]
    children = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) for _ in range(5)]
    placed = " ".join(child.communicate(timeout=60)[0] for child in children).split()
    assert sorted(placed) == [f"O-{number}" for number in range(1006, 1046)]


def test_the_first_use_from_many_shops_at_once(tmp_path: Path) -> None:
    found = outcomes(16, lambda _: Shop(tmp_path / "shop.db").list_orders("Ada Lovelace"))
    assert all(one == found[0] and len(one) == 2 for one in found)


def test_the_first_use_from_many_threads_at_once(shop: Shop) -> None:
    found = outcomes(16, lambda _: shop.list_orders("Ada Lovelace"))
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
    shop.database.close()
    again = Shop(shop.database)
    assert again.refund_order("O-1002", "late", "5.00", idempotency_key="k") == first


def test_a_key_is_for_one_call(shop: Shop) -> None:
    shop.refund_order("O-1002", "late", "5.00", idempotency_key="k")
    with pytest.raises(ToolFailure, match="used for another call"):
        shop.refund_order("O-1002", "late", "6.00", idempotency_key="k")


def test_a_refused_call_does_not_use_up_its_key(shop: Shop) -> None:
    with pytest.raises(ToolFailure):
        shop.refund_order("O-1002", "late", "500.00", idempotency_key="k")
    assert shop.refund_order("O-1002", "late", "5.00", idempotency_key="k")["paid_back"] == "5.00 USD"


def test_an_effect_and_a_row_of_the_caller_commit_together(shop: Shop) -> None:
    with shop.database.transaction() as transaction:
        transaction.run(ROW)
        transaction.run("INSERT INTO rows VALUES (7)")
        placed = shop.place_order("Ada Lovelace", "TEA-01", 2, idempotency_key="k", transaction=transaction)
        paid = shop.refund_order(placed["order_id"], "late", idempotency_key="l", transaction=transaction)
    assert rows(shop, "SELECT * FROM rows") == [{"n": 7}]
    assert (stock(shop, "TEA-01"), paid["paid_back"]) == (38, "17.00 USD")
    assert shop.place_order("Ada Lovelace", "TEA-01", 2, idempotency_key="k") == placed
    with shop.database.transaction() as transaction:
        assert shop.place_order("Ada Lovelace", "TEA-01", 2, idempotency_key="k", transaction=transaction) == placed
    assert stock(shop, "TEA-01") == 38


@pytest.mark.parametrize("used", [False, True])
def test_a_transaction_that_rolls_back_leaves_nothing(shop: Shop, used: bool) -> None:
    if used:
        shop.list_orders("Ada Lovelace")
    with pytest.raises(ZeroDivisionError), shop.database.transaction() as transaction:
        transaction.run(ROW)
        shop.place_order("Ada Lovelace", "TEA-01", 2, idempotency_key="k", transaction=transaction)
        shop.refund_order("O-1002", "late", transaction=transaction)
        raise ZeroDivisionError
    assert shop.list_orders("Ada Lovelace")[1]["refunded"] == "0.00 USD"
    assert (stock(shop, "TEA-01"), refunds(shop), rows(shop, "SELECT * FROM done")) == (40, 2, [])
    assert shop.place_order("Ada Lovelace", "POT-01", 1, idempotency_key="k")["order_id"] == "O-1006"
    with shop.database.transaction() as transaction:
        transaction.run(ROW)


def test_transactions_of_callers_at_once_never_oversell(shop: Shop) -> None:
    shop.list_orders("Ada Lovelace")
    shop.database.migrate("rows", (ROW,))

    def call(number: int) -> Any:
        with shop.database.transaction() as transaction:
            transaction.run("INSERT INTO rows VALUES (?)", number)
            return shop.place_order("Ada Lovelace", "POT-01", 1, transaction=transaction)["order_id"]

    placed = [one for one in outcomes(16, call) if isinstance(one, str)]
    assert sorted(placed) == [f"O-{number}" for number in range(1006, 1012)]
    assert (stock(shop, "POT-01"), len(rows(shop, "SELECT * FROM rows"))) == (0, 6)


def test_a_transaction_of_another_database_is_refused(shop: Shop) -> None:
    with Database().transaction() as transaction, pytest.raises(ValueError, match="another database"):
        shop.place_order("Ada Lovelace", "TEA-01", 2, transaction=transaction)


def test_a_transaction_of_the_same_file_by_another_name_is_taken(file: Path) -> None:
    shop, ledger = Shop(file), Database(f"sqlite:///{file}")
    shop.list_orders("Ada Lovelace")
    with ledger.transaction() as transaction:
        shop.place_order("Ada Lovelace", "TEA-01", 2, transaction=transaction)
    assert stock(shop, "TEA-01") == 38
    ledger.close()


def test_a_shop_in_memory() -> None:
    shop = Shop(Database())
    shop.place_order("Ada Lovelace", "TEA-01", 2)
    assert len(shop.list_orders("Ada Lovelace")) == 3


def test_opening_again_keeps_what_was_done(shop: Shop) -> None:
    shop.place_order("Ada Lovelace", "POT-01", 6)
    assert len(Shop(shop.database).list_orders("Ada Lovelace")) == 3
    assert stock(shop, "POT-01") == 0


def test_a_file_of_an_older_make_goes_on(tmp_path: Path) -> None:
    """It has tables that compare with NOCASE, and no row that says which migrations were made."""
    with closing(sqlite3.connect(tmp_path / "shop.db", isolation_level=None)) as old:
        old.executescript((Path(__file__).parent / "data" / "shop_1.sql").read_text(encoding="utf-8"))
        old.execute("UPDATE products SET stock = 5 WHERE sku = 'TEA-01'")
        old.execute("INSERT INTO orders VALUES (1006, 'Ada Lovelace', 'TEA-01', 35, 29750, 0, 'placed', '2026-03-01')")
    shop = Shop(tmp_path / "shop.db")
    assert [order["order_id"] for order in shop.list_orders("ada lovelace")] == ["O-1001", "O-1002", "O-1006"]
    assert shop.place_order("Ada Lovelace", "tea-01", 5)["order_id"] == "O-1007"
    assert shop.refund_order("O-1001", "broken")["status"] == "refunded"
    assert (stock(shop, "TEA-01"), refunds(shop), len(rows(shop, "SELECT * FROM customers"))) == (0, 3, 4)


def test_a_file_that_was_deleted_is_made_again(file: Path) -> None:
    shop = Shop(str(file))
    shop.place_order("Ada Lovelace", "POT-01", 1)
    for each in file.parent.iterdir():
        each.unlink()
    assert len(shop.list_orders("Ada Lovelace")) == 2
    assert file.exists()


def test_the_file_is_in_write_ahead_mode(file: Path) -> None:
    Shop(file).list_orders("Ada Lovelace")
    with closing(sqlite3.connect(file)) as opened:
        assert opened.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_without_a_place_it_follows_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shop = Shop()
    for name, orders in (("a b%20?", 3), ("c", 3), ("a b%20?", 4)):
        monkeypatch.setenv("REASONACT_HOME", str(tmp_path / name))
        shop.place_order("Ada Lovelace", "TEA-01", 1)
        assert len(shop.list_orders("Ada Lovelace")) == orders
        assert (tmp_path / name / "shop.db").is_file()


def test_the_key_and_the_transaction_are_hidden_from_the_model() -> None:
    for function, shown in (
        (Shop().place_order, ["customer", "sku", "quantity"]),
        (Shop().refund_order, ["order_id", "reason", "amount"]),
    ):
        taken = signature(function)
        assert list(schema(taken)["properties"]) == shown and taken.injected == []


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
