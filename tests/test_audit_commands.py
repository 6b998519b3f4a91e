"""`reasonact audit`: what it prints, and what the shell sees."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from nodes.audit import Audit
from reasonact import home
from reasonact.audit_commands import audit_app
from reasonact.commands import Commands
from tests.audit_log import KEY, database, fill, tamper
from tools.database import Database

__all__ = ["database"]

app = typer.Typer(cls=Commands)
app.add_typer(audit_app, name="audit")


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["audit", *map(str, arguments)])


@pytest.fixture
def log(database: Database, monkeypatch: pytest.MonkeyPatch) -> Database:
    @contextmanager
    def here() -> Iterator[Database]:
        yield database

    monkeypatch.setattr(home, "database", here, raising=False)
    monkeypatch.setenv("REASONACT_AUDIT_KEY", KEY.decode())
    fill(database, Audit(KEY))
    return database


def test_a_sound_log(log: Database) -> None:
    done = run("verify")
    assert done.exit_code == 0
    assert done.stdout.startswith(
        "sound: checked 8 records of 2 threads with the key in REASONACT_AUDIT_KEY; without an"
    )
    assert "checked 4 records of 1 threads" in run("verify", "t2").stdout


def test_every_fault_is_a_line(log: Database) -> None:
    tamper(log, "UPDATE audit SET kind = 'x\ny' WHERE seq = 2", "DELETE FROM audit WHERE thread_id = 't2' AND seq = 3")
    done = run("verify")
    lines = done.stdout.splitlines()
    assert done.exit_code == 1 and len(lines) == 4 and lines[-1].startswith("3 faults: checked 7 records of 2 threads")
    assert run("verify", "t1").stdout.startswith("thread t1: record 2 has another kind in its column")


def test_an_anchor_finds_what_was_cut_off(log: Database, tmp_path: Path) -> None:
    anchor = tmp_path / "anchor.json"
    anchor.write_text(run("anchor").stdout)
    assert set(json.loads(anchor.read_text())) == {"t1", "t2"}
    assert run("verify", "--anchor", anchor).exit_code == 0 == run("verify", "t1", "--anchor", anchor).exit_code
    tamper(log, "DELETE FROM audit WHERE thread_id = 't1'", "DELETE FROM audit WHERE thread_id = 't2' AND seq = 4")
    assert run("verify").exit_code == 0
    done = run("verify", "--anchor", anchor)
    assert (
        done.exit_code == 1 and done.stdout.startswith("thread t1 is missing") and "t2 ends at record 3" in done.stdout
    )
    assert run("verify", "t1", "--anchor", anchor).exit_code == 1


def test_without_a_key_it_says_so(log: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REASONACT_AUDIT_KEY")
    done = run("verify")
    assert done.exit_code == 1 and "no record fits" in done.stdout and "without a key" in done.stdout


def test_an_export_can_be_checked(log: Database, tmp_path: Path) -> None:
    file = tmp_path / "export.jsonl"
    file.write_text(run("export").stdout)
    assert len(file.read_text().splitlines()) == 8 and len(run("export", "t1").stdout.splitlines()) == 4
    assert run("verify", "--file", file).exit_code == 0
    file.write_text(file.read_text().replace('"n":3', '"n":4', 1))
    done = run("verify", "--file", file)
    assert done.exit_code == 1 and done.stdout.splitlines()[0].startswith("thread t1: record 3 was edited")
    assert run("verify", "t2", "--file", file).exit_code == 0


def test_show_prints_one_line_an_event(log: Database) -> None:
    with log.transaction() as transaction:
        data = {"step": 3, "text": "a\nb\x1b[31m \u202e", "args": {"n": [1]}, "long": "x" * 300}
        Audit(KEY).append(transaction, "t1", "r", "outcome", data)
    lines = run("show", "t1").stdout.splitlines()
    assert len(lines) == 5 and " 2 intent       step -  n=2" in lines[1]
    assert r'5 outcome      step 3  args={"n": [1]} long=xxx' in lines[4] and lines[4].endswith("…")
    assert run("show", "t1", "--kind", "outcome").stdout.splitlines() == lines[4:]
    with log.transaction() as transaction:
        Audit(KEY).append(transaction, "t3", "r", "outcome", {"text": data["text"]})
    assert run("show", "t3").stdout.endswith("step -  text=a\\nb\\u001b[31m \\u202e\n")


def test_show_bears_a_log_that_was_edited(log: Database) -> None:
    tamper(
        log,
        "UPDATE audit SET record = 'x' WHERE seq = 1",
        "UPDATE audit SET record = replace(record, '\"at\":', '\"at\":9e99') WHERE seq = 2",
    )
    done = run("show", "t1")
    assert done.exit_code == 0 and "cannot be read" in done.stdout and len(done.stdout.splitlines()) == 4


def test_what_cannot_be_done_is_one_sentence(log: Database, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text("[1]")
    for arguments in (
        ["verify", "nobody"],
        ["show", "nobody"],
        ["verify", "--file", tmp_path / "none"],
        ["verify", "--anchor", tmp_path / "none"],
        ["verify", "--anchor", tmp_path / "bad.json"],
    ):
        done = run(*arguments)
        assert done.exit_code == 2 and done.stderr.startswith("reasonact: ") and done.stderr.count("\n") == 1
