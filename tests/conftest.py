"""No test reaches a real model or a key by accident."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "REASONACT_MODEL", "LANGSMITH_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANGSMITH_TRACING", "false")
    monkeypatch.setenv("REASONACT_HOME", str(tmp_path_factory.getbasetemp() / "home"))


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
