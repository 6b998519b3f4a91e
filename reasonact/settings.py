"""What a question is asked with; kept beside the thread, so that resuming goes on with the same."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

QUESTION_CHARS = 200
"""Characters of a thread's first question that are kept for the list of threads."""


@dataclass(frozen=True)
class Settings:
    """The options of one `ask`."""

    model: tuple[str, ...] = ()
    dialect: str = "auto"
    approve: str = ""
    """risky, all or none; empty where the policy is that of a file, or the usual one."""
    policy: str = ""
    """Path of the file with the policy of approval."""
    on_limit: str = "stop"
    language: str = "auto"
    max_steps: int | None = None
    max_tokens: int | None = None
    timeout: float | None = None

    @property
    def limits(self) -> dict[str, Any]:
        """The fields of `Limits` that were set."""
        given = {"steps": self.max_steps, "tokens": self.max_tokens, "seconds": self.timeout, "on_limit": self.on_limit}
        return {name: value for name, value in given.items() if value is not None}

    @property
    def recursion_limit(self) -> int:
        """LangGraph's backstop, which a step limit always reaches first."""
        steps = self.limits.get("steps", 10)
        return 6 * steps + 60 if steps else 10_000


def label(question: str, settings: Settings) -> dict[str, str]:
    """Metadata of every checkpoint of the run."""
    kept = {"question": question[:QUESTION_CHARS], "settings": asdict(settings)}
    return {"reasonact": json.dumps(kept)}


def read_label(metadata: Mapping[str, Any] | None) -> tuple[str, Settings]:
    """First question and settings of a thread; the usual ones on a thread that another program began."""
    try:
        kept = json.loads((metadata or {}).get("reasonact", "{}"))
        given = kept.get("settings", {})
        if "policy" not in given and given.get("approve") == "risky":  # The default, before there were policy files.
            given = {**given, "approve": ""}
        known = {field.name: given[field.name] for field in fields(Settings) if field.name in given}
        return str(kept.get("question", "")), Settings(**{**known, "model": tuple(known.get("model", ()))})
    except (ValueError, TypeError, AttributeError):
        return "", Settings()


def limits_of(settings: Settings) -> Any:
    """The limits of a run."""
    from nodes.limits import Limits

    return Limits(**settings.limits)
