"""What the ledger costs a call, beside the same run without it, on every database.

python -m benchmarks.ledger [--rounds 5] [--steps 50] [--postgres URL] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
import uuid
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from benchmarks.contestants import answered, ours
from reasonact import Audit, open_saver


def without_ledger(agent: Any) -> Any:
    """The same agent with every question to the ledger answered at once; leases and checkpoints stay."""
    started = SimpleNamespace(attempt=1, observation=None, refusal=None, broken=False)
    nodes = {name: node.bound for name, node in agent.nodes.items()}
    instead: list[tuple[Any, str, Any]] = [
        (nodes["act"].calls, "start", lambda *_: started),
        (nodes["act"].calls, "finish", lambda order, attempt, observation, status: observation),
        (nodes["think"].thoughts, "recorded", lambda *_: None),
        (nodes["think"].thoughts, "record", lambda thread, basis, update, fence: update),
        (nodes["begin"].func.runs, "begin", lambda *_: uuid.uuid4().hex),
        (nodes["begin"].func.runs, "end", lambda *_: None),
    ]
    for part, name, answer in instead:
        object.__setattr__(part, name, answer)
    return agent


def seconds_of_run(agent: Any, steps: int) -> tuple[float, float]:
    """CPU and wall seconds of one run of `steps` calls, asserted to have done its work."""
    config = {"configurable": {"thread_id": uuid.uuid4().hex}, "recursion_limit": 10 * steps + 50}
    cpu, wall = time.process_time(), time.perf_counter()
    state = agent.invoke({"messages": [("user", "go")]}, config)
    spent = time.process_time() - cpu, time.perf_counter() - wall
    assert answered(state["messages"], steps)
    return spent


def measure(url: str, steps: int, rounds: int) -> dict[str, Any]:
    """Medians of runs that take turns: without the ledger, with it, with it and the audit log."""
    taken: dict[str, list[tuple[float, float]]] = {"without": [], "with": [], "with audit": []}
    for round in range(rounds + 1):
        for kind, spent in taken.items():
            audit = Audit(b"key") if kind == "with audit" else None
            with open_saver(url, audit=audit) as saver:
                agent = ours(steps, 200, saver)
                time_of = seconds_of_run(without_ledger(agent) if kind == "without" else agent, steps)
            if round:
                spent.append(time_of)
    cpu = {kind: statistics.median(spent[0] for spent in runs) for kind, runs in taken.items()}
    wall = {kind: statistics.median(spent[1] for spent in runs) for kind, runs in taken.items()}
    return {
        "cpu, with over without": round_(cpu["with"] / cpu["without"]),
        "cpu, with audit over without": round_(cpu["with audit"] / cpu["without"]),
        "wall, with over without": round_(wall["with"] / wall["without"]),
        "ms of CPU a call": round_(1000 * (cpu["with"] - cpu["without"]) / steps),
        "ms a call": round_(1000 * (wall["with"] - wall["without"]) / steps),
    }


def round_(number: float) -> float:
    """Two digits."""
    return round(number, 2)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--postgres", metavar="URL")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        places = {"memory": "memory", "sqlite": f"sqlite:///{folder}/bench.sqlite"}
        places |= {"postgresql": asked.postgres} if asked.postgres else {}
        table = {name: measure(url, asked.steps, asked.rounds) for name, url in places.items()}
    for name, figures in table.items():
        print(f"{name:12}", "  ".join(f"{what} {number}" for what, number in figures.items()))
    if asked.json:
        asked.json.write_text(json.dumps(table, indent=1))


if __name__ == "__main__":
    main()
