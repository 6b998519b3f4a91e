"""Where this project keeps its files on a person's machine."""

from __future__ import annotations

import os
from pathlib import Path


def home() -> Path:
    """The folder for databases: $REASONACT_HOME, else $XDG_DATA_HOME/reasonact, else ~/.local/share/reasonact.

    It is not created here: whoever writes into it first does that.
    """
    if own := os.environ.get("REASONACT_HOME"):
        return Path(own).expanduser()
    data = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(data).expanduser() / "reasonact"
