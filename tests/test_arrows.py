import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ALLOWED = {
    "tools": set(),
    "nodes": {"tools"},
    "graphs": {"nodes", "tools"},
    "reasonact": {"graphs", "nodes", "tools"},
    "evals": {"reasonact"},
    "benchmarks": {"reasonact"},
}
ROOMS = ("graphs", "nodes", "reasonact", "tools")
OWN = {*ALLOWED, "tests", "notebooks", "scripts"}
NODE_FILES = ("begin", "think", "guard", "approve", "act", "observe", "finish", "halt")
MODULE_NAME = re.compile(r"(graphs|nodes|tools|reasonact)(\.[a-z_]\w*)+(:\w+)?")
LINES = 200

FILES = [file for room in ALLOWED for file in sorted((ROOT / room).rglob("*.py"))]
IN_ROOMS = [file for file in FILES if file.relative_to(ROOT).parts[0] in ROOMS]


def named(file: Path) -> str:
    return str(file.relative_to(ROOT))


def tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def imports(file: Path) -> Iterator[ast.Import | ast.ImportFrom]:
    return (node for node in ast.walk(tree(file)) if isinstance(node, ast.Import | ast.ImportFrom))


def imported(file: Path) -> set[str]:
    """The top-level names that a file imports."""
    names: set[str] = set()
    for node in imports(file):
        names |= {node.module or ""} if isinstance(node, ast.ImportFrom) else {alias.name for alias in node.names}
    return {name.split(".")[0] for name in names}


@pytest.mark.parametrize("file", FILES, ids=named)
def test_arrows_point_down(file: Path) -> None:
    room = file.relative_to(ROOT).parts[0]
    assert imported(file) & OWN <= ALLOWED[room] | {room}


@pytest.mark.parametrize("file", IN_ROOMS, ids=named)
def test_imports_can_be_moved_in_a_wheel(file: Path) -> None:
    for node in imports(file):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: a relative import"
        else:
            ours = [alias.name for alias in node.names if alias.name.split(".")[0] in ("graphs", "nodes", "tools")]
            assert not ours, f"line {node.lineno}: write from {ours[0]} import …"


@pytest.mark.parametrize("file", IN_ROOMS, ids=named)
def test_no_module_name_stands_in_a_string(file: Path) -> None:
    whole = tree(file)
    spoken = {id(node.value) for node in ast.walk(whole) if isinstance(node, ast.Expr)}
    for node in ast.walk(whole):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in spoken:
            assert not MODULE_NAME.fullmatch(node.value), f"line {node.lineno}: {node.value!r}"


@pytest.mark.parametrize("file", IN_ROOMS, ids=named)
def test_a_file_is_read_in_one_sitting(file: Path) -> None:
    assert len(file.read_text(encoding="utf-8").splitlines()) <= LINES


@pytest.mark.parametrize("file", FILES, ids=named)
def test_a_module_is_named_after_what_it_holds(file: Path) -> None:
    assert not {"utils", "util", "helpers", "misc", "common"} & {file.stem, *file.relative_to(ROOT).parts[:-1]}


@pytest.mark.parametrize("file", FILES, ids=named)
def test_exported_names_are_sorted(file: Path) -> None:
    for node in tree(file).body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
            names = ast.literal_eval(node.value)
            assert list(names) == sorted(names)


def test_every_box_of_the_picture_has_a_file() -> None:
    missing = [name for name in NODE_FILES if not (ROOT / "nodes" / f"{name}.py").exists()]
    assert not missing
