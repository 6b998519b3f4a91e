"""The rate of a tool holds over processes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import time_machine

from nodes.rate_store import SqliteStorage
from nodes.rates import Rates
from tools.tool import Tool

TOOL = Tool("look", "Look.", None, effect="read")
CHILD = """
import sys
from nodes.rates import Rates
from tools.tool import Tool
rates = Rates(sys.argv[1])
print(sum(rates.wait(Tool("look", "Look.", None, effect="read"), 10) == 0 for _ in range(10)))
"""


def test_four_processes_are_let_through_ten_times(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'rates.sqlite'}"
    root = Path(__file__).resolve().parents[1]
    children = [
        subprocess.Popen([sys.executable, "-c", CHILD, url], stdout=subprocess.PIPE, text=True, cwd=root)
        for _ in range(4)
    ]
    assert sum(int(child.communicate(timeout=60)[0]) for child in children) == 10


def test_the_window_moves(tmp_path: Path) -> None:
    rates = Rates(f"sqlite:///{tmp_path / 'rates.sqlite'}")
    with time_machine.travel(1_000_000, tick=False) as clock:
        assert [rates.wait(TOOL, 2) for _ in range(2)] == [0, 0]
        clock.shift(40)
        assert rates.wait(TOOL, 2) == 20
        clock.shift(21)
        assert rates.wait(TOOL, 2) == 0


def test_what_the_library_asks_of_a_storage(tmp_path: Path) -> None:
    storage = SqliteStorage(f"sqlite:///{tmp_path / 'rates.sqlite'}")
    assert storage.check() and storage.get("a") == 0
    assert storage.incr("a", 60, 2) == 2 and storage.get_expiry("a") > 0
    storage.clear("a")
    assert storage.get("a") == 0
    storage.incr("b", 60)
    assert storage.reset() == 1
