"""Arguments as a person reads and changes them: JSON, in the person's editor or on one line."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from reasonact.keyboard import read_line


class NotEdited(ValueError):
    """What came back from the editor cannot be arguments; the message says why."""


def spelled(value: Any, indent: int | None = None) -> str:
    """A value as JSON, with every mark that does not show itself written as an escape that JSON reads back."""
    text = json.dumps(value, ensure_ascii=False, default=str, indent=indent)
    return "".join(mark if mark.isprintable() or mark == "\n" else json.dumps(mark)[1:-1] for mark in text)


def edit(args: dict[str, Any], given: str = "", read: Callable[[str], str] = read_line) -> dict[str, Any]:
    """New arguments: those `given`, else from $VISUAL or $EDITOR, else from one line of the keyboard.

    Raises:
        NotEdited: they are not one JSON object, or the editor failed.
    """
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if given:
        text = given
    elif editor:
        text = _in_editor(editor, spelled(args, indent=2))
    else:
        text = read(f"the arguments as JSON, now {spelled(args)}\n> ")
    try:
        edited = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NotEdited(f"the arguments are not JSON: {error}") from error
    if not isinstance(edited, dict):
        raise NotEdited('the arguments must be a JSON object, like {"amount": 5}')
    return edited


def _in_editor(editor: str, text: str) -> str:
    with tempfile.TemporaryDirectory(prefix="reasonact-") as folder:
        path = Path(folder) / "arguments.json"
        path.write_text(text + "\n", encoding="utf-8")
        try:
            subprocess.run([*shlex.split(editor), str(path)], check=True)
        except (OSError, ValueError, subprocess.CalledProcessError) as error:
            raise NotEdited(f"the editor {editor!r} failed: {error}") from error
        try:
            return path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise NotEdited(f"cannot read what the editor left: {error}") from error
