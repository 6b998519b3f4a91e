"""The clock finds zones the way people name them."""

from __future__ import annotations

import datetime as dt

import pytest
import time_machine

from tools.clock import clock, find_zone, tell_time
from tools.observation import ToolFailure

NOON = dt.datetime(2026, 2, 3, 12, 0, 0, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("UTC", "2026-02-03T12:00:00+00:00, Tuesday (UTC)"),
        ("", "2026-02-03T12:00:00+00:00, Tuesday (UTC)"),
        ("Z", "2026-02-03T12:00:00+00:00, Tuesday (UTC)"),
        ("Asia/Shanghai", "2026-02-03T20:00:00+08:00, Tuesday (Asia/Shanghai)"),
        ("Shanghai", "2026-02-03T20:00:00+08:00, Tuesday (Asia/Shanghai)"),
        ("北京", "2026-02-03T20:00:00+08:00, Tuesday (Asia/Shanghai)"),
        ("上海市", "2026-02-03T20:00:00+08:00, Tuesday (Asia/Shanghai)"),
        ("New York", "2026-02-03T07:00:00-05:00, Tuesday (America/New_York)"),
        ("new_york", "2026-02-03T07:00:00-05:00, Tuesday (America/New_York)"),
        (" são paulo ", "2026-02-03T09:00:00-03:00, Tuesday (America/Sao_Paulo)"),
        ("Paris, France", "2026-02-03T13:00:00+01:00, Tuesday (Europe/Paris)"),
        ("Pacific/Auckland", "2026-02-04T01:00:00+13:00, Wednesday (Pacific/Auckland)"),
        ("Asia/Kathmandu", "2026-02-03T17:45:00+05:45, Tuesday (Asia/Kathmandu)"),
        ("Etc/GMT+8", "2026-02-03T04:00:00-08:00, Tuesday (Etc/GMT+8)"),
        ("UTC+8", "2026-02-03T20:00:00+08:00, Tuesday (UTC+08:00)"),
        ("GMT-3:30", "2026-02-03T08:30:00-03:30, Tuesday (UTC-03:30)"),
    ],
)
def test_tells_the_time_where_asked(asked: str, told: str) -> None:
    with time_machine.travel(NOON, tick=False):
        assert tell_time(asked) == told


def test_summer_time() -> None:
    with time_machine.travel(dt.datetime(2026, 7, 1, 12, tzinfo=dt.UTC), tick=False):
        assert tell_time("Berlin").startswith("2026-07-01T14:00:00+02:00, Wednesday")


def test_no_argument_is_utc() -> None:
    assert tell_time().endswith("(UTC)")


def test_an_unknown_zone_names_the_nearest() -> None:
    with pytest.raises(ToolFailure, match="near to it are Europe/Berlin"):
        find_zone("Berln")


@pytest.mark.parametrize(
    "asked", ["Mars/Olympus", "../../etc/passwd", "/etc/localtime", "UTC+99", "\x00", "x" * 100_000, "1", "Asia/"]
)
def test_refuses_what_is_no_zone(asked: str) -> None:
    with pytest.raises(ToolFailure, match="there is no time zone") as refused:
        tell_time(asked)
    assert len(str(refused.value)) < 300


def test_the_tool_may_be_asked_again_and_again() -> None:
    assert (clock.effect, clock.repeatable, clock.required, list(clock.parameters)) == ("read", True, [], ["zone"])
