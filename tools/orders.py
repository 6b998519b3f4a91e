"""Three tools over a real shop: one reads, one writes, one pays money back for good."""

from __future__ import annotations

from collections.abc import Container, Mapping
from pathlib import Path
from typing import Any

from tools.database import Database
from tools.shop import Shop
from tools.tool import Tool

__all__ = ["Shop", "shop_tools"]


def shop_tools(where: Database | str | Path | None = None) -> list[Tool]:
    """`list_orders`, `place_order` and `refund_order` of the shop there (see `Shop`), which is made when first used.

    The functions of the last two also take two arguments that the schema hides from the model: `idempotency_key`, of
    which the same returns the first result instead of doing it again, and `transaction`, which the change then becomes
    a part of, to be committed together with what else is in it.
    """
    shop = Shop(where)
    database = None if where is None else shop.database
    return [
        Tool(
            "list_orders",
            "Lists a customer's orders with their ids, products, totals, refunds and states.",
            shop.list_orders,
            _schema({"customer": _CUSTOMER}),
            effect="read",
            idempotent=True,
        ),
        Tool(
            "place_order",
            "Places an order for a customer and takes it out of the stock.",
            shop.place_order,
            _schema(
                {
                    "customer": _CUSTOMER,
                    "sku": {"type": "string", "description": "the product's code, such as TEA-01"},
                    "quantity": {"type": "integer", "minimum": 1, "description": "how many"},
                }
            ),
            effect="write",
            database=database,
        ),
        Tool(
            "refund_order",
            "Pays back an order, or an amount of it. This cannot be undone.",
            shop.refund_order,
            _schema(
                {
                    "order_id": {"type": "string", "description": "such as O-1001, from list_orders"},
                    "reason": {"type": "string", "description": "why it is paid back"},
                    "amount": {
                        "anyOf": [{"type": "string"}, {"type": "null"}],
                        "default": None,
                        "description": "such as 12.50; all that is left of the order unless given",
                    },
                },
                optional={"amount"},
            ),
            effect="irreversible",
            database=database,
        ),
    ]


_CUSTOMER = {"type": "string", "description": "the customer's full name or e-mail address"}


def _schema(properties: Mapping[str, Any], optional: Container[str] = ()) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": [name for name in properties if name not in optional],
    }
