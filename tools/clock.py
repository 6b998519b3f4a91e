"""A clock for every time zone, found by its IANA name or by its city."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import cache
from types import MappingProxyType
from zoneinfo import ZoneInfo, available_timezones

from tools.observation import ToolFailure
from tools.tool import Tool

_CITIES: Mapping[str, str] = MappingProxyType(
    {
        "z": "UTC",
        "北京": "Asia/Shanghai",
        "上海": "Asia/Shanghai",
        "广州": "Asia/Shanghai",
        "深圳": "Asia/Shanghai",
        "中国": "Asia/Shanghai",
        "香港": "Asia/Hong_Kong",
        "台北": "Asia/Taipei",
        "东京": "Asia/Tokyo",
        "首尔": "Asia/Seoul",
        "新加坡": "Asia/Singapore",
        "纽约": "America/New_York",
        "洛杉矶": "America/Los_Angeles",
        "旧金山": "America/Los_Angeles",
        "伦敦": "Europe/London",
        "巴黎": "Europe/Paris",
        "柏林": "Europe/Berlin",
        "莫斯科": "Europe/Moscow",
        "悉尼": "Australia/Sydney",
        "beijing": "Asia/Shanghai",
        "guangzhou": "Asia/Shanghai",
        "shenzhen": "Asia/Shanghai",
        "china": "Asia/Shanghai",
        "mumbai": "Asia/Kolkata",
        "delhi": "Asia/Kolkata",
        "new delhi": "Asia/Kolkata",
        "bangalore": "Asia/Kolkata",
        "india": "Asia/Kolkata",
        "san francisco": "America/Los_Angeles",
        "seattle": "America/Los_Angeles",
        "boston": "America/New_York",
        "washington": "America/New_York",
        "washington dc": "America/New_York",
        "miami": "America/New_York",
        "houston": "America/Chicago",
        "munich": "Europe/Berlin",
        "hamburg": "Europe/Berlin",
        "frankfurt": "Europe/Berlin",
        "germany": "Europe/Berlin",
        "france": "Europe/Paris",
        "uk": "Europe/London",
        "geneva": "Europe/Zurich",
        "milan": "Europe/Rome",
        "barcelona": "Europe/Madrid",
        "kyoto": "Asia/Tokyo",
        "osaka": "Asia/Tokyo",
    }
)


def tell_time(zone: str = "UTC") -> str:
    """The date and time now in a zone, such as `2026-02-03T12:00:00+08:00, Tuesday (Asia/Shanghai)`.

    Raises:
        ToolFailure: no zone has that name; the message names the nearest.
    """
    found = find_zone(zone)
    now = datetime.now(found)
    return f"{now.isoformat(timespec='seconds')}, {_DAYS[now.weekday()]} ({found})"


_MINUS = str.maketrans("−–＋", "--+")
_OFFSET = re.compile(r"\s*(?:utc|gmt)?\s*([+-])\s*([0-9]{1,2})(?::?([0-5][0-9]))?\s*", re.IGNORECASE)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def find_zone(asked: str) -> tzinfo:
    """The zone that is given by its IANA name, by a city, or by its distance from UTC."""
    key = _key(asked[:100]) if asked.strip() else "utc"
    zones = _zones()
    if found := zones.get(key) or zones.get(_key(asked.partition(",")[0][:100])):
        return UTC if found == "UTC" else ZoneInfo(found)
    if (offset := _OFFSET.fullmatch(asked.translate(_MINUS)[:100])) and int(offset[2]) <= 14:
        away = timedelta(hours=int(offset[2]), minutes=int(offset[3] or 0))
        return timezone(away if offset[1] == "+" else -away)
    near = difflib.get_close_matches(key, zones, n=5, cutoff=0.6)
    names = list(dict.fromkeys(zones[name] for name in near))[:3]
    hint = f"; near to it are {', '.join(names)}" if names else "; use an IANA name such as Europe/Berlin"
    raise ToolFailure(f"there is no time zone {asked[:60]!r}{hint}")


@cache
def _zones() -> dict[str, str]:
    """Zones by their name and by their city; a city that two zones share goes to the first by name."""
    names = sorted(available_timezones(), key=lambda name: (name.count("/") == 0, name))
    cities: dict[str, str] = {}
    for name in names:
        if not name.startswith(("Etc/", "SystemV/", "posix/", "right/")):
            cities.setdefault(_key(name.rpartition("/")[2]), name)
    return {**cities, **_CITIES, **{_key(name): name for name in names}}


def _key(name: str) -> str:
    """`name` without case, accents, underscores and a word for city that follows it."""
    marks = unicodedata.normalize("NFKD", name).casefold()
    plain = "".join(" " if mark in "_-" and "gmt" not in marks else mark for mark in marks if mark.isprintable())
    letters = "".join(mark for mark in plain if not unicodedata.combining(mark))
    return " ".join(letters.replace(".", "").split()).removesuffix("市")


clock = Tool(
    "clock",
    "Tells the date, the time and the day of the week now, in UTC or in a time zone or city: Asia/Shanghai, New York.",
    tell_time,
    {
        "type": "object",
        "properties": {
            "zone": {
                "type": "string",
                "default": "UTC",
                "description": "an IANA time zone such as Europe/Berlin, or a city",
            }
        },
    },
    effect="read",
    repeatable=True,
)
"""Tells the date and time."""
