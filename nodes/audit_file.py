"""The audit log as a file: one JSON line a record, added and never rewritten."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_LINE = re.compile(r'\{"mac":"([^"\\]*)","record":(\{.*\})\}')


def line(record: str, mac: str) -> str:
    """A record and its code as one JSON object; the record stands in it letter for letter."""
    return f'{{"mac":"{mac}","record":{record}}}'


def add_line(path: Path, text: str) -> None:
    """Write a line at the end and wait until the disk has it; a new file can be read by its owner only.

    Raises:
        OSError: it could not be written in full.
    """
    # Windows would write other line ends without O_BINARY, which exists only there.
    file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
    try:
        # After a crash in the middle of a line, the next one must not become part of it.
        torn = os.fstat(file).st_size > 0 and _last_byte(file) != b"\n"
        data = (b"\n" if torn else b"") + f"{text}\n".encode()
        # In one write, so that the lines of several processes do not mix.
        if os.write(file, data) != len(data):
            raise OSError(f"{path}: the record was not written in full")
        os.fsync(file)
    finally:
        os.close(file)


def read_file(path: Path) -> Iterator[dict[str, Any]]:
    """Every line as `record`, `mac` and the number of the `line`; one that cannot be read has an empty `mac`."""
    with open(path, encoding="utf-8", errors="backslashreplace", newline="\n") as lines:
        for number, text in enumerate(lines, 1):
            found = _LINE.fullmatch(text.removesuffix("\n"))
            record, mac = (found[2], found[1]) if found else (text, "")
            yield {"record": record, "mac": mac, "line": number}


def _last_byte(file: int) -> bytes:
    os.lseek(file, -1, os.SEEK_END)
    return os.read(file, 1)
