"""The demo's tools are there at once and leave nothing behind until they are called."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tools.defaults import demo_tools
from tools.home import home
from tools.toolbox import Toolbox

EFFECTS = {
    "calculator": "read",
    "search": "read",
    "lookup": "read",
    "clock": "read",
    "list_orders": "read",
    "place_order": "write",
    "refund_order": "irreversible",
}


def test_names_and_effects() -> None:
    tools = demo_tools()
    assert [(tool.name, tool.effect) for tool in tools] == list(EFFECTS.items())
    assert len(Toolbox(tools)) == len(EFFECTS)
    assert all(tool.description and tool.function for tool in tools)


def test_making_them_touches_no_file(tmp_path: Path) -> None:
    code = (
        "import sqlite3, sys\n"
        "def refuse(*_, **__): raise AssertionError('a database was opened')\n"
        "sqlite3.connect = refuse\n"
        "from tools.defaults import demo_tools\n"
        "demo_tools()\n"
        "written = []\n"
        "sys.addaudithook(lambda event, args: written.append(args) "
        "if event == 'open' and isinstance(args[1], str) and set(args[1]) & set('wxa+') else None)\n"
        "demo_tools()\n"
        "assert not written, written\n"
    )
    environment = {"REASONACT_HOME": str(tmp_path / "home"), "HOME": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, timeout=60, cwd=Path(__file__).parents[1])
    assert list(tmp_path.iterdir()) == []


def test_the_shop_is_made_where_home_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tools = Toolbox(demo_tools())
    monkeypatch.setenv("REASONACT_HOME", str(tmp_path / "mine"))
    list_orders = tools["list_orders"].function
    assert list_orders is not None
    assert len(list_orders(customer="Ada Lovelace")) == 2
    assert (tmp_path / "mine" / "shop.db").is_file()


def test_home_by_preference(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("REASONACT_HOME", str(tmp_path / "own"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert home() == tmp_path / "own"
    monkeypatch.delenv("REASONACT_HOME")
    assert home() == tmp_path / "data" / "reasonact"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert home() == tmp_path / ".local" / "share" / "reasonact"
    assert list(tmp_path.iterdir()) == []
