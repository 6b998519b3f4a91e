"""A small shop in a database: every change is checked and made in one transaction, and once per key."""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tools import money
from tools.database import Database, Row, Transaction
from tools.home import home
from tools.observation import ToolFailure
from tools.shop_rows import (
    ORDERS,
    check_quantity,
    check_text,
    customer_of,
    lock,
    next_id,
    order_of,
    product_of,
    refundable,
    shown,
    steps,
    today,
)

_MAX_TEXT = 500


class Shop:
    """Customers, products, orders and refunds; made and filled on first use, safe to share between threads.

    They lie in the database, beside what else is in it, or in a SQLite file: without either in `shop.db` in
    `tools.home.home()`.
    """

    def __init__(self, where: Database | str | Path | None = None) -> None:
        self._given = where if isinstance(where, Database) else None
        self._path = Path(where) if isinstance(where, str | Path) else None
        self._own: Database | None = None
        self._ready: Database | None = None
        self._lock = threading.Lock()
        self._making = threading.Lock()

    @property
    def database(self) -> Database:
        """The database; that of `home()` is another once `home()` is another folder."""
        if self._given is not None:
            return self._given
        url = f"sqlite:///{quote(str(self._path or home() / 'shop.db'))}"
        with self._lock:
            if self._own is None or self._own.url != url:
                self._own = Database(url)
            return self._own

    def list_orders(self, customer: str) -> list[Row]:
        """All orders of a customer, oldest first."""
        check_text([customer])

        def found(shop: Transaction) -> list[Row]:
            return shop.all(f"{ORDERS} WHERE customer = ? ORDER BY id", customer_of(shop, customer))

        return [shown(row) for row in self._made().perform(found)]

    def place_order(
        self,
        customer: str,
        sku: str,
        quantity: int,
        *,
        idempotency_key: str | None = None,
        transaction: Transaction | None = None,
    ) -> Row:
        """Order so many of a product; takes them out of the stock."""

        def place(shop: Transaction) -> Row:
            name = customer_of(shop, customer)
            product = product_of(shop, sku)
            check_quantity(quantity, product)
            made, total = next_id(shop, "orders"), quantity * product["price"]
            shop.run("UPDATE products SET stock = stock - ? WHERE sku = ?", quantity, product["sku"])
            shop.run(
                "INSERT INTO orders (id, customer, sku, quantity, total, status, placed) "
                "VALUES (?, ?, ?, ?, ?, 'placed', ?)",
                *(made, name, product["sku"], quantity, total, today()),
            )
            return shown(order_of(shop, str(made)))

        return self._once(transaction, idempotency_key, ["place_order", customer, sku, quantity], place)

    def refund_order(
        self,
        order_id: str,
        reason: str,
        amount: str | None = None,
        *,
        idempotency_key: str | None = None,
        transaction: Transaction | None = None,
    ) -> Row:
        """Pay back an amount of an order, or all that is left of it."""

        def refund(shop: Transaction) -> Row:
            order = order_of(shop, order_id)
            why = reason.strip()
            if not 0 < len(why) <= _MAX_TEXT:
                raise ToolFailure(f"a refund needs a reason of at most {_MAX_TEXT} characters")
            cents = refundable(order, amount)
            status = "refunded" if order["refunded"] + cents == order["total"] else "partly refunded"
            shop.run("UPDATE orders SET refunded = refunded + ?, status = ? WHERE id = ?", cents, status, order["id"])
            shop.run(
                "INSERT INTO refunds (id, order_id, amount, reason, made) VALUES (?, ?, ?, ?, ?)",
                *(next_id(shop, "refunds"), order["id"], cents, why, today()),
            )
            return {"paid_back": money.shown(cents), **shown(order_of(shop, order_id))}

        return self._once(transaction, idempotency_key, ["refund_order", order_id, reason, amount], refund)

    def _once(
        self, transaction: Transaction | None, key: str | None, call: list[Any], act: Callable[[Transaction], Row]
    ) -> Row:
        """`act` in the transaction, or in one of its own; under a used key its first result instead."""
        check_text(call)
        if transaction is None:
            # An unanswered commit is tried again: a key tells whether it was done, even if nobody else needs one.
            used = str(uuid.uuid4()) if key is None else key
            return self._made().perform(lambda own: _do(own, used, call, act))
        if transaction.database != self.database:
            raise ValueError("the transaction is of another database than the shop's")
        if self._ready is not self.database:
            # Not noted as ready: the tables are gone again if the transaction is rolled back.
            transaction.migrate("shop", steps())
        return _do(transaction, key, call, act)

    def _made(self) -> Database:
        """The database with the shop's tables in it."""
        database = self.database
        with self._making:
            file = None if database is self._given or not database.durable else Path(str(database.path))
            if file is not None and not file.exists():
                file.parent.mkdir(parents=True, exist_ok=True)
                # A file that was deleted lives on, unseen, where it is still open.
                database.close()
                self._ready = None
            if self._ready is not database:
                database.migrate("shop", steps())
                self._ready = database
        return database


def _do(shop: Transaction, key: str | None, call: list[Any], act: Callable[[Transaction], Row]) -> Row:
    lock(shop)
    if key is None:
        return act(shop)
    written = json.dumps(call, ensure_ascii=False)
    if before := shop.one("SELECT call, result FROM done WHERE key = ?", key):
        if before["call"] != written:
            raise ToolFailure("this idempotency key was used for another call")
        result: Row = json.loads(before["result"])
        return result
    result = act(shop)
    shop.run("INSERT INTO done VALUES (?, ?, ?)", key, written, json.dumps(result, ensure_ascii=False))
    return result
