"""CMOS: a module counted in NAND2 as riscv-crypto counts, for comparison with its figures alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from hw.yosys import YosysError, run_passes

__all__ = ["nand2_cmos", "nand2_cmos_of_files"]

REMEMBERED = 16
"""Runs kept in the process, the last used ones."""

_TRANSISTORS = re.compile(r"number of transistors:\s*(\d+)(\+?)")


@lru_cache(maxsize=REMEMBERED)
def nand2_cmos(text: str, module: str) -> float:
    """Return the size of the Verilog `text` in NAND2 of the CMOS recipe of riscv-crypto.

    Transistors over 4 after `abc -g cmos`: the unit of github.com/riscv/riscv-crypto, rtl/README.md
    (commit ef1eeb9), and not our gate equivalent: its XOR is 3 NAND2. That recipe, written for
    yosys 0.23, calls `synth`, whose ABC script has changed since; here its two ABC steps are
    spelled out. On riscv-crypto's own sources, against its published counts: saes32 1,181 (1,176),
    ssm3 457 (474), ssm4 715.5 (724), ssha256 757.5 (737), saes32_ssm4 1,427.5 (1,436).

    Raises:
        hw.yosys.YosysError: when yosys is missing or fails, or a cell has no transistor count.
    """
    return _cmos(("read_verilog module.v",), {"module.v": text}, module)


def nand2_cmos_of_files(files: Mapping[str, str], module: str, parameters: str = "") -> float:
    """Return `nand2_cmos` of a module in several files, with `chparam` arguments if given."""
    reads = tuple(f"read_verilog {name}" for name in sorted(files))
    chosen = (f"chparam {parameters} {module}",) if parameters else ()
    return _cmos((*reads, *chosen), files, module)


def _cmos(reads: tuple[str, ...], files: Mapping[str, str], module: str) -> float:
    run = run_passes(
        [
            *reads,
            "proc",
            f"synth -top {module} -flatten -noabc",
            # Flip-flops with enable or reset are not counted: they are plain ones and gates here.
            "dfflegalize -cell $_DFF_P_ x",
            "abc -script +strash;dretime;map",
            "opt -fast",
            "abc -g cmos",
            "opt -fast",
            "flatten",
            "delete t:$scopeinfo",
            "tee -q -o stat.txt stat -tech cmos",
        ],
        files,
        ["stat.txt"],
    )
    found = _TRANSISTORS.findall(run.results["stat.txt"])
    if not found or found[-1][1]:
        raise YosysError(
            "every cell must have a transistor count; only gates and plain flip-flops have one"
        )
    return int(found[-1][0]) / 4
