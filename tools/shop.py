"""A small shop in one SQLite file: every change is checked and made in one transaction, and once per key."""

from __future__ import annotations

import json
import re
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tools import money
from tools.home import home
from tools.observation import ToolFailure
from tools.shop_file import connect, prepare, transaction

Row = dict[str, Any]

_MAX_TEXT = 500
_ORDER = re.compile(r"\s*(?:order\s*)?(?:O-?|#)?([0-9]{1,12})\s*", re.IGNORECASE)


class Shop:
    """Customers, products, orders and refunds; made and filled on first use, safe to share between threads.

    Without a path the file is `shop.db` in `tools.home.home()`.
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self._path = Path(path) if path is not None else None
        self._lock = threading.Lock()
        self._ready: Path | None = None

    @property
    def path(self) -> Path:
        """The file."""
        return self._path or home() / "shop.db"

    def list_orders(self, customer: str) -> list[Row]:
        """All orders of a customer, oldest first."""
        with self._open() as shop:
            name = _customer(shop, customer)
            rows = shop.execute(f"{_ORDERS} WHERE customer = ? ORDER BY id", (name,))
            return [_shown(row) for row in rows]

    def place_order(self, customer: str, sku: str, quantity: int, *, idempotency_key: str | None = None) -> Row:
        """Order so many of a product; takes them out of the stock."""

        def place(shop: sqlite3.Connection) -> Row:
            name = _customer(shop, customer)
            product = _product(shop, sku)
            _check_quantity(quantity, product)
            shop.execute("UPDATE products SET stock = stock - ? WHERE sku = ?", (quantity, product["sku"]))
            made = shop.execute(
                "INSERT INTO orders (customer, sku, quantity, total, status, placed) VALUES (?, ?, ?, ?, 'placed', ?)",
                (name, product["sku"], quantity, quantity * product["price"], _today()),
            )
            return _shown(_order(shop, str(made.lastrowid)))

        return self._once(idempotency_key, ["place_order", customer, sku, quantity], place)

    def refund_order(
        self, order_id: str, reason: str, amount: str | None = None, *, idempotency_key: str | None = None
    ) -> Row:
        """Pay back an amount of an order, or all that is left of it."""

        def refund(shop: sqlite3.Connection) -> Row:
            order = _order(shop, order_id)
            why = reason.strip()
            if not 0 < len(why) <= _MAX_TEXT:
                raise ToolFailure(f"a refund needs a reason of at most {_MAX_TEXT} characters")
            cents = _refundable(order, amount)
            status = "refunded" if order["refunded"] + cents == order["total"] else "partly refunded"
            shop.execute(
                "UPDATE orders SET refunded = refunded + ?, status = ? WHERE id = ?", (cents, status, order["id"])
            )
            shop.execute(
                "INSERT INTO refunds (order_id, amount, reason, made) VALUES (?, ?, ?, ?)",
                (order["id"], cents, why, _today()),
            )
            return {"paid_back": money.shown(cents), **_shown(_order(shop, order_id))}

        return self._once(idempotency_key, ["refund_order", order_id, reason, amount], refund)

    def _once(self, key: str | None, call: list[Any], act: Callable[[sqlite3.Connection], Row]) -> Row:
        """`act` in a transaction of its own; under a key that was used before, its first result instead."""
        written = json.dumps(call, ensure_ascii=False)
        with self._open() as shop, transaction(shop):
            if key is None:
                return act(shop)
            if before := shop.execute("SELECT call, result FROM done WHERE key = ?", (key,)).fetchone():
                if before["call"] != written:
                    raise ToolFailure("this idempotency key was used for another call")
                result: Row = json.loads(before["result"])
                return result
            result = act(shop)
            shop.execute("INSERT INTO done VALUES (?, ?, ?)", (key, written, json.dumps(result, ensure_ascii=False)))
            return result

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        path = self.path
        with self._lock:
            if self._ready != path or not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                with closing(connect(path)) as shop:
                    prepare(shop)
                self._ready = path
        with closing(connect(path)) as shop:
            yield shop


_ORDERS = "SELECT orders.*, title FROM orders JOIN products USING (sku)"


def _customer(shop: sqlite3.Connection, customer: str) -> str:
    asked = customer.strip()
    found = shop.execute("SELECT name FROM customers WHERE name = ? OR email = ?", (asked, asked)).fetchone()
    if found is None:
        raise ToolFailure(f"there is no customer {asked[:60]!r}: give the full name or the e-mail address")
    return str(found["name"])


def _product(shop: sqlite3.Connection, sku: str) -> sqlite3.Row:
    found: sqlite3.Row | None = shop.execute("SELECT * FROM products WHERE sku = ?", (sku.strip(),)).fetchone()
    if found is None:
        known = ", ".join(row["sku"] for row in shop.execute("SELECT sku FROM products ORDER BY sku LIMIT 20"))
        raise ToolFailure(f"there is no product {sku.strip()[:60]!r}; there are {known}")
    return found


def _order(shop: sqlite3.Connection, order_id: str) -> sqlite3.Row:
    number = _ORDER.fullmatch(order_id)
    row = number and shop.execute(f"{_ORDERS} WHERE id = ?", (int(number[1]),)).fetchone()
    if not isinstance(row, sqlite3.Row):
        raise ToolFailure(f"there is no order {order_id.strip()[:60]!r}: list_orders shows the ids")
    return row


def _check_quantity(quantity: int, product: sqlite3.Row) -> None:
    if isinstance(quantity, bool) or not isinstance(quantity, int) or quantity <= 0:
        raise ToolFailure("the quantity must be a whole number above 0")
    if quantity > product["stock"]:
        raise ToolFailure(f"only {product['stock']} of {product['sku']} are in stock")


def _refundable(order: sqlite3.Row, amount: str | None) -> int:
    left: int = order["total"] - order["refunded"]
    if left == 0:
        raise ToolFailure(f"order {_id(order)} is already refunded in full")
    cents = left if amount is None else money.cents(amount)
    if cents > left:
        raise ToolFailure(f"only {money.shown(left)} of order {_id(order)} can still be refunded")
    return cents


def _id(order: sqlite3.Row) -> str:
    return f"O-{order['id']}"


def _shown(order: sqlite3.Row) -> Row:
    return {
        "order_id": _id(order),
        "customer": order["customer"],
        "sku": order["sku"],
        "product": order["title"],
        "quantity": order["quantity"],
        "total": money.shown(order["total"]),
        "refunded": money.shown(order["refunded"]),
        "status": order["status"],
        "placed": order["placed"],
    }


def _today() -> str:
    return datetime.now(UTC).date().isoformat()
