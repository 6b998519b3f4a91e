"""The same few words do the same in memory, in a SQLite file and in PostgreSQL."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

import tools.database
from tests.postgres import Server
from tools.database import Database, DatabaseError, Transaction

STEPS = (
    "CREATE TABLE things (n INTEGER PRIMARY KEY, told TEXT);; INSERT INTO things VALUES (1, '100 %')",
    "INSERT INTO things VALUES (2, NULL)",
)
CHILD = """
import sys
from tools.database import Database
print(Database(sys.argv[1]).migrate("things", ("CREATE TABLE things (n INTEGER)",) + 20 * ("INSERT INTO things VALUES (7)",)))
"""


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    urls = {"memory": "memory", "sqlite": f"sqlite:///{tmp_path / 't.sqlite'}"}
    made = Database(urls.get(request.param) or request.getfixturevalue("postgres_url"))
    made.migrate("things", STEPS)
    yield made
    made.close()


@pytest.fixture
def durable(database_url: str) -> Iterator[Database]:
    made = Database(database_url)
    yield made
    made.close()


def numbers(database: Database) -> list[int]:
    with database.transaction() as transaction:
        return [row["n"] for row in transaction.all("SELECT n FROM things ORDER BY n")]


def test_a_transaction_commits(database: Database) -> None:
    with database.transaction() as transaction:
        assert transaction.run("INSERT INTO things VALUES (?, ?)", 3, "é ? %s") == 1
        assert transaction.run("UPDATE things SET told = 'x' WHERE told IS NULL OR n > ?", 100) == 1
    with database.transaction() as transaction:
        assert transaction.one("SELECT * FROM things WHERE n = ?", 3) == {"n": 3, "told": "é ? %s"}
        assert transaction.one("SELECT * FROM things WHERE n = 9") is None
        assert transaction.all("SELECT n FROM things WHERE told LIKE '%00 %'") == [{"n": 1}]


def test_a_transaction_that_fails_leaves_nothing(database: Database) -> None:
    with pytest.raises(KeyboardInterrupt), database.transaction() as transaction:
        transaction.run("DELETE FROM things")
        transaction.run("CREATE TABLE more (n INTEGER)")
        raise KeyboardInterrupt
    assert numbers(database) == [1, 2]
    with database.transaction() as transaction:
        transaction.run("CREATE TABLE more (n INTEGER)")


def test_an_error_of_the_database_passes_and_is_not_tried_again(database: Database) -> None:
    tries = 0

    def work(transaction: Transaction) -> None:
        nonlocal tries
        tries += 1
        transaction.run("INSERT INTO things VALUES (3, NULL)")
        transaction.run("INSERT INTO things VALUES (1, NULL)")

    with pytest.raises(Exception, match=r"(?i)unique"):
        database.perform(work)
    assert tries == 1 and numbers(database) == [1, 2]


def test_what_only_the_commit_finds_broken_leaves_the_database_usable(database: Database) -> None:
    with database.transaction() as transaction:
        transaction.run("CREATE TABLE parts (of INTEGER REFERENCES things DEFERRABLE INITIALLY DEFERRED)")
    with pytest.raises(Exception, match=r"(?i)foreign key"), database.transaction() as transaction:
        transaction.run("INSERT INTO parts VALUES (99)")
    with database.transaction() as transaction:
        transaction.run("INSERT INTO parts VALUES (1)")
        assert transaction.all("SELECT * FROM parts") == [{"of": 1}]


def test_now_is_the_time(database: Database) -> None:
    with database.transaction() as transaction:
        assert abs(transaction.now - time.time()) < 60


def test_migrations_run_once_and_go_on_where_they_stopped(database: Database) -> None:
    assert database.migrate("things", STEPS) == 0
    assert database.migrate("things", (*STEPS, "ALTER TABLE things ADD COLUMN more TEXT")) == 1
    assert database.migrate("things", STEPS) == 0
    with database.transaction() as transaction:
        assert set(transaction.all("SELECT * FROM things")[0]) == {"n", "told", "more"}


def test_a_migration_that_fails_leaves_nothing(database: Database) -> None:
    broken = ("CREATE TABLE first (n INTEGER)", "CREATE TABLE second (n INTEGER);; SELECT * FROM nowhere")
    with pytest.raises(Exception, match="nowhere"):
        database.migrate("broken", broken)
    assert database.migrate("broken", broken[:1]) == 1


def test_a_migration_may_be_a_part_of_a_transaction(database: Database) -> None:
    more = ("CREATE TABLE more (n INTEGER)",)
    with pytest.raises(ZeroDivisionError), database.transaction() as transaction:
        assert transaction.migrate("more", more) == 1
        raise ZeroDivisionError
    assert database.migrate("more", more) == 1


def test_eight_processes_migrate_at_once(database_url: str, durable: Database) -> None:
    children = [
        subprocess.Popen(
            [sys.executable, "-c", CHILD, database_url],
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[1],
        )
        for _ in range(8)
    ]
    assert sorted(int(child.communicate(timeout=60)[0]) for child in children) == [0] * 7 + [21]
    assert numbers(durable) == [7] * 20


def test_threads_share_one(database: Database) -> None:
    database.migrate("count", ("CREATE TABLE count (n INTEGER);; INSERT INTO count VALUES (0)",))

    def work(transaction: Transaction) -> None:
        transaction.run("UPDATE count SET n = n + 1")

    with ThreadPoolExecutor(16) as threads:
        list(threads.map(lambda _: database.perform(work), range(200)))
    with database.transaction() as transaction:
        assert transaction.one("SELECT n FROM count") == {"n": 200}


def test_closed_and_used_again(durable: Database) -> None:
    durable.close()
    for _ in range(2):
        durable.migrate("things", STEPS)
        assert numbers(durable) == [1, 2]
        durable.close()
        durable.close()


def test_perform_waits_for_the_lock_of_somebody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools.database, "WAIT", 0.01)
    database = Database(f"sqlite:///{tmp_path / 't.sqlite'}")
    database.migrate("things", STEPS)
    tries = 0
    with closing(sqlite3.connect(tmp_path / "t.sqlite", isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(sqlite3.OperationalError, match="locked"), database.transaction():
            tries += 1
        freed = threading.Timer(1, other.execute, ["COMMIT"])
        freed.start()
        assert database.perform(lambda transaction: transaction.run("DELETE FROM things")) == 2
        freed.join()
    assert tries == 0
    database.close()


def test_perform_gives_up_at_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools.database, "WAIT", 0.01)
    monkeypatch.setattr(tools.database, "PAUSES", (0.01, 0.01))
    database = Database(f"sqlite:///{tmp_path / 't.sqlite'}")
    with closing(sqlite3.connect(tmp_path / "t.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            database.perform(lambda transaction: transaction.one("SELECT 1"))


def test_a_file_that_cannot_be_written_says_so_at_once(tmp_path: Path) -> None:
    began = time.monotonic()
    with pytest.raises(sqlite3.OperationalError, match="unable to open"):
        Database(f"sqlite:///{tmp_path}/none/t.sqlite").perform(lambda transaction: transaction.one("SELECT 1"))
    (tmp_path / "t.sqlite").write_text("this is no database, whatever its name may say" * 100)
    with pytest.raises(sqlite3.DatabaseError, match="not a database"):
        Database(f"sqlite:///{tmp_path}/t.sqlite").perform(lambda transaction: transaction.one("SELECT 1"))
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_perform_outlives_a_restart_of_the_server(postgres: Server, postgres_url: str, mode: str) -> None:
    database = Database(postgres_url)
    database.migrate("things", STEPS)
    stopped, tries, restarts = threading.Event(), 0, []

    def restart() -> None:
        postgres.stop(mode)  # type: ignore[arg-type]
        stopped.set()
        time.sleep(0.5)
        postgres.start()

    def work(transaction: Transaction) -> int:
        nonlocal tries
        tries += 1
        transaction.run("INSERT INTO things VALUES (3, NULL)")
        if tries == 1:
            restarts.append(threading.Thread(target=restart))
            restarts[0].start()
            assert stopped.wait(30)
        return transaction.run("DELETE FROM things WHERE n = 1")

    assert database.perform(work) == 1
    restarts[0].join()
    assert tries == 2 and numbers(database) == [2, 3]
    database.close()


def test_perform_waits_for_a_server_that_is_not_up_yet(postgres: Server, postgres_url: str) -> None:
    postgres.stop()
    database = Database(postgres_url)
    with pytest.raises(Exception, match="refused"), database.transaction():
        pass
    starting = threading.Timer(0.5, postgres.start)
    starting.start()
    assert database.migrate("things", STEPS) == 2
    starting.join()
    database.close()


@pytest.mark.parametrize(
    "url",
    [
        "",
        "here.sqlite",
        "sqlite://here.sqlite",
        "sqlite:///",
        "postgresql://",
        "mysql://me:secret@host/db",
        "me:secret@host/db",
        "me:secret@host://db",
        "postgresql:/me:secret@host/db",
        "host=localhost password=secret",
    ],
)
def test_an_address_that_is_none_shows_no_password(url: str) -> None:
    with pytest.raises(DatabaseError, match="is no database: use memory, sqlite") as raised:
        Database(url)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:se/cret@host/db",
        "postgresql://me:se@cret@host/db",
        "postgresql://me:secret@host:x/db",
        "postgresql://me@host/db?secret",
        "postgresql://me:secret%zz@host/db",
    ],
)
def test_an_address_that_psycopg_cannot_read_shows_no_password(url: str) -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(DatabaseError, match="cannot be read") as raised:
        Database(url).perform(lambda transaction: transaction.one("SELECT 1"))
    assert "cret" not in str(raised.value) and raised.value.__cause__ is None


def test_without_psycopg_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(DatabaseError, match=r"reasonact\[postgres\]"):
        Database("postgresql://me@host/db").perform(lambda transaction: transaction.one("SELECT 1"))


def test_which_are_the_same_place() -> None:
    for url in ("sqlite:////tmp/a b.sqlite", "postgresql://me@host/db"):
        assert Database(url) == Database(url) and hash(Database(url)) == hash(Database(url))
    assert Database("sqlite:////tmp/a%20b.sqlite") == Database("sqlite:////tmp/a b.sqlite")
    assert Database("sqlite:////tmp/a.sqlite") != Database("sqlite:////tmp/b.sqlite")
    assert Database("postgresql://me@host/a") != Database("postgresql://me@host/b")
    memory = Database()
    assert memory == memory and memory != Database("memory") and memory != "memory"
    assert [Database(url).durable for url in ("memory", "sqlite:///a", "postgresql://a")] == [False, True, True]
