"""CPU and bytes of one step (think, guard, act, observe), beside LangChain's create_agent in the same run.

python -m benchmarks.overhead [--rounds 5] [--steps 1 10 100] [--growth 1000] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from typing import Any

from benchmarks.contestants import AGENTS, Savers, answered

SAVERS = ("none", "memory", "sqlite")
AIMS = {("create_agent", "none"): 0.9, ("create_agent", "memory"): 0.6, ("create_agent", "sqlite"): 0.6}


def cpu_of_run(name: str, steps: int, saver: Any, size: int = 20) -> float:
    """CPU milliseconds of one step of a run, all threads, asserted to have done its work."""
    agent = AGENTS[name](steps, size, saver)
    config = {"configurable": {"thread_id": "t"}, "recursion_limit": 10 * steps + 50}
    began = time.process_time()
    state = agent.invoke({"messages": [("user", "go")]}, config, **({"durability": "sync"} if saver else {}))
    spent = time.process_time() - began
    assert answered(state["messages"], steps), f"{name} did not do its work"
    return spent * 1000 / steps


def compare(steps: list[int], rounds: int) -> dict[str, dict[str, dict[int, float]]]:
    """Median CPU per step of every agent, saver and length, the agents taking turns within each round."""
    savers = Savers()
    taken: dict[tuple[str, str, int], list[float]] = {}
    for _ in range(rounds + 1):
        for kind in SAVERS:
            for length in steps:
                for name in AGENTS:
                    taken.setdefault((name, kind, length), []).append(cpu_of_run(name, length, savers.make(kind)))
    table: dict[str, dict[str, dict[int, float]]] = {}
    for (name, kind, length), values in taken.items():
        table.setdefault(name, {}).setdefault(kind, {})[length] = statistics.median(values[1:])
    return table


def growth(steps: int) -> dict[str, Any]:
    """Of one run of `steps` steps with 1 kB observations: CPU per step against 10 steps, and bytes against payload."""
    savers = Savers()
    cpu_of_run("reasonact", 10, savers.make("sqlite"), 1000)
    short = statistics.median(cpu_of_run("reasonact", 10, savers.make("sqlite"), 1000) for _ in range(5))
    bytes_of: dict[int, int] = {}
    for length in (steps // 2, steps):
        saver = savers.make("sqlite")
        long = cpu_of_run("reasonact", length, saver, 1000)
        bytes_of[length] = savers.size(saver)
    memory = {length: cpu_of_run("reasonact", length, savers.make("memory"), 1000) for length in (10, steps)}
    payload = steps * 1000
    small = savers.make("sqlite, ours")
    cpu_of_run("reasonact", steps, small, 1000)
    return {
        "steps": steps,
        "cpu per step, long over short, sqlite": round(long / short, 2),
        "cpu per step, long over short, memory": round(memory[steps] / memory[10], 2),
        "bytes over payload": round(bytes_of[steps] / payload, 2),
        "bytes over payload, reasonact's own saver": round(savers.size(small) / payload, 2),
        "bytes, whole over half": round(bytes_of[steps] / bytes_of[steps // 2], 2),
    }


def report(table: dict[str, dict[str, dict[int, float]]], steps: list[int]) -> None:
    """Print milliseconds and ratios."""
    for kind in SAVERS:
        print(f"\nCPU ms per step, saver {kind}")
        for name in AGENTS:
            print(f"  {name:28}" + "".join(f"{table[name][kind][n]:9.2f} @{n}" for n in steps))
        for peer in list(AGENTS)[1:]:
            ratios = [table["reasonact"][kind][n] / table[peer][kind][n] for n in steps]
            print(f"  ours / {peer:21}" + "".join(f"{ratio:9.2f} @{n}" for ratio, n in zip(ratios, steps, strict=True)))


def main() -> None:
    """Run the comparison and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, nargs="+", default=[1, 10, 100])
    parser.add_argument("--growth", type=int, default=1000, help="steps of the growth run; 0 leaves it out")
    parser.add_argument("--json", help="file for the figures")
    options = parser.parse_args()
    table = compare(options.steps, options.rounds)
    report(table, options.steps)
    grown = growth(options.growth) if options.growth else {}
    for what, figure in grown.items():
        print(f"{what}: {figure}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"cpu_ms_per_step": table, "growth": grown}, file, indent=1)


if __name__ == "__main__":
    main()
