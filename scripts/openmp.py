"""Put the OpenMP library of a wheel beside the local model's engine, under the name that the engine asks for."""

import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

NAME = b"libgomp.so.1"


def main(wheel: str) -> None:
    """Copy it out of `wheel` with its own name for itself changed: the loader goes by that."""
    with zipfile.ZipFile(wheel) as files:
        inside = next(name for name in files.namelist() if "/libgomp" in name)
        library = files.read(inside)
    called = Path(inside).name.encode()
    engine = find_spec("xllamacpp")
    assert engine is not None and engine.origin is not None and len(called) >= len(NAME)
    renamed = library.replace(called + b"\0", NAME.ljust(len(called), b"\0") + b"\0")
    Path(engine.origin).with_name(NAME.decode()).write_bytes(renamed)


if __name__ == "__main__":
    main(sys.argv[1])
