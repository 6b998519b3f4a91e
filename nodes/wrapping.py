"""The wrapping that tells the model: what is inside is data, not orders."""

from __future__ import annotations

import re

_OPEN = re.compile(r'<observation number="(\d+)">\n')
_CLOSE = "\n</observation>"


def wrap(number: int, text: str) -> str:
    """An observation as it stands in the history, numbered; a delimiter inside the text is defused."""
    inside = text.replace("</observation", "<\u200b/observation").replace("<observation", "<\u200bobservation")
    return f'<observation number="{number}">\n{inside}{_CLOSE}'


def unwrap(content: str) -> str:
    """The text of an observation, for dialects and people that need no wrapping."""
    opening = _OPEN.match(content)
    if opening is None or not content.endswith(_CLOSE):
        return content
    return content[opening.end() : -len(_CLOSE)]
