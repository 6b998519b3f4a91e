"""Which process holds a lease, and whether it is still there."""

from __future__ import annotations

import os
import socket
from functools import cache
from pathlib import Path


def owner() -> str:
    """This process, told apart from every other one, past ones included."""
    pid = os.getpid()
    return f"{_machine()} {pid} {_born(pid)}"


@cache
def _machine() -> str:
    try:
        # Process ids mean nothing outside their boot and their namespace.
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}/{os.readlink('/proc/self/ns/pid')}".replace(" ", "")
    except OSError:
        return socket.gethostname().replace(" ", "") or "host"


def _born(pid: int) -> str:
    try:
        state, *facts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        # A process that ended and that nobody has waited for yet does nothing any more.
        return "" if state in "ZX" else facts[18]
    except (OSError, IndexError):
        return ""


def is_dead(held_by: str) -> bool:
    """Whether the owner was a process of this machine that is gone: only then nobody need wait for its lease."""
    parts = held_by.split(" ")
    if len(parts) != 3 or parts[0] != _machine() or not parts[1].isdigit():
        return False
    if parts[2]:
        return _born(int(parts[1])) != parts[2]
    try:
        os.kill(int(parts[1]), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False
