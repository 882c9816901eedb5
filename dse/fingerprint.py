"""The digest of the code and tools behind a result, so that no stale result is ever reused."""

from __future__ import annotations

import hashlib
import platform
from functools import cache
from importlib import metadata
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
# of dse only what evaluates; how results are searched, shown and stored does not change them
COMPUTING = ("coprocessor", "evaluation", "metrics")
_SOURCES = ("isa", "hw", "workloads", "dse/measure", *(f"dse/{name}.py" for name in COMPUTING))
_TOOLS = ("pyrtl", "pyosys", "networkx", "numpy")
_REPORTED = ("optuna", "moocore", "pydantic", "matplotlib", *_TOOLS)


@cache
def code_digest() -> str:
    """BLAKE2b of every source file and tool version that an evaluation passes through."""
    digest = hashlib.blake2b(digest_size=16)
    for source in _SOURCES:
        path = _ROOT / source
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in files:
            if file.suffix in (".py", ".json", ".lib", ".yaml", ".txt") and file.is_file():
                digest.update(str(file.relative_to(_ROOT)).encode() + b"\0")
                digest.update(file.read_bytes() + b"\0")
    for tool in _TOOLS:
        digest.update(f"{tool}={_version(tool)}\0".encode())
    return digest.hexdigest()


def versions() -> dict[str, str]:
    """Versions for the manifest: Python, this project and the libraries that matter."""
    found = {"python": platform.python_version(), "dse": _version("riscv-dse")}
    return found | {name: _version(name) for name in _REPORTED}


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "absent"
