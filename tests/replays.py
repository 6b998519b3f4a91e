"""Recorded replies of real models, where they are at hand."""

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(os.environ.get("REASONACT_REPLAYS") or Path(__file__).resolve().parents[2] / "shared" / "replays")


def load(name: str) -> list[dict[str, Any]]:
    """The records of `<name>.jsonl`; the test is skipped where the folder is absent."""
    path = FOLDER / f"{name}.jsonl"
    if not path.is_file():
        pytest.skip(f"no recorded replies at {path}: set REASONACT_REPLAYS to the folder that holds {path.name}")
    return _records(path)


@cache
def _records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
