"""The forms in which a known secret may stand in a text."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from urllib.parse import quote, quote_plus


def any_form(secrets: tuple[str, ...]) -> re.Pattern[str] | None:
    """What finds each of the secrets in each of its forms; None without secrets."""
    forms = {form for secret in secrets for form in _forms(secret)}
    # The longest first: a secret may hold another one.
    longest_first = sorted(forms, key=lambda form: (-len(form), form))
    return re.compile("|".join(map(re.escape, longest_first))) if forms else None


def _forms(secret: str) -> Iterator[str]:
    """The secret as it may stand in a text."""
    data = secret.encode("utf-8", "surrogatepass")
    yield secret
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    yield data.hex()
    yield data.hex().upper()
    for quoted in (quote(data), quote(data, safe=""), quote_plus(data)):
        yield quoted
        yield re.sub("%[0-9A-F]{2}", lambda escape: escape[0].lower(), quoted)
    for before in range(3):
        # Base64 writes three bytes as four characters, so what stands before the secret shifts it in three ways.
        # Only the characters that are made of nothing but the secret are looked for.
        encoded = base64.b64encode(bytes(before) + data).decode()
        inner = encoded[(0, 2, 3)[before] : (before + len(data)) * 8 // 6]
        yield inner
        yield inner.replace("+", "-").replace("/", "_")
