"""Whether an audit log is as it was written: what was edited, removed, moved, doubled, forged or cut off."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Anchor = Mapping[str, Sequence[Any]]
"""The last number and code of every thread at some time, kept where whoever can change the log cannot."""

COLUMNS = ("thread", "seq", "run", "kind", "at", "event_key")
"""What stands in a record beside `data`, and again in columns of the table."""


def seal(key: bytes | None, before: str, record: str) -> str:
    """The code of a record: it depends on the record, on the code before it, and on the key if there is one."""
    text = (before + record).encode()
    return hmac.digest(key, text, "sha256").hex() if key else hashlib.sha256(text).hexdigest()


def content(item: Mapping[str, Any]) -> dict[str, Any] | None:
    """What a record says, or None if it cannot be read."""
    try:
        said = json.loads(item["record"])
    except (TypeError, ValueError, RecursionError):
        return None
    if not isinstance(said, dict) or set(said) != {*COLUMNS, "data"}:
        return None
    seq, thread = said["seq"], said["thread"]
    return said if isinstance(thread, str) and type(seq) is int and seq > 0 else None


def verify(records: Iterable[Mapping[str, Any]], key: bytes | None, anchor: Anchor | None = None) -> list[str]:
    """What is wrong with the records of a table or a file, as sentences; an empty list if nothing is.

    Records cut off at the end, and whole threads that were removed, are found only against an anchor. Without a key
    accidents are found, but not somebody who computes the codes anew. The order of the threads among each other in a
    file is not checked.
    """
    chains: dict[str, _Chain] = {}
    faults: list[str] = []
    misfits: list[str] = []
    fits = 0
    for place, item in enumerate(records, 1):
        said = content(item)
        if said is None:
            faults.append(f"{_place(item, place)} cannot be read: it was edited, or torn by a crash")
            continue
        faults += _columns(item, said)
        chain = chains.setdefault(said["thread"], _Chain(said["thread"], key))
        fault, misfit = chain.add(said["seq"], item["record"], str(item["mac"]), in_table="seq" in item)
        faults += fault
        misfits += misfit
        fits += not misfit
    if misfits and not fits:
        misfits = ["no record fits the key: it is not the key that the log was written with, or all was written anew"]
    return faults + misfits + _against(anchor or {}, chains)


def heads(records: Iterable[Mapping[str, Any]]) -> dict[str, tuple[int, str]]:
    """The last number and code of every thread: the anchor, to be kept elsewhere."""
    last: dict[str, tuple[int, str]] = {}
    for item in records:
        said = content(item)
        if said is not None:
            last[said["thread"]] = (said["seq"], str(item["mac"]))
    return last


class _Chain:
    """The records of one thread so far."""

    def __init__(self, thread: str, key: bytes | None) -> None:
        self.thread, self.key, self.last = thread, key, 0
        self.codes: dict[int, tuple[str, ...]] = {0: ("",)}
        self.seen: set[str] = set()

    def add(self, seq: int, record: str, mac: str, in_table: bool) -> tuple[list[str], list[str]]:
        """Take the next record; what is wrong with its place, and with its code."""
        before = self.codes.get(seq - 1, ())
        fitting = any(hmac.compare_digest(seal(self.key, code, record).encode(), mac.encode()) for code in before)
        name = f"thread {self.thread}: record {seq}"
        if mac in self.seen:
            return [f"{name} stands there twice, or has the code of another"], []
        self.seen.add(mac)
        if seq <= self.last and (in_table or not fitting):
            return [f"{name} stands after record {self.last}: it was moved, doubled or forged"], []
        faults = []
        if seq > self.last + 1:
            missing = f"record {seq - 1} is" if seq == self.last + 2 else f"records {self.last + 1} to {seq - 1} are"
            faults = [f"thread {self.thread}: {missing} missing before record {seq}"]
        for later in [number for number in self.codes if number >= seq]:
            # A file also holds what was written in a transaction that was undone; what came instead takes its place.
            del self.codes[later]
        self.last = seq
        # Either code may be the true one, so that one edit is not told again at the record that follows.
        self.codes[seq] = (mac, *(seal(self.key, code, record) for code in before if not fitting))
        misfit = before and not fitting
        return faults, [f"{name} was edited, or written without the key"] if misfit else []


def _columns(item: Mapping[str, Any], said: Mapping[str, Any]) -> list[str]:
    return [
        f"thread {said['thread']}: record {said['seq']} has another {name} in its column: edited or swapped"
        for name in COLUMNS
        if name in item and item[name] != said[name]
    ]


def _against(anchor: Anchor, chains: Mapping[str, _Chain]) -> list[str]:
    faults = []
    for thread, (seq, mac) in anchor.items():
        chain = chains.get(thread)
        if chain is None:
            faults.append(f"thread {thread} is missing: the anchor has {seq} records of it")
        elif chain.last < seq:
            faults.append(f"thread {thread} ends at record {chain.last}: it was cut off, the anchor has {seq} records")
        elif mac not in chain.codes.get(seq, ())[:1]:
            faults.append(f"thread {thread}: record {seq} is not the one that was anchored: written anew since then")
    return faults


def _place(item: Mapping[str, Any], place: int) -> str:
    if "line" in item:
        return f"line {item['line']}"
    return f"thread {item.get('thread')}: record {item.get('seq')}" if "seq" in item else f"record number {place}"
