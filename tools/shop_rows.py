"""The shop's rows: found by what a model says, checked before they change, and shown to it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Literal

from tools import money
from tools.database import Row, Transaction
from tools.observation import ToolFailure

ORDERS = "SELECT orders.*, title FROM orders JOIN products USING (sku)"

_SEED = Path(__file__).with_name("data") / "shop.sql"
_UNFIT = re.compile("[\0\ud800-\udfff]")
_ORDER = re.compile(r"\s*(?:order\s*)?(?:O-?|#)?([0-9]{1,12})\s*", re.IGNORECASE)


@cache
def steps() -> tuple[str, ...]:
    """The shop's migrations; the first makes the tables and fills them."""
    return (_SEED.read_text(encoding="utf-8"),)


def lock(shop: Transaction) -> None:
    """Let nobody else change the shop until the transaction ends; on SQLite nobody can anyway."""
    if shop.database.kind == "postgresql":
        shop.run("LOCK TABLE orders IN EXCLUSIVE MODE")


def next_id(shop: Transaction, table: Literal["orders", "refunds"]) -> int:
    """An id that no row has; only under the lock does it stay so."""
    found = shop.one(f"SELECT coalesce(max(id), 0) + 1 AS id FROM {table}")
    assert found is not None
    return int(found["id"])


def check_text(values: Sequence[Any]) -> None:
    """Refuse text that PostgreSQL or UTF-8 cannot hold."""
    if any(_UNFIT.search(value) for value in values if isinstance(value, str)):
        raise ToolFailure("the text has a character that cannot be stored: write it again without it")


def customer_of(shop: Transaction, customer: str) -> str:
    """The name of the customer with that name or e-mail address."""
    asked = customer.strip()
    found = shop.one("SELECT name FROM customers WHERE lower(name) = lower(?) OR lower(email) = lower(?)", asked, asked)
    if found is None:
        raise ToolFailure(f"there is no customer {asked[:60]!r}: give the full name or the e-mail address")
    return str(found["name"])


def product_of(shop: Transaction, sku: str) -> Row:
    """The product with that code."""
    found = shop.one("SELECT * FROM products WHERE lower(sku) = lower(?)", sku.strip())
    if found is None:
        known = ", ".join(row["sku"] for row in shop.all("SELECT sku FROM products ORDER BY sku LIMIT 20"))
        raise ToolFailure(f"there is no product {sku.strip()[:60]!r}; there are {known}")
    return found


def order_of(shop: Transaction, order_id: str) -> Row:
    """The order with that id."""
    number = _ORDER.fullmatch(order_id)
    row = shop.one(f"{ORDERS} WHERE id = ?", int(number[1])) if number else None
    if row is None:
        raise ToolFailure(f"there is no order {order_id.strip()[:60]!r}: list_orders shows the ids")
    return row


def check_quantity(quantity: int, product: Row) -> None:
    """Refuse what cannot be ordered of the product."""
    if isinstance(quantity, bool) or not isinstance(quantity, int) or quantity <= 0:
        raise ToolFailure("the quantity must be a whole number above 0")
    if quantity > product["stock"]:
        raise ToolFailure(f"only {product['stock']} of {product['sku']} are in stock")


def refundable(order: Row, amount: str | None) -> int:
    """The cents to pay back: the amount, or all that is left."""
    left: int = order["total"] - order["refunded"]
    if left == 0:
        raise ToolFailure(f"order {_id(order)} is already refunded in full")
    cents = left if amount is None else money.cents(amount)
    if cents > left:
        raise ToolFailure(f"only {money.shown(left)} of order {_id(order)} can still be refunded")
    return cents


def shown(order: Row) -> Row:
    """An order as the model sees it."""
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


def today() -> str:
    """The date."""
    return datetime.now(UTC).date().isoformat()


def _id(order: Row) -> str:
    return f"O-{order['id']}"
