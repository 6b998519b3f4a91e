"""A lease has one holder and a number that only grows; a holder that is gone is not waited for."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from nodes.leases import LeaseLost, Leases, ThreadBusy, check
from nodes.owners import is_dead, owner
from tools.database import Database


@pytest.fixture
def database(database_url: str) -> Database:
    return Database(database_url)


def test_one_holder_at_a_time_and_a_number_that_grows(database: Database) -> None:
    leases = Leases(database)
    with leases.held("t") as first:
        with pytest.raises(ThreadBusy, match="thread t"), Leases(database).held("t"):
            pass
        with Leases(database).held("other"):
            pass
    with leases.held("t") as second:
        assert second == first + 1
    database.close()


def test_a_lease_is_given_back_when_the_run_fails(database: Database) -> None:
    leases = Leases(database)
    with pytest.raises(RuntimeError), leases.held("t"):
        raise RuntimeError
    with leases.held("t"):
        pass
    database.close()


def test_a_change_under_an_old_number_is_refused(database: Database) -> None:
    leases = Leases(database)
    with leases.held("t") as old:
        pass
    with leases.held("t") as new, database.transaction() as transaction:
        check(transaction, "t", new)
        check(transaction, "t", None)
        with pytest.raises(LeaseLost):
            check(transaction, "t", old)
    database.close()


def test_a_lease_that_is_not_renewed_runs_out_and_its_holder_learns_it(database: Database) -> None:
    stale, fresh = Leases(database, seconds=0.4), Leases(database)
    stale._beating = True  # as if the heart beat already, so that none does
    with stale.held("t") as old:
        with stale._lock:
            database.perform(
                lambda transaction: transaction.run("UPDATE leases SET until = 1, owner = 'elsewhere 1 2'")
            )
        time.sleep(0.3)
        with fresh.held("t") as new:
            assert new == old + 1
            with pytest.raises(LeaseLost):
                stale.insist("t", old)
            fresh.insist("t", new)
        with fresh.held("t"):
            pass
    database.close()


def test_a_lease_is_renewed_while_it_is_held(database: Database) -> None:
    leases = Leases(database, seconds=0.8)
    with leases.held("t"):
        time.sleep(1.6)
        with database.transaction() as transaction:
            row = transaction.one("SELECT until FROM leases") or {}
            assert row["until"] > transaction.now
    database.close()


def test_the_heart_stops_when_nothing_is_held(database: Database) -> None:
    leases = Leases(database)
    with leases.held("t"):
        assert any(thread.name == "reasonact leases" for thread in threading.enumerate())
    deadline = time.monotonic() + 5
    while leases._beating and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not leases._beating
    database.close()


def test_a_process_that_is_gone_is_known_and_nobody_else_is_taken_for_dead() -> None:
    assert not is_dead(owner())
    child = os.fork()
    if child == 0:
        os._exit(0)
    machine = owner().split(" ")[0]
    while Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
        time.sleep(0.01)
    assert is_dead(f"{machine} {child} 123"), "it ended, though nobody has waited for it yet"
    os.waitpid(child, 0)
    assert is_dead(f"{machine} {child} 123")
    assert not is_dead(f"another-machine {child} 123")
    assert not is_dead("") and not is_dead("nonsense")
    assert is_dead(f"{machine} {os.getpid()} 1"), "the id was given to another process since"


def test_the_lease_of_a_killed_process_is_taken_at_once(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/l.sqlite"
    child = os.fork()
    if child == 0:
        Leases(Database(url)).held("t").__enter__()
        os.kill(os.getpid(), 9)
    os.waitpid(child, 0)
    database = Database(url)
    with Leases(database).held("t") as fence:
        assert fence == 2
    database.close()
