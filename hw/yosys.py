"""Yosys: run passes of the pyosys wheel in a process of their own."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["YosysError", "YosysRun", "run_passes", "totals"]

TIMEOUT_S = 300.0

# A pass that fails ends the process, silently where `tee -q` is on, so it must not be ours; passes
# are arguments because a script file would treat ';' in the paths of the user as a separator.
_PROGRAM = """\
import sys
from pyosys import libyosys
design = libyosys.Design()
for line in sys.argv[1:]:
    libyosys.run_pass(line, design)
"""
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class YosysError(RuntimeError):
    """Raised when yosys is missing, fails, takes too long or leaves no result."""


@dataclass(frozen=True)
class YosysRun:
    """Log without colours, and the text of each result file."""

    log: str
    results: Mapping[str, str]


def run_passes(
    passes: Sequence[str],
    files: Mapping[str, str],
    results: Sequence[str] = (),
    timeout_s: float = TIMEOUT_S,
) -> YosysRun:
    """Run yosys passes in a new folder that holds `files`; return what they wrote.

    Args:
        passes: Yosys commands, in order.
        files: Text of each file that the passes read, by name.
        results: Files that the passes must have written.
        timeout_s: Seconds after which yosys and the ABC it started are killed.

    Raises:
        YosysError: when pyosys is missing, a pass fails, a result is absent or time runs out.
    """
    if importlib.util.find_spec("pyosys") is None:
        raise YosysError(
            "the synthesised rung needs yosys from the pyosys wheel; install it with "
            "'pip install pyosys' or use the mapped or estimate rung"
        )
    with tempfile.TemporaryDirectory(prefix="dse-yosys-") as folder:
        work = Path(folder)
        for name, text in files.items():
            (work / name).write_text(text, encoding="utf-8")
        process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, *passes],
            cwd=work,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            _kill(process)
            raise YosysError(f"yosys must finish in {timeout_s:g} s, it did not") from None
        except BaseException:
            _kill(process)
            raise
        log = _COLOUR.sub("", output)
        if process.returncode != 0:
            raise YosysError(f"yosys failed with code {process.returncode}: {_reason(log)}")
        written = {}
        for name in results:
            if not (work / name).is_file():
                raise YosysError(f"yosys must write {name}, it did not: {_reason(log)}")
            written[name] = (work / name).read_text(encoding="utf-8")
        return YosysRun(log, written)


def _kill(process: subprocess.Popen[str]) -> None:
    """End yosys and its children, which hold its output open."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def _reason(log: str) -> str:
    lines = [line for line in log.splitlines() if line.strip()]
    errors = [line for line in lines if "ERROR" in line or "Error" in line]
    return (errors or lines or ["no output"])[-1]


def totals(stat: str) -> dict[str, Any]:
    """Return the totals of the text that `stat -json` writes."""
    report = json.loads(stat)
    design = report.get("design") or next(iter(report["modules"].values()))
    assert isinstance(design, dict)
    return design
