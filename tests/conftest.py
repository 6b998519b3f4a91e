"""No test reaches a real model or a key by accident; each has a database of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from subprocess import SubprocessError

import pytest

from tests.postgres import Server, lacking, server

ABSENT = "PostgreSQL is not there: "


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "REASONACT_MODEL", "LANGSMITH_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANGSMITH_TRACING", "false")
    monkeypatch.setenv("REASONACT_HOME", str(tmp_path_factory.getbasetemp() / "home"))


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def postgres() -> Server:
    """The server of this test process."""
    try:
        running, why = server(), lacking()
    except (RuntimeError, OSError, SubprocessError) as error:
        running, why = None, f"it does not start: {error}"
    if running is None and os.environ.get("CI"):
        pytest.fail(ABSENT + why)
    if running is None:
        pytest.skip(ABSENT + why)
    return running


@pytest.fixture
def postgres_url(postgres: Server) -> Iterator[str]:
    """A new, empty PostgreSQL database."""
    url = postgres.database()
    yield url
    postgres.drop(url)


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A new, empty database of each durable kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 't.sqlite'}"
    url: str = request.getfixturevalue("postgres_url")
    return url


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = [str(report.longrepr) for report in terminalreporter.stats.get("skipped", [])]
    if count := sum(ABSENT in why for why in skipped):
        line = f"{count} TESTS WERE SKIPPED FOR WANT OF POSTGRESQL: scripts/postgres install, then run them again"
        terminalreporter.write_line(line, red=True, bold=True)
