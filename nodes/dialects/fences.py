"""Code fences around a value."""

from __future__ import annotations

import re


def unfenced(text: str) -> tuple[str, bool]:
    """The text without the code fence around it, and whether there was one; indentation inside is kept."""
    whole = text.strip()
    for fence in ("```", "~~~"):
        if whole.startswith(fence):
            info, line, body = whole[3:].partition("\n")
            if not line:
                return whole.strip(fence[0]).strip(), True
            if not re.fullmatch(r"\s*[\w+#.-]{0,32}\s*", info):
                body = f"{info}\n{body}"
            end = re.search(rf"(?:^|\n)[^\S\n]{{0,64}}{fence}[^\S\n]{{0,64}}(?:\n|\Z)", body)
            body = body[: end.start()] if end else body.rstrip().removesuffix(fence)
            return body.strip("\n").rstrip(), True
    return whole, False
