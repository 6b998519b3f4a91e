import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOMS = ("graphs", "nodes", "tools")
NOT_SOURCE = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "*.egg-info")

USERS_PROGRAM = """
import graphs, nodes, tools
from tools.calculator import mine
import reasonact, reasonact.cli
from reasonact.tools.calculator import calculator
from reasonact.graphs.react import build
from reasonact.nodes.state import State
assert graphs.mine and nodes.mine and tools.mine and mine()
assert calculator.name == "calculator"
build(tools=[calculator])
import sys
strangers = [name for name in sys.modules if name.split(".")[0] in ("graphs", "nodes", "tools")]
assert sorted(strangers) == ["graphs", "nodes", "tools", "tools.calculator"], strangers
print("both", reasonact.__file__)
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A source distribution and the wheel made from it, outside the checkout, which may hold an older build."""
    folder = tmp_path_factory.mktemp("wheel")
    shutil.copytree(ROOT, folder / "source", ignore=NOT_SOURCE)
    # Without isolation, so that nothing is fetched.
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder / "dist", folder / "source"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "dist"


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    # What pip does with a wheel of plain Python; there may be no pip in this environment.
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        wheel.extractall(folder)
    return folder


def modules(root: Path) -> set[str]:
    return {str(file.relative_to(root)) for room in ROOMS for file in (root / room).rglob("*.py")}


def test_wheel_has_no_top_level_name_but_ours(installed: Path) -> None:
    (info,) = installed.glob("*.dist-info")
    assert {path.name for path in installed.iterdir()} == {"reasonact", info.name}


def test_wheel_holds_every_module_and_all_data(installed: Path) -> None:
    assert modules(installed / "reasonact") == modules(ROOT)
    data = {file.name for file in (ROOT / "tools" / "data").glob("*")}
    assert {file.name for file in (installed / "reasonact" / "tools" / "data").glob("*")} == data
    assert (installed / "reasonact" / "py.typed").exists()


def test_source_distribution_holds_what_a_build_needs(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert modules(ROOT) | {"setup.py", "pyproject.toml", "LICENSE", "README.md", "reasonact/py.typed"} <= names


def test_wheel_runs_beside_a_users_own_rooms(installed: Path, tmp_path: Path) -> None:
    for room in ROOMS:
        (tmp_path / room).mkdir()
        (tmp_path / room / "__init__.py").write_text("mine = True\n")
    (tmp_path / "tools" / "calculator.py").write_text("def mine(): return True\n")
    (tmp_path / "program.py").write_text(USERS_PROGRAM)
    # Found before the checkout, which an editable install puts at the end of the path.
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, env={"PYTHONPATH": str(installed)}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"both {installed / 'reasonact' / '__init__.py'}\n"
