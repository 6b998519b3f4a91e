"""Put the rooms under `reasonact` in a wheel, where the plain names graphs, nodes and tools would meet a user's own."""

from __future__ import annotations

import re
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

_ROOMS = ("graphs", "nodes", "tools")
_ROOM = rf"(?=(?:{'|'.join(_ROOMS)})(?:\.\w+)*[ \t]+"
_IMPORT = re.compile(rf"^([ \t]*)(from[ \t]+{_ROOM}import\b)|import[ \t]+{_ROOM}as\b))", re.MULTILINE)


class BuildRooms(build_py):
    """Build one package from four; an editable install keeps them side by side, as in the checkout."""

    def finalize_options(self) -> None:
        """Move the rooms."""
        super().finalize_options()
        if not self.editable_mode:
            self.packages = [_moved(package) for package in self.packages or ()]
            self.package_data = {_moved(package): files for package, files in self.package_data.items()}

    def get_package_dir(self, package: str) -> str:
        """Where the source of a package lies: that of a moved room beside `reasonact`, not in it."""
        _, _, room = package.partition("reasonact.")
        return super().get_package_dir(room or package)

    def build_module(self, module: str, module_file: str, package: str) -> tuple[str, bool]:  # type: ignore[override]
        """Copy a module, and point its imports at where the rooms are now."""
        built, copied = super().build_module(module, module_file, package)
        if not self.editable_mode:
            file = Path(built)
            file.write_text(_IMPORT.sub(r"\1\2reasonact.", file.read_text(encoding="utf-8")), encoding="utf-8")
        return built, copied


def _moved(package: str) -> str:
    return f"reasonact.{package}" if package.split(".")[0] in _ROOMS else package


setup(cmdclass={"build_py": BuildRooms})
