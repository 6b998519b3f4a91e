"""Take one guard away at a time and see that some test fails: python scripts/mutants.py [NAME …].

A guard that can be taken away unnoticed is not tested. Works on copies; the checkout is not touched.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]


class Mutant(NamedTuple):
    """One guard: where it is, what stands in its place, and the tests that must notice."""

    file: str
    guard: str
    instead: str
    tests: str


MUTANTS = {
    "hash check at start": Mutant(
        "nodes/permission.py",
        'if row["tool"] != tool.name or row["args_sha256"] != sha256(tool.name, order["args"]):',
        "if False:",
        "tests/test_calls.py",
    ),
    "question bound to its call": Mutant(
        "nodes/approve.py", "if asked.fresh:", "if False:", "tests/test_approvals.py tests/test_approval_cases.py"
    ),
    "compare-and-set at start": Mutant("nodes/calls.py", "if started != 1:", "if False:", "tests/test_calls.py"),
    "compare-and-set of decisions": Mutant(
        "nodes/decisions.py",
        'if row is None or row["status"] != "awaiting"',
        "if row is None",
        "tests/test_calls.py",
    ),
    "lease": Mutant(
        "nodes/leases.py", "WHERE leases.until < ? RETURNING fence", "WHERE ? > 0 RETURNING fence",
        "tests/test_leases.py tests/test_concurrency.py",
    ),
    "fencing number": Mutant(
        "nodes/leases.py", 'if held is None or held["fence"] != fence:', "if False:", "tests/test_leases.py"
    ),
    "fenced checkpoints": Mutant(
        "graphs/fenced.py", "if (fence := fence_of(config)) is not None:", "if False:", "tests/test_concurrency.py"
    ),
    "attempt": Mutant(
        "nodes/calls.py", 'if row.get("status") == "started" and row["attempt"] == attempt:',
        'if row.get("status") == "started":', "tests/test_calls.py",
    ),
    "expiry of a question": Mutant(
        "nodes/decisions.py",
        'if row["status"] == "awaiting" and row["expires_at"] < now:',
        "if False:",
        "tests/test_approvals.py tests/test_calls.py",
    ),
    "expiry of an approval": Mutant(
        "nodes/permission.py", 'if transaction.now > row["decided_at"] + policy.use_minutes * 60:', "if False:",
        "tests/test_approvals.py",
    ),
    "strict flag": Mutant(
        "graphs/encryption.py", "allowed_msgpack_modules=None", "allowed_msgpack_modules=True",
        "tests/test_encryption.py",
    ),
    "refusal of rows in clear": Mutant(
        "graphs/encryption.py", 'if "+" not in data[0]:', "if False:", "tests/test_encryption.py"
    ),
    "taint in the guard": Mutant(
        "nodes/guard.py", 'tainted = bool(case.state["run"].get("tainted"))', "tainted = False",
        "tests/test_approvals.py",
    ),
    "taint at start": Mutant(
        "nodes/permission.py", 'and tainted(transaction, row["run_id"], row["step"])', "and False",
        "tests/test_calls.py",
    ),
    "recorded calls": Mutant(
        "nodes/think.py", "if recorded := (yield Wait.io(lambda: self.thoughts.recorded(run_id, step, basis, fence))):",
        "if recorded := None:", "tests/test_thoughts.py",
    ),
    "codes of the audit log": Mutant(
        "nodes/audit_check.py",
        "fitting = any(hmac.compare_digest(seal(self.key, code, record).encode(), mac.encode()) for code in before)",
        "fitting = True", "tests/test_audit.py",
    ),
}  # fmt: skip


def killed(mutant: Mutant) -> bool:
    """Whether a test fails without the guard."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        for name in subprocess.check_output(
            ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, text=True
        ).splitlines():
            if (ROOT / name).is_file():
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, copy / name)
        file = copy / mutant.file
        text = file.read_text()
        if text.count(mutant.guard) != 1:
            raise SystemExit(f"{mutant.file} holds the guard {text.count(mutant.guard)} times: {mutant.guard}")
        file.write_text(text.replace(mutant.guard, mutant.instead))
        tests = [name for name in mutant.tests.split() if (copy / name).exists()]
        run = subprocess.run(
            [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests],
            cwd=copy, env={**os.environ, "PYTHONPATH": str(copy), "REASONACT_ROUNDS": "2"}, capture_output=True,
        )  # fmt: skip
    if run.returncode not in (0, 1):
        raise SystemExit(run.stdout.decode()[-3000:] + run.stderr.decode()[-3000:])
    return run.returncode == 1


def main() -> None:
    """Say which guards are missed."""
    asked = sys.argv[1:] or list(MUTANTS)
    alive = []
    for name in asked:
        found = killed(MUTANTS[name])
        print(f"{'noticed' if found else 'NOT NOTICED':12} {name}", flush=True)
        alive += [] if found else [name]
    if alive:
        raise SystemExit(f"no test notices that these are gone: {', '.join(alive)}")


if __name__ == "__main__":
    main()
