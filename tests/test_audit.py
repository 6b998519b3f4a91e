"""The audit log: no change of it goes unnoticed."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from nodes.audit import Audit, canonical, content, heads, read_file, verify
from nodes.audit_check import seal
from tests.audit_log import KEY, Items, chain, database, fill, kept, opened, tamper
from tools.database import Database

__all__ = ["database"]


def test_what_is_written_is_sound(database: Database) -> None:
    fill(database, Audit(KEY))
    items = kept(database)
    assert [(item["thread"], item["seq"]) for item in items] == [(t, n) for t in ("t1", "t2") for n in (1, 2, 3, 4)]
    assert verify(items, KEY, heads(items)) == [] and kept(database, "t2") == items[4:]
    said = content(items[0])
    assert said is not None and said["data"] == {"n": 1} and said["event_key"] == "e1" and said["at"] == items[0]["at"]
    assert items[0]["record"] == canonical(said) and items[0]["record"].isascii()


def test_without_a_key_it_is_sound_too_but_anyone_could_have_written_it(database: Database) -> None:
    fill(database, Audit())
    assert verify(kept(database), None) == []
    with pytest.raises(ValueError, match="empty"):
        Audit(b"")


EDITS = {
    "thread_id": "'t2'",
    "seq": "7",
    "run_id": "'other'",
    "kind": "'done'",
    "at": "at + 1",
    "record": """replace(record, '"n":2', '"n":9')""",
    "mac": "replace(mac, substr(mac, 1, 1), 'x')",
    "event_key": "'e9'",
}
WHERE = "WHERE thread_id = 't1' AND seq = 2"


@pytest.mark.parametrize("column", EDITS)
@pytest.mark.parametrize("key", [KEY, None])
def test_an_edit_of_any_column_is_found(database: Database, column: str, key: bytes | None) -> None:
    fill(database, Audit(key))
    tamper(database, f"UPDATE audit SET {column} = {EDITS[column]} {WHERE}")
    faults = verify(kept(database), key)
    assert faults and all("record 2" in fault or "record 3" in fault for fault in faults)


def test_one_edit_is_one_fault(database: Database) -> None:
    fill(database, Audit(KEY))
    tamper(database, f"UPDATE audit SET record = {EDITS['record']} {WHERE}")
    assert verify(kept(database), KEY) == ["thread t1: record 2 was edited, or written without the key"]


def test_the_last_column_edited_to_nothing_is_found(database: Database) -> None:
    fill(database, Audit(KEY))
    tamper(database, f"UPDATE audit SET event_key = NULL, record = NULL, mac = NULL {WHERE}")
    assert verify(kept(database), KEY)[0].startswith("thread t1: record 2 cannot be read")


TAMPERING = {
    "delete": (f"DELETE FROM audit {WHERE}", "thread t1: record 2 is missing before record 3"),
    "delete two": ("DELETE FROM audit WHERE thread_id = 't1' AND seq < 3", "records 1 to 2 are missing"),
    "swap": (
        "UPDATE audit SET record = (SELECT record FROM audit other WHERE other.thread_id = 't1' AND"
        " other.seq = 5 - audit.seq) WHERE thread_id = 't1' AND seq IN (2, 3)",
        "has another seq in its column",
    ),
    "swap whole rows": (
        "UPDATE audit SET seq = 5 - seq WHERE thread_id = 't1' AND seq IN (2, 3)",
        "has another seq in its column",
    ),
    "duplicate": (f"INSERT INTO audit SELECT * FROM audit {WHERE}", "record 2 stands there twice"),
    "move to another thread": (
        f"INSERT INTO audit SELECT 't2', 5, run_id, kind, at, record, mac, 'e5' FROM audit {WHERE}",
        "has another thread in its column",
    ),
}


@pytest.mark.parametrize("name", TAMPERING)
@pytest.mark.parametrize("key", [KEY, None])
def test_what_is_moved_or_removed_is_found(database: Database, name: str, key: bytes | None) -> None:
    statement, fault = TAMPERING[name]
    fill(database, Audit(key))
    tamper(database, statement)
    assert fault in "\n".join(verify(kept(database), key))


def test_what_is_cut_off_is_found_only_against_an_anchor(database: Database) -> None:
    fill(database, Audit(KEY))
    anchor = heads(kept(database))
    tamper(database, "DELETE FROM audit WHERE thread_id = 't1' AND seq > 2")
    assert verify(kept(database), KEY) == []
    assert verify(kept(database), KEY, anchor) == [
        "thread t1 ends at record 2: it was cut off, the anchor has 4 records"
    ]
    read_back = json.loads(json.dumps(anchor))
    assert verify(kept(database), KEY, read_back) == verify(kept(database), KEY, anchor), "an anchor is plain JSON"


def test_a_thread_that_was_removed_is_found_only_against_an_anchor(database: Database) -> None:
    fill(database, Audit(KEY))
    anchor = heads(kept(database))
    tamper(database, "DELETE FROM audit WHERE thread_id = 't1'")
    assert verify(kept(database), KEY) == []
    assert verify(kept(database), KEY, anchor) == ["thread t1 is missing: the anchor has 4 records of it"]


def test_a_log_that_grew_since_the_anchor_is_sound(database: Database) -> None:
    fill(database, Audit(KEY), events=2)
    anchor = heads(kept(database))
    fill(database, Audit(KEY), ("t1", "t2", "t3"), events=5)
    assert verify(kept(database), KEY, anchor) == []


def test_without_a_key_all_can_be_written_anew_but_not_past_an_anchor(database: Database) -> None:
    fill(database, Audit())
    anchor = heads(kept(database))
    forged = opened("memory")
    fill(forged, Audit(), events=6)
    assert verify(kept(forged), None) == []
    assert "record 4 is not the one that was anchored" in verify(kept(forged), None, anchor)[0]


def test_a_record_added_without_the_key_is_found(database: Database) -> None:
    fill(database, Audit(KEY))
    with database.transaction() as transaction:
        Audit().append(transaction, "t1", "run-t1", "decision", {"approve": True})
    assert verify(kept(database), KEY) == ["thread t1: record 5 was edited, or written without the key"]
    fill(database, Audit(KEY), ("t1",), events=7)
    assert len(verify(kept(database), KEY)) == 1, "what is added after it is still sound"


@pytest.mark.parametrize(("written", "read"), [(KEY, b"another"), (KEY, None), (None, KEY)])
def test_a_wrong_key_is_one_sentence(database: Database, written: bytes | None, read: bytes | None) -> None:
    fill(database, Audit(written))
    (fault,) = verify(kept(database), read)
    assert fault.startswith("no record fits the key")


def test_the_table_refuses_changes(database: Database) -> None:
    fill(database, Audit(KEY))
    before = kept(database)
    replacing = (
        (
            "TRUNCATE audit",
            "INSERT INTO audit SELECT * FROM audit ON CONFLICT (thread_id, seq) DO UPDATE SET kind = 'x'",
        )
        if database.kind == "postgresql"
        else (
            "INSERT OR REPLACE INTO audit SELECT thread_id, seq, run_id, 'x', at, record, mac, event_key FROM audit",
            "INSERT INTO audit SELECT thread_id, seq + 9, run_id, 'x', at, record, mac, event_key FROM audit",
        )
    )
    for statement in ("UPDATE audit SET kind = 'x'", "DELETE FROM audit", *replacing):
        with pytest.raises(Exception, match="append-only"), database.transaction() as transaction:
            transaction.run(statement)
    assert kept(database) == before


def test_the_same_event_is_written_once(database: Database, tmp_path: Path) -> None:
    audit = Audit(KEY, file=tmp_path / "audit.jsonl")
    for _ in range(2):
        fill(database, audit)
    with database.transaction() as transaction:
        for _ in range(2):
            audit.append(transaction, "t1", "r", "note", {})
    assert len(kept(database, "t1")) == 6 and len(kept(database, "t2")) == 4, "without a key nothing is skipped"
    assert verify(kept(database), KEY) == [] and len(list(read_file(tmp_path / "audit.jsonl"))) == 10


def test_a_record_falls_with_its_transaction(database: Database) -> None:
    audit = Audit(KEY)
    fill(database, audit)
    with pytest.raises(RuntimeError), database.transaction() as transaction:
        audit.append(transaction, "t1", "r", "done", {})
        raise RuntimeError
    assert len(kept(database, "t1")) == 4


def test_threads_at_work_at_once_leave_no_gap(database_url: str, tmp_path: Path) -> None:
    url = database_url
    shared = opened(url)
    audit = Audit(KEY, file=tmp_path / "audit.jsonl")

    def work(number: int) -> None:
        database = shared if number % 2 else Database(url)
        for event in range(20):

            def add(transaction: Any, event: int = event) -> None:
                audit.append(transaction, f"t{number}", "r", "event", {"n": event}, f"e{event}")
                audit.append(transaction, "everyone", "r", "event", {"n": event})

            database.perform(add)
        if database is not shared:
            database.close()

    workers = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    items = kept(shared)
    shared.close()
    assert verify(items, KEY) == [] and len(items) == 320
    assert heads(items)["everyone"][0] == 160 and all(heads(items)[f"t{number}"][0] == 20 for number in range(8))
    lines = list(read_file(tmp_path / "audit.jsonl"))
    assert verify(lines, KEY, heads(items)) == [] and len(lines) >= 320


def by_thread(items: Items) -> Items:
    return sorted(items, key=lambda item: str((content(item) or {}).get("thread")))


OTHER: dict[type, Callable[[Any], Any]] = {int: lambda old: old + 1, float: lambda old: old + 0.5}


@st.composite
def tampered(draw: st.DrawFn) -> tuple[bytes | None, Items, Items]:
    key = draw(st.sampled_from([KEY, None]))
    sound = chain(draw(st.lists(st.integers(1, 6), min_size=1, max_size=3)), key)
    items = [dict(item) for item in sound]
    at = draw(st.integers(0, len(items) - 1))
    other = draw(st.integers(0, len(items) - 1))
    how = draw(st.sampled_from(["edit", "letter", "delete", "swap", "double", "forge", "cut", "thread"]))
    if how == "edit":
        column = draw(st.sampled_from(sorted(items[at])))
        items[at][column] = OTHER.get(type(items[at][column]), lambda old: old + " ")(items[at][column])
    elif how == "letter":
        text = items[at]["record"]
        place = draw(st.integers(0, len(text) - 1))
        letter = draw(st.characters(min_codepoint=32, max_codepoint=126).filter(lambda mark: mark != text[place]))
        items[at]["record"] = text[:place] + letter + text[place + 1 :]
    elif how == "delete":
        del items[at]
    elif how == "swap" and at != other:
        for column in draw(st.sampled_from([["record"], ["mac"], ["record", "mac"], list(items[at])])):
            items[at][column], items[other][column] = items[other][column], items[at][column]
    elif how == "double":
        items.insert(draw(st.integers(0, len(items))), dict(items[at]))
    elif how == "cut":
        thread, seq = items[at]["thread"], items[at]["seq"]
        items = [item for item in items if item["thread"] != thread or item["seq"] < seq]
    elif how == "thread":
        items = [item for item in items if item["thread"] != items[at]["thread"]]
    else:
        columns = {
            "thread": "t0",
            "seq": heads(items)["t0"][0] + 1,
            "run": "r",
            "kind": "k",
            "at": 1.0,
            "event_key": None,
        }
        record = canonical({**columns, "data": {}})
        items.append({**columns, "record": record, "mac": seal(b"guess", heads(items)["t0"][1], record)})
    return key, sound, items


@given(case=tampered(), in_file=st.booleans())
def test_no_single_tampering_goes_unnoticed(case: tuple[bytes | None, Items, Items], in_file: bool) -> None:
    key, sound, items = case
    anchor = heads(sound)
    assert verify(sound, key, anchor) == []
    if in_file:
        sound, items = ([{"record": item["record"], "mac": item["mac"]} for item in some] for some in (sound, items))
    # The order of the threads among each other is not promised, and a file has no columns.
    assume(by_thread(items) != by_thread(sound))
    assert verify(items, key, anchor)
