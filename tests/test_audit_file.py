"""The audit log as a file, and what never gets into it."""

from __future__ import annotations

import base64
import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.audit import Audit, content, heads, line, read_file, verify
from nodes.redacting import Redaction
from tests.audit_log import KEY, chain, database, fill, kept
from tools.database import Database

__all__ = ["database"]

SECRET = "correct-horse-battery"


@pytest.fixture
def path(database: Database, tmp_path: Path) -> Path:
    fill(database, Audit(KEY, file=tmp_path / "audit.jsonl"))
    return tmp_path / "audit.jsonl"


def test_the_file_holds_the_same_records(database: Database, path: Path) -> None:
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    lines = list(read_file(path))
    assert verify(lines, KEY, heads(kept(database))) == [] and heads(lines) == heads(kept(database))
    assert {item["record"] for item in lines} == {item["record"] for item in kept(database)}
    parsed = [json.loads(text) for text in path.read_text().splitlines()]
    assert parsed[0]["record"]["data"] == {"n": 1} and parsed[0]["mac"] == lines[0]["mac"]


def test_a_record_that_was_undone_stays_in_the_file_and_is_no_fault(database: Database, path: Path) -> None:
    audit = Audit(KEY, file=path)
    for _ in range(2):
        with pytest.raises(RuntimeError), database.transaction() as transaction:
            audit.append(transaction, "t1", "r", "undone", {})
            audit.append(transaction, "t1", "r", "undone", {})
            raise RuntimeError
    anchored_before = heads(kept(database))
    assert verify(read_file(path), KEY, anchored_before) == []
    fill(database, audit, events=7)
    assert verify(read_file(path), KEY, heads(kept(database))) == []
    lines = path.read_text().splitlines(keepends=True)
    undone = next(text for text in lines if '"undone"' in text)
    path.write_text("".join([*lines, undone]))
    assert "twice" in verify(read_file(path), KEY)[0], "an undone record cannot be brought back"


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: [*lines[:2], *lines[3:]],
        lambda lines: [lines[0], lines[1], lines[4], lines[3], lines[2], *lines[5:]],
        lambda lines: [*lines, lines[0]],
        lambda lines: [*lines, lines[-1]],
        lambda lines: [*lines[:3], "\n", *lines[3:]],
        lambda lines: [*lines[:-1], lines[-1][:40]],
        lambda lines: lines[1:],
    ],
)
def test_changes_of_the_file_are_found(path: Path, change: Callable[[list[str]], list[str]]) -> None:
    path.write_text("".join(change(path.read_text().splitlines(keepends=True))))
    assert verify(read_file(path), KEY)


def test_a_line_torn_by_a_crash_does_not_spoil_the_next_one(database: Database, path: Path) -> None:
    with path.open("a") as file:
        file.write('{"mac":"12')
    fill(database, Audit(KEY, file=path), events=5)
    assert verify(read_file(path), KEY) == ["line 9 cannot be read: it was edited, or torn by a crash"]


def test_a_file_that_cannot_be_written_undoes_the_transaction(database: Database, tmp_path: Path) -> None:
    with pytest.raises(OSError), database.transaction() as transaction:
        Audit(KEY, file=tmp_path / "no" / "folder").append(transaction, "t1", "r", "event", {})
    assert kept(database) == []


def test_no_secret_reaches_the_record_or_the_file(database: Database, tmp_path: Path) -> None:
    data = SECRET.encode()
    forms = [SECRET, data.hex(), data.hex().upper()]
    forms += [base64.b64encode(b"x" * before + data + b"y").decode() for before in range(3)]
    audit = Audit(KEY, hide=Redaction(secrets=(SECRET,), thoughts="drop"), file=tmp_path / "audit.jsonl")
    said = {"args": [f"a {form} b" for form in forms], SECRET: {"thought": "I see", "deep": [{"x": forms}]}}
    with database.transaction() as transaction:
        audit.append(transaction, "t1", "r", "intent", {**said, "key": "sk-abcdefgh12345678", "password": "hunter2"})
    written = kept(database)[0]["record"] + (tmp_path / "audit.jsonl").read_text()
    for form in [*forms, *(form[4:-4] for form in forms), "sk-abcdefgh12345678", "hunter2", "I see"]:
        assert form not in written
    assert verify(kept(database), KEY) == []


def test_odd_texts_survive(database: Database, tmp_path: Path) -> None:
    audit = Audit(KEY, file=tmp_path / "audit.jsonl")
    odd = "line\nbreak\u2028 \x00 \ud800 北京 \x85 \x1c end"
    with database.transaction() as transaction:
        audit.append(transaction, "t1", "r", "event", {"text": odd})
        audit.append(transaction, "t1", "r", "event", {"text": odd})
    assert verify(kept(database), KEY) == verify(read_file(tmp_path / "audit.jsonl"), KEY) == []
    said = content(kept(database)[0])
    assert said is not None and said["data"]["text"] == odd


@given(data=st.data())
def test_no_byte_of_a_file_can_be_changed(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    text = "".join(f"{line(item['record'], item['mac'])}\n" for item in chain([2, 1], KEY)).encode()
    place = data.draw(st.integers(0, len(text) - 1))
    changed = bytearray(text)
    changed[place] ^= data.draw(st.integers(1, 255))
    path = tmp_path_factory.getbasetemp() / "changed.jsonl"
    path.write_bytes(changed)
    assert verify(read_file(path), KEY)
