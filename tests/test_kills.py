"""Whatever crashes, a call has its effect once; where nobody can know, at most once, and the model is told so."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from tests.kills import POINTS, Cell, Durability, Harness, Kind, random_cells

KILLS = int(os.environ.get("REASONACT_KILLS") or 300)


@pytest.mark.parametrize("kind", ["pure", "transactional", "keyed", "reconcilable", "once"])
@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_a_run_that_is_killed_at_any_point_ends_as_if_it_was_not(
    database_url: str, tmp_path: Path, durability: Durability, kind: Kind
) -> None:
    cells = [Cell(f"cell-{number}", kind, durability, point) for number, point in enumerate(POINTS)]
    ended = Harness(database_url, tmp_path).run(cells)
    report(ended)
    assert len(ended) == len(POINTS)
    assert not [cell.point for cell in ended if not cell.kills], "these points were never reached"


def test_random_kills(database_url: str, tmp_path: Path) -> None:
    seed = int(os.environ.get("REASONACT_SEED") or random.randrange(2**32))
    print(f"REASONACT_SEED={seed}")
    made = random_cells(seed, KILLS)
    harness = Harness(database_url, tmp_path)
    ended = harness.run(made, enough=lambda: harness.killed >= KILLS)
    report(ended, f"REASONACT_SEED={seed}")
    assert harness.killed >= KILLS, "most of the runs ended before their time had come"


@pytest.mark.parametrize("durability", ["sync", "async"])
def test_without_the_ledger_effects_double(tmp_path: Path, durability: Durability) -> None:
    points = ("after effect 1", "after effect 2", "after effect 3")
    cells = [Cell(f"cell-{n}", "once", durability, point, forgetful=True) for n, point in enumerate(points)]
    ended = Harness(f"sqlite:///{tmp_path / 't.sqlite'}", tmp_path).run(cells)
    doubled = [cell.point for cell in ended if "4 effects of 3 calls" in cell.wrong]
    assert sorted(doubled) == sorted(points), [f"{cell}: {cell.wrong}" for cell in ended]


def report(ended: list[Cell], about: str = "") -> None:
    """Name every cell that went wrong."""
    wrong = [f"{cell}: {'; '.join(cell.wrong)}" for cell in ended if cell.wrong]
    assert not wrong, "\n".join([f"{len(wrong)} of {len(ended)} cells {about}", *wrong])
