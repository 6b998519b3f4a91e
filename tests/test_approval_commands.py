"""`reasonact approvals`: what waits for a person is listed, shown and decided away from the run that asks."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from reasonact.endings import ExitCode
from reasonact.equipment import toolbox_of
from reasonact.home import saver
from tests.test_cli import ANSWER, PAY, Command, Done, Reply, command, until

__all__ = ["command"]

PAY_MORE: Reply = ("I pay more.", [("pay", {"to": "Bob", "amount": 30})])


def ids(command: Command) -> list[str]:
    return [row.split("\t")[0] for row in command.run("approvals").stdout.splitlines()]


def waiting(command: Command, *words: str, thread: str = "t", replies: tuple[Reply, ...] = (PAY, ANSWER)) -> str:
    """The id of the call that a thread waits for."""
    command.says(*replies)
    done = command.run("ask", "--json", "--thread", thread, *words, "Pay.")
    assert done.returncode == ExitCode.WAITING, done.stderr
    return str(json.loads(done.stdout)["approval"])


def policy(command: Command, text: str) -> Path:
    path = command.home / "reasonact" / "approvals.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def ledger(command: Command, sql: str = "SELECT * FROM tool_calls ORDER BY step") -> list[dict[str, Any]]:
    database = sqlite3.connect(command.home / "reasonact" / "checkpoints.sqlite")
    database.row_factory = sqlite3.Row
    try:
        return [dict(row) for row in database.execute(sql).fetchall()]
    finally:
        database.commit()
        database.close()


def refused(done: Done, *said: str) -> None:
    assert (done.returncode, done.stdout) == (ExitCode.REFUSED, "")
    assert "Traceback" not in done.stderr and done.stderr.count("\n") == 1
    for words in said:
        assert words in done.stderr


def test_what_waits_is_listed_oldest_first(command: Command) -> None:
    assert command.run("approvals").stdout == "" and json.loads(command.run("approvals", "--json").stdout) == []
    first = waiting(command, thread="z")
    second = waiting(command, thread="a", replies=(("", [("pay", {"to": "x\t\n\u202e" * 30, "amount": 1})]), ANSWER))
    rows = [row.split("\t") for row in command.run("approvals", "list").stdout.splitlines()]
    assert [row[:4] for row in rows] == [[first, "z", "pay", "irreversible"], [second, "a", "pay", "irreversible"]]
    assert rows[0][4].endswith(" s") and rows[0][5:] == ["24 h", 'to="Ann", amount=20']
    assert rows[1][6].startswith(r'to="x\t\n\u202ex') and len(rows[1][6]) == 60
    told = json.loads(command.run("approvals", "--json").stdout)
    assert [(each["id"], each["thread"], each["status"]) for each in told] == [
        (first, "z", "awaiting"),
        (second, "a", "awaiting"),
    ]
    assert told[0]["args"] == {"to": "Ann", "amount": 20} and told[0]["thought"] == "I pay."
    assert told[0]["expires_at"] - told[0]["asked_at"] == 24 * 3600


def test_a_question_is_shown_in_full(command: Command) -> None:
    id = waiting(command, replies=(("I\u200bpay.", [("pay", {"to": "Ann\n  amount: 1\x1b", "amount": 20})]), ANSWER))
    lines = command.run("approvals", "show", id).stdout.splitlines()
    assert lines[:3] == ["pay on thread t", r'  to: "Ann\n  amount: 1\u001b"', "  amount: 20"]
    assert lines[-1] == r"The model's thought: I\u200bpay."
    (row,) = ledger(command)
    for line in (
        f"Id: {id} ({row['call_uid']})",
        "Effect: irreversible, once",
        f"Hash: {row['args_sha256']}",
        "Status: waits for a decision",
        "Why a person is asked: its effect is irreversible",
    ):
        assert line in lines
    assert any(line.startswith("Expires: 20") for line in lines)
    assert command.run("approvals", "show", row["call_uid"]).stdout.splitlines() == lines
    assert json.loads(command.run("approvals", "show", id[:6].upper(), "--json").stdout)["call_uid"] == row["call_uid"]


def test_an_approval_and_then_a_resume_run_the_call_once(command: Command) -> None:
    id = waiting(command)
    done = command.run("approvals", "approve", id, "--why", "she is right", "--as", "Eve")
    assert done.returncode == 0 and f"approved {id}: pay" in done.stderr
    assert "go on within 15 minutes with: reasonact resume t" in done.stderr
    assert command.effects == [] and ids(command) == []
    assert command.run("threads").stdout.split("\t")[2] == "decided, to be resumed"
    refused(command.run("resume", "t", "--answer", "reject"), "decided already: approve by Eve")
    done = command.run("resume", "-q")
    assert (done.returncode, done.stdout, command.effects) == (0, "it is done.\n", ["pay Ann 20"])
    refused(command.run("resume", "t"), "is finished")
    assert command.effects == ["pay Ann 20"]
    shown = command.run("approvals", "show", id).stdout
    assert "Decision: it was decided already: approve by Eve" in shown and "Why: she is right" in shown
    assert "Result: paid 20 to Ann" in shown
    refused(command.run("approvals", "reject", id), f"too late for {id}: it was decided already: approve by Eve")


def test_a_decision_and_the_resume_in_one_command(command: Command) -> None:
    id = waiting(command)
    done = command.run("approvals", "approve", id, "--resume")
    assert (done.returncode, done.stdout, command.effects) == (0, "it is done.\n", ["pay Ann 20"])


def test_always_holds_for_the_run(command: Command) -> None:
    id = waiting(command, replies=(PAY, PAY_MORE, ANSWER))
    assert command.run("approvals", "approve", id, "--always", "--resume").returncode == 0
    assert command.effects == ["pay Ann 20", "pay Bob 30"]


def test_the_next_question_is_asked(command: Command) -> None:
    first = waiting(command, replies=(PAY, PAY_MORE, ANSWER))
    done = command.run("approvals", "approve", first, "--resume")
    (second,) = ids(command)
    assert done.returncode == ExitCode.WAITING and command.effects == ["pay Ann 20"] and second != first
    assert (
        f"reasonact approvals approve {second}" in done.stderr and "reasonact resume t --answer approve" in done.stderr
    )


def test_an_edit(command: Command) -> None:
    policy(command, '[[rules]]\ntool = "pay"\nargument = "amount"\nover = 100\nthen = "deny"\n')
    id = waiting(command)
    for words, said in (
        ("{oops", "are not JSON"),
        ("", "must be a JSON object"),
        ("[1]", "must be a JSON object"),
        ('{"to": "Ann", "amount": "lots"}', "do not fit"),
        ('{"to": "Ann"}', "do not fit"),
        ('{"to": "Ann", "amount": 500}', "the policy forbids these arguments"),
    ):
        refused(command.run("approvals", "edit", id, words), said)
    done = command.run("approvals", "edit", id, '{"to": "Ann", "amount": "5"}', "--why", "less", "--resume")
    assert done.returncode == 0, done.stderr
    assert command.effects == ["pay Ann 5"]
    assert "a person changed the arguments" in json.dumps(command.requests[-1])
    shown = command.run("approvals", "show", id).stdout
    assert 'Before the edit: {"amount": 20, "to": "Ann"}' in shown
    assert "  amount: 5\n" in shown and "Why: less" in shown


def test_a_rejection_with_a_reason(command: Command) -> None:
    id = waiting(command)
    done = command.run("approvals", "reject", id, "she is rich")
    assert done.returncode == 0 and "go on with: reasonact resume t" in done.stderr
    assert command.run("resume", "t").returncode == 0
    assert command.effects == [] and "she is rich" in json.dumps(command.requests[-1])
    assert ledger(command)[0]["status"] == "rejected"


def test_a_response(command: Command) -> None:
    id = waiting(command)
    refused(command.run("approvals", "respond", id, " "), "respond needs a message")
    assert command.run("approvals", "respond", id, "paid in cash", "--resume").returncode == 0
    assert command.effects == [] and "paid in cash" in json.dumps(command.requests[-1])


def test_what_nobody_decided_in_time(command: Command) -> None:
    policy(command, "unanswered_hours = 0\n")
    id = waiting(command)
    refused(command.run("approvals", "approve", id), "nobody decided in time")
    other = waiting(command, thread="u")
    assert ids(command) == []
    assert {row["status"] for row in ledger(command)} == {"expired"}
    refused(command.run("approvals", "approve", other), "nobody decided in time")
    assert command.run("threads").stdout.count("decided, to be resumed") == 2
    refused(command.run("resume", "t", "--answer", "approve"), "nobody decided in time")
    assert command.run("resume", "t").returncode == 0
    assert command.effects == [] and "nobody decided within 0 hours" in json.dumps(command.requests[-1])


def test_the_hash_binds_a_decision_to_what_was_shown(command: Command) -> None:
    id = waiting(command)
    (row,) = ledger(command)
    for wrong in ("0" * 64, row["args_sha256"][:8], row["args_sha256"] + "0"):
        refused(command.run("approvals", "approve", id, "--hash", wrong), "the hash is not that of this call")
    assert command.run("approvals", "approve", id, "--hash", row["args_sha256"][:16].upper()).returncode == 0


def test_another_person_must_approve(command: Command) -> None:
    policy(command, "other_person = true\n")
    command.env["REASONACT_USER"] = "Ann"
    id = waiting(command)
    for words in (("approve", id), ("edit", id, '{"to": "Ann", "amount": 5}'), ("approve", id, "--as", "Ann")):
        refused(command.run("approvals", *words), "another person must")
    assert "Asked for by: Ann" in command.run("approvals", "show", id).stdout
    assert command.run("approvals", "approve", id, REASONACT_USER="Bob").returncode == 0
    assert command.run("resume", "t").returncode == 0 and command.effects == ["pay Ann 20"]
    assert ledger(command)[0]["decided_by"] == "Bob"


def test_whoever_asked_may_reject(command: Command) -> None:
    policy(command, "other_person = true\n")
    assert command.run("approvals", "reject", waiting(command)).returncode == 0


def test_the_policy_file_is_in_force(command: Command) -> None:
    path = policy(command, '[tools]\npay = "allow"\n')
    assert "pay\tto amount\tirreversible\tallow\t" in command.run("tools").stdout
    command.says(PAY, ANSWER)
    assert command.run("ask", "Pay.").returncode == 0 and command.effects == ["pay Ann 20"]
    assert command.run("ask", "--approve", "all", "Pay.").returncode == ExitCode.WAITING
    path.write_text('[tools]\npay = "deny"\n')
    assert "pay\tto amount\tirreversible\tdeny\t" in command.run("tools").stdout
    assert "pay\tto amount\tirreversible\task\t" in command.run("tools", "--approve", "risky").stdout
    assert command.run("ask", "Pay.").returncode == 0 and command.effects == ["pay Ann 20"]
    other = command.home / "other.toml"
    other.write_text('[[rules]]\ntool = "pay"\nargument = "amount"\nover = 10\nthen = "deny"\n')
    assert "\task (by arguments: deny)\t" in command.run("tools", "--policy", str(other)).stdout
    assert "\task (by arguments: deny)\t" in command.run("tools", REASONACT_APPROVALS=str(other)).stdout


def test_the_policy_file_is_read_again_on_resume(command: Command) -> None:
    path = command.home / "mine.toml"
    path.write_text('[tools]\nadd = "ask"\n')
    id = waiting(command, "--policy", str(path))
    path.write_text('[tools]\npay = "deny"\n')
    refused(command.run("approvals", "approve", id), "the policy forbids")
    path.write_text('[tools]\npya = "deny"\n')
    refused(command.run("resume", "t", "--answer", "approve"), "did you mean 'pay'?")
    refused(command.run("approvals", "approve", id), "did you mean 'pay'?")
    path.unlink()
    refused(command.run("resume", "t", "--answer", "approve"), "cannot be read")
    assert command.effects == []


@pytest.mark.parametrize("words", [["ask", "Pay."], ["tools"]])
def test_a_policy_that_cannot_be_followed_is_refused(command: Command, words: list[str]) -> None:
    policy(command, "unanswered_hour = 3\n")
    refused(command.run(*words), "did you mean 'unanswered_hours'?")
    refused(command.run(*words, REASONACT_APPROVALS="nowhere.toml"), "cannot be read")


def test_a_call_that_may_have_taken_effect_is_settled(command: Command) -> None:
    id = waiting(command)
    assert command.run("approvals", "approve", id, "--as", "Bob").returncode == 0
    with subprocess.Popen(command.line("resume", "t"), env={**command.env, "PAY_WAIT": "30"}) as process:
        until(lambda: command.effects == ["pay Ann 20"])
        process.kill()
    refused(command.run("approvals", "settle", id, "done"), "it is started, not unknown")
    assert command.run("resume", "t").returncode == 0
    assert command.effects == ["pay Ann 20"], "it is not done twice"
    row = command.run("approvals").stdout.rstrip("\n").split("\t")
    assert (row[0], row[5]) == (id, "unknown: settle it")
    refused(command.run("approvals", "approve", id), "too late")
    assert command.run("approvals", "settle", id, "perhaps").returncode == ExitCode.REFUSED
    done = command.run("approvals", "settle", id, "done", "--why", "on the statement", "--as", "Eve")
    assert done.returncode == 0 and f"settled {id} as done: pay" in done.stderr
    assert ids(command) == [] and ledger(command)[0]["status"] == "done"
    shown = command.run("approvals", "show", id).stdout
    assert "approve by Bob" in shown and "Settled: done by Eve" in shown and "(on the statement)" in shown
    refused(command.run("approvals", "settle", id, "failed"), "it is done, not unknown")
    log = command.run("audit", "show", "t", "--kind", "settled").stdout
    assert "by=Eve" in log and "status=done" in log and command.run("audit", "verify").returncode == 0


def test_ids_that_name_nothing_or_too_much(command: Command) -> None:
    id = waiting(command)
    (row,) = ledger(command)
    for unknown in ("nope", "", "x" * 10, f"{row['call_uid']}x"):
        refused(command.run("approvals", "show", unknown), "there is no call", "see reasonact approvals")
        refused(command.run("approvals", "approve", unknown), "there is no call")
    columns = ", ".join(row)
    copies = columns.replace("call_uid", "call_uid || 'x{}'", 1)
    for n in range(17):
        ledger(command, f"INSERT INTO tool_calls ({columns}) SELECT {copies.format(n)} FROM tool_calls LIMIT 1")
    first = [other[0] for other in ids(command)]
    shared = next(letter for letter in first if first.count(letter) > 1)
    refused(command.run("approvals", "approve", shared), "is the beginning of several ids")
    assert command.run("approvals", "approve", id).returncode == 0


def test_a_question_that_was_overtaken(command: Command) -> None:
    id = waiting(command)
    ledger(command, "UPDATE tool_calls SET status = 'expired', error_code = 'superseded'")
    refused(command.run("approvals", "approve", id), "it was superseded")


def test_a_decision_elsewhere_while_somebody_is_asked(command: Command) -> None:
    command.says(PAY, ANSWER)
    with command.terminal("ask", "--thread", "t", "Pay.") as terminal:
        terminal.wait_for("y approve")
        (id,) = ids(command)
        assert command.run("approvals", "reject", id, "too much").returncode == 0
        terminal.type("y")
        terminal.wait_for("Your answer was not used: it was decided already: reject")
        assert terminal.end() == 0
    assert command.effects == []


def test_a_run_that_went_on_elsewhere_while_somebody_is_asked(command: Command) -> None:
    command.says(PAY, ANSWER)
    with command.terminal("ask", "--thread", "t", "Pay.") as terminal:
        terminal.wait_for("y approve")
        (id,) = ids(command)
        assert command.run("approvals", "approve", id, "--resume").returncode == 0
        terminal.type("y")
        assert terminal.end() == ExitCode.REFUSED
    assert command.effects == ["pay Ann 20"]


def test_an_encrypted_ledger(command: Command) -> None:
    pytest.importorskip("Crypto")
    command.env["REASONACT_ENCRYPTION_KEY"] = "0123456789abcdef"
    id = waiting(command)
    assert "I pay." not in (ledger(command)[0]["request_json"] or "")
    assert "The model's thought: I pay." in command.run("approvals", "show", id).stdout
    for words in (("list",), ("show", id), ("approve", id)):
        refused(command.run("approvals", *words, REASONACT_ENCRYPTION_KEY=""), "REASONACT_ENCRYPTION_KEY")
        refused(command.run("approvals", *words, REASONACT_ENCRYPTION_KEY="f" * 16), "REASONACT_ENCRYPTION_KEY")
    assert command.run("approvals", "approve", id, "--resume").returncode == 0


def test_sigterm_lets_the_tool_end_and_loses_nothing(command: Command) -> None:
    id = waiting(command, replies=(PAY, ("I add.", [("add", {"a": 1, "b": 2})]), ANSWER))
    assert command.run("approvals", "approve", id).returncode == 0
    line, env = command.line("resume", "t"), {**command.env, "PAY_WAIT": "2"}
    with subprocess.Popen(line, env=env, stderr=subprocess.PIPE, text=True) as process:
        until(lambda: command.effects == ["pay Ann 20"])
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
        assert process.returncode == ExitCode.INTERRUPTED
    assert "Stopping after this step" in said and "reasonact resume t" in said
    (row,) = ledger(command)
    assert (row["status"], row["attempt"]) == ("done", 1) and row["finished_at"] - row["started_at"] >= 2
    assert command.run("threads").stdout.split("\t")[2] == "unfinished"
    assert command.run("resume", "t", "-q").stdout == "it is done.\n"
    assert command.effects == ["pay Ann 20"]
    assert [(row["tool"], row["status"], row["attempt"]) for row in ledger(command)] == [
        ("pay", "done", 1),
        ("add", "done", 1),
    ]


def test_the_shop_lies_beside_the_ledger(command: Command) -> None:
    order: Reply = ("", [("place_order", {"customer": "Ada Lovelace", "sku": "TEA-01", "quantity": 1})])
    command.says(order, ANSWER)
    line = [sys.executable, "-m", "reasonact"]

    def run(*words: str) -> int:
        env = {**os.environ, **command.env}
        return subprocess.run([*line, *words], env=env, capture_output=True, timeout=60).returncode

    assert run("ask", "--thread", "t", "Order.") == ExitCode.WAITING
    (id,) = ids(command)
    assert run("approvals", "approve", id, "--resume") == 0
    (row,) = ledger(command)
    assert (row["effect_class"], row["status"]) == ("transactional", "done")
    orders = ledger(command, "SELECT * FROM orders WHERE customer = 'Ada Lovelace'")
    assert len(orders) == 3 and not (command.home / "reasonact" / "shop.db").exists()


def test_who_asked_is_the_user_of_the_computer(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    command.env.pop("REASONACT_USER", None)
    waiting(command)
    (row,) = ledger(command, "SELECT requester FROM runs")
    assert row["requester"]


def test_tables_are_made(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"sqlite:///{tmp_path / 'other.sqlite'}"
    done = command.run("migrate", "--database", url)
    assert done.returncode == 0 and "ledger: made or renewed (" in done.stdout and "other.sqlite" in done.stdout
    assert "ledger: up to date" in command.run("migrate", "--database", url).stdout
    assert not (command.home / "reasonact" / "checkpoints.sqlite").exists()
    refused(command.run("migrate", "--database", "mysql://me:secret@host/x"), "cannot use the database of --database")
    assert "secret" not in command.run("migrate", "--database", "mysql://me:secret@host/x").stderr
    monkeypatch.setenv("REASONACT_DATABASE", url)
    with saver() as store:
        assert toolbox_of(store)["place_order"].effect_class(store.records.database) == "transactional"
