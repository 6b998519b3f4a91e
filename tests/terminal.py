"""A person at a terminal: a pseudo-terminal with the command on the other side."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Sequence

_CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


class Terminal:
    """Runs a command, types, and reads the screen as plain text."""

    def __init__(self, command: Sequence[str], env: dict[str, str]) -> None:
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 120, 0, 0))
        self.ours = ours
        self.raw = b""
        self.read_until = 0
        self.process = subprocess.Popen(
            command,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**env, "TERM": "xterm"},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(theirs)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self.ours)

    @property
    def screen(self) -> str:
        """Everything shown so far, without colours and movements."""
        return _CODES.sub("", self.raw.decode("utf-8", "replace"))

    def wait_for(self, text: str, seconds: float = 30) -> str:
        """Read until `text` is shown, after what was waited for before; give what was shown up to it."""
        until = time.monotonic() + seconds
        while True:
            shown = self.screen
            if (found := shown.find(text, self.read_until)) >= 0:
                before, self.read_until = shown[self.read_until : found], found + len(text)
                return before
            if time.monotonic() > until or not self._read(until):
                raise AssertionError(f"{text!r} was not shown, but: {shown[self.read_until :]!r}")

    def type(self, line: str) -> None:
        """One line at the prompt."""
        self.wait_for("> ")
        os.write(self.ours, f"{line}\n".encode())

    def press(self, key: bytes) -> None:
        """A key, at once."""
        os.write(self.ours, key)

    def end(self, seconds: float = 30) -> int:
        """Read to the end; the exit code."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and self._read(until):
            pass
        return self.process.wait(timeout=30)

    def _read(self, until: float) -> bool:
        ready, _, _ = select.select([self.ours], [], [], max(0.0, until - time.monotonic()))
        if not ready:
            return False
        try:
            new = os.read(self.ours, 65536)
        except OSError:
            return False
        self.raw += new
        return bool(new)
