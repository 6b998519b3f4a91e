"""The generated parts of the README: `python -m tests.readme` writes them, a test compares them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).resolve().parents[1] / "README.md"


def picture() -> str:
    """The graph, drawn from the code."""
    from graphs.react import graph

    drawn = graph.get_graph().draw_mermaid(with_styles=False)
    return f"```mermaid\n{drawn.strip()}\n```"


def rules() -> str:
    """The rule table, with the numbers of `Limits`."""
    from nodes.limits import Limits
    from nodes.rules import RULES

    numbers = Limits()
    rows = ["| rule | asked | then | number (`Limits` field = default) | ends as |", "|---|---|---|---|---|"]
    for rule in RULES:
        known = {name: f"`{name}` = {getattr(numbers, name, '')}" for name in rule.limit.split(", ")}
        fields = ", ".join(shown if hasattr(numbers, name) else name for name, shown in known.items())
        rows.append(f"| {rule.name} | {rule.when} | {rule.then} | {fields} | {rule.status or ''} |")
    return "\n".join(rows)


def command_line() -> str:
    """What `reasonact --help` and `reasonact ask --help` print."""
    shown = []
    for words in ((), ("ask",)):
        command = [sys.executable, "-m", "reasonact", *words, "--help"]
        env = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
        ran = subprocess.run(command, capture_output=True, text=True, check=True, env=env, cwd=README.parent)
        help = "\n".join(
            line.rstrip() for line in ran.stdout.strip().replace("python -m reasonact", "reasonact").splitlines()
        )
        shown.append(f"$ reasonact {' '.join((*words, '--help'))}\n{help}")
    return "```text\n" + "\n\n".join(shown) + "\n```"


PARTS = {"graph": picture, "rules": rules, "help": command_line}


def parts(text: str) -> dict[str, str]:
    """The generated parts of a README, by name."""
    return dict(re.findall(r"<!-- (\w+) -->\n(.*?)\n<!-- /\1 -->", text, re.S))


def written(text: str) -> str:
    """The README with its parts made anew."""
    for name, make in PARTS.items():
        before, opening, rest = text.partition(f"<!-- {name} -->\n")
        _, closing, after = rest.partition(f"<!-- /{name} -->")
        text = f"{before}{opening}{make()}\n{closing}{after}"
    return text


if __name__ == "__main__":
    README.write_text(written(README.read_text(encoding="utf-8")), encoding="utf-8")
