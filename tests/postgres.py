"""A PostgreSQL server of the tests' own, made in a temporary folder and gone with the test process."""

from __future__ import annotations

import atexit
import os
import pwd
import secrets
import shutil
import socket
import subprocess
import tempfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

TRIES = 5

# With fsync off the kernel keeps what is committed, so a killed server loses nothing; a power cut may take it all.
_SETTINGS = """
listen_addresses = '127.0.0.1'
unix_socket_directories = '{folder}'
max_connections = 200
shared_buffers = 32MB
fsync = off
full_page_writes = off
jit = off
"""
# Whatever ends the test process, even SIGKILL, closes this script's standard input.
_WATCH = 'cat >/dev/null; kill -QUIT "$(head -n 1 "$1/data/postmaster.pid")" 2>/dev/null; sleep 1; rm -rf "$1"'


class Server:
    """A private server that trusts everybody on this machine; `start` before use, or use it in a `with`."""

    def __init__(self, programs: Path | None = None) -> None:
        found = programs or binaries()
        if found is None:
            raise RuntimeError(lacking())
        self._programs = found
        self._user = _user()
        self.port = 0
        self.folder: Path | None = None
        self._watch: subprocess.Popen[bytes] | None = None
        self._owner = os.getpid()

    def __enter__(self) -> Server:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def running(self) -> bool:
        """Whether the server answers to `pg_ctl status`."""
        return self.folder is not None and self._run("pg_ctl", "status", "-D", f"{self.folder}/data").returncode == 0

    def start(self) -> None:
        """Make it if it is not made, and start it if it does not run."""
        if self.folder is None:
            self._make()
        if self.running:
            return
        for _ in range(TRIES):
            # Once known, the port stays: clients are to find the server again after a restart.
            port = self.port or _free_port()
            options = ["-D", f"{self.folder}/data", "-l", f"{self.folder}/log", "-o", f"-p {port}"]
            if self._run("pg_ctl", "start", "-w", "-t", "60", *options).returncode == 0:
                self.port = port
                return
        raise RuntimeError(f"PostgreSQL does not start:\n{self._log()}")

    def stop(self, mode: Literal["fast", "immediate"] = "fast") -> None:
        """Stop it: `fast` ends its connections in order, `immediate` is as if it crashed; the data stays."""
        if self.running:
            done = self._run("pg_ctl", "stop", "-w", "-t", "60", "-m", mode, "-D", f"{self.folder}/data")
            if done.returncode != 0:
                raise RuntimeError(f"PostgreSQL does not stop: {done.stderr}")

    def restart(self, mode: Literal["fast", "immediate"] = "fast") -> None:
        """Stop and start it on the same port."""
        self.stop(mode)
        self.start()

    def close(self) -> None:
        """Stop it for good and remove its folder."""
        if self.folder is None or os.getpid() != self._owner:
            return
        try:
            self.stop("immediate")
        finally:
            folder, self.folder, self.port = self.folder, None, 0
            shutil.rmtree(folder, ignore_errors=True)
            if self._watch is not None:
                self._watch.kill()
                self._watch.communicate()
            atexit.unregister(self.close)

    def database(self) -> str:
        """The URL of a new, empty database."""
        self.start()
        name = f"t_{secrets.token_hex(8)}"
        self._tell(f"CREATE DATABASE {name}")
        return self._url(name)

    def drop(self, url: str) -> None:
        """Remove a database that `database` made, with whoever is still connected to it."""
        self.start()
        self._tell(f"DROP DATABASE IF EXISTS {url.rpartition('/')[2]} WITH (FORCE)")

    def _url(self, name: str) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{name}"

    def _tell(self, command: str) -> None:
        import psycopg

        with psycopg.connect(self._url("postgres"), autocommit=True, connect_timeout=20) as connection:
            connection.execute(command.encode())

    def _make(self) -> None:
        folder = Path(tempfile.mkdtemp(prefix="pg-", dir=_room()))
        if self._user is not None:
            os.chown(folder, self._user.pw_uid, self._user.pw_gid)
        self.folder = folder
        atexit.register(self.close)
        # Of its own session, so that Ctrl-C at the terminal ends it no sooner than the tests.
        watch = ["sh", "-c", _WATCH, "watch", str(folder)]
        self._watch = subprocess.Popen(watch, stdin=subprocess.PIPE, start_new_session=True)
        # By name and not by LANG: what a test sees must not depend on the machine.
        how = ["--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions"]
        done = self._run("initdb", *how, "-D", f"{folder}/data")
        if done.returncode != 0:
            self.close()
            raise RuntimeError(f"initdb: {done.stderr}")
        with (folder / "data" / "postgresql.conf").open("a", encoding="utf-8") as settings:
            settings.write(_SETTINGS.format(folder=folder))

    def _run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        who: dict[str, Any] = {}
        if self._user is not None:
            who = {"user": self._user.pw_uid, "group": self._user.pw_gid, "extra_groups": []}
        # The server would inherit a pipe and keep it open, so what is said goes to a file.
        with tempfile.TemporaryFile("w+", encoding="utf-8") as said:
            done = subprocess.run(
                [self._programs / program, *arguments],
                cwd=self.folder,
                env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "HOME": str(self.folder)},
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                start_new_session=True,
                timeout=120,
                **who,
            )
            said.seek(0)
            return subprocess.CompletedProcess(done.args, done.returncode, "", said.read())

    def _log(self) -> str:
        log = Path(f"{self.folder}/log")
        return log.read_text(encoding="utf-8", errors="replace")[-2000:] if log.exists() else "(it wrote no log)"


def binaries() -> Path | None:
    """The folder with initdb and pg_ctl, the newest version first where the PATH names none."""
    on_path = [Path(folder) for folder in os.get_exec_path()]
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda bin: bin.parent.name.zfill(9), reverse=True)
    for folder in (*on_path, *debian):
        if all(os.access(folder / program, os.X_OK) for program in ("initdb", "pg_ctl")):
            return folder
    return None


def lacking() -> str:
    """What has to be installed for a server of our own; "" where all is there."""
    if binaries() is None:
        return "apt install postgresql"
    if find_spec("psycopg") is None or find_spec("psycopg_pool") is None:
        return 'pip install "psycopg[binary,pool]"'
    return ""


@cache
def server() -> Server | None:
    """The server of this process, started when first asked for; None where the programs are not there."""
    if lacking():
        return None
    own = Server()
    own.start()
    return own


def _user() -> pwd.struct_passwd | None:
    """Whom to run as; None for the user that we are already, who must not be root."""
    if os.getuid() != 0:
        return None
    known = {user.pw_name: user for user in pwd.getpwall()}
    return known.get("postgres") or known["nobody"]


def _room() -> str:
    """A temporary folder that every user can reach, since root's server runs as somebody else."""
    for place in (tempfile.gettempdir(), "/tmp", "/var/tmp"):
        folder = Path(place).resolve()
        if all(each.stat().st_mode & 0o001 for each in (folder, *folder.parents)):
            return str(folder)
    return tempfile.gettempdir()


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])
