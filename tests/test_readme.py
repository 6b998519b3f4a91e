"""What the README shows is what the code does."""

from __future__ import annotations

import re

import pytest

from tests import readme


@pytest.mark.parametrize("name", readme.PARTS)
def test_generated_part(name: str) -> None:
    assert readme.parts(readme.README.read_text(encoding="utf-8"))[name] == readme.PARTS[name](), (
        "the README is out of date: run python -m tests.readme"
    )


def test_python_examples_run() -> None:
    """Every Python block runs, in order, in one namespace; a scripted model stands in for the one the reader has."""
    blocks = re.findall(r"```python\n(.*?)```", readme.README.read_text(encoding="utf-8"), re.S)
    assert blocks
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)


def test_commands_of_the_readme_exist() -> None:
    text = readme.README.read_text(encoding="utf-8")
    for script in set(re.findall(r"\bscripts/\w+(?:\.py)?", text)):
        assert (readme.README.parent / script).is_file(), script
