"""Encryption at rest, for checkpoints and ledger alike; a row that is not encrypted is refused, not believed."""

from __future__ import annotations

import base64
from typing import Any

from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

_MARK = "aes:"


class NotEncrypted(ValueError):
    """A row of an encrypted database is stored in clear: somebody else wrote it, or the key was set later."""


def strict() -> JsonPlusSerializer:
    """Plain data and messages only: what is read back never runs code."""
    return JsonPlusSerializer(pickle_fallback=False, allowed_msgpack_modules=None)


class Encryption(EncryptedSerializer):
    """AES-EAX around the strict serializer, and around the ledger's text (see `nodes.records.Seal`)."""

    @classmethod
    def of(cls, key: bytes) -> Encryption:
        """With a key of 16, 24 or 32 bytes.

        Raises:
            ValueError: the key has another length.
            ImportError: pycryptodome is not installed (the extra `encryption`).
        """
        if len(key) not in (16, 24, 32):
            raise ValueError(f"the encryption key must have 16, 24 or 32 bytes, got {len(key)}")
        made: Any = cls.from_pycryptodome_aes(serde=strict(), key=key)
        return made  # type: ignore[no-any-return]

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """The value of an encrypted row.

        Raises:
            NotEncrypted: the row is in clear; LangGraph's own serializer would load it.
        """
        if "+" not in data[0]:
            raise NotEncrypted("this row is not encrypted, and the database is: it is not read")
        return super().loads_typed(data)

    def close(self, text: str) -> str:
        """Text as it is stored."""
        name, sealed = self.cipher.encrypt(text.encode("utf-8", "surrogatepass"))
        return f"{_MARK}{name}:{base64.b64encode(sealed).decode()}"

    def open(self, stored: str) -> str:
        """The text again.

        Raises:
            NotEncrypted: it was stored in clear.
            ValueError: it was sealed with another key, or changed.
        """
        if not stored.startswith(_MARK):
            raise NotEncrypted("this row is not encrypted, and the database is: it is not read")
        _, name, sealed = stored.split(":", 2)
        return self.cipher.decrypt(name, base64.b64decode(sealed)).decode("utf-8", "surrogatepass")
