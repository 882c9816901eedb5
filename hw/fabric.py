"""Fabric: full synthesis by yosys for a Xilinx 7-series part."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from hw.yosys import YosysError, run_passes, totals

__all__ = ["LUT_LIBRARY", "ROUTING_PS", "Fabric", "fabric"]

LUT_LIBRARY = """\
1 1 127
2 2 127 238
3 3 127 238 407
4 3 127 238 407 472
5 3 127 238 407 472 631
6 5 127 238 407 472 631 642
7 10 470 524 635 804 869 1028 1039
8 20 465 592 646 757 926 991 1150 1161
"""
"""LUTs for ABC: inputs, area, delay in ps from each input. Functions of 7 and 8 inputs are two and
four LUTs of 6 with MUXF7 and MUXF8. What yosys 0.70 gives abc9 for the series (`abc9_ops
-write_lut` in `synth_xilinx -family xc7`)."""

ROUTING_PS = 300
"""What abc9 adds to each level of LUTs for its routing, in that flow."""

REMEMBERED = 16
"""Runs kept in the process, the last used ones."""

_DELAY = re.compile(r"\bDel =\s*(\d+(?:\.\d+)?)")
_FABRIC = {
    "LUT": "LUT",
    "CARRY4": "CARRY",
    "MUXF": "MUXF",
    "DSP48E1": "DSP",
    "INV": "LUT",
    "FD": "FF",
}
_MEMORY_LUTS = {"RAM32M": 4, "RAM64M": 4, "RAM32X1D": 2, "RAM64X1D": 2, "RAM128X1D": 4, "SRL": 1}


def _fabric_kind(kind: str) -> tuple[float, str]:
    """Return (how many, of what) one cell of synth_xilinx is."""
    if kind.startswith("RAMB"):
        return (0.5 if "18" in kind else 1.0), "BRAM"
    for prefix, luts in _MEMORY_LUTS.items():
        if kind.startswith(prefix):
            return luts, "memory"
    for prefix, what in _FABRIC.items():
        if kind.startswith(prefix):
            return 1, what
    raise YosysError(f"cell must be one that synth_xilinx is known to make, not {kind!r}")


@dataclass(frozen=True)
class Fabric:
    """What a module takes of a Xilinx 7-series part.

    Attributes:
        luts: LUTs used as logic, of any size; inverters that no LUT took up count as one.
        memory_luts: LUTs used as memory or shift register.
        ffs: Flip-flops.
        brams: Block RAMs of 36 Kbit; one of 18 Kbit counts half.
        dsps: DSP48E1 slices.
        carries: CARRY4 cells.
        wide_muxes: MUXF7 and MUXF8 cells.
        delay_ps: Longest path by the LUT and carry delays of abc9; 0 without logic.
    """

    luts: int
    memory_luts: int
    ffs: int
    brams: float
    dsps: int
    carries: int
    wide_muxes: int
    delay_ps: float


@lru_cache(maxsize=REMEMBERED)
def fabric(text: str, module: str) -> Fabric:
    """Synthesise the Verilog `text` for a Xilinx 7-series part; 3 to 20 s.

    `abc9.verify` is off: it proves every mapping by SAT, and does not end on modular multipliers.

    Raises:
        hw.yosys.YosysError: when yosys is missing or fails.
    """
    run = run_passes(
        [
            "scratchpad -set abc9.verify 0",
            "read_verilog module.v",
            f"synth_xilinx -flatten -family xc7 -noiopad -noclkbuf -top {module}",
            "tee -q -o stat.json stat -json",
        ],
        {"module.v": text},
        ["stat.json"],
    )
    kinds = dict(totals(run.results["stat.json"])["num_cells_by_type"])
    count = dict.fromkeys(("BRAM", "memory", *_FABRIC.values()), 0.0)
    for kind, number in sorted(kinds.items()):
        weight, what = _fabric_kind(kind)
        count[what] += weight * number
    delays = _DELAY.findall(run.log)
    return Fabric(
        luts=int(count["LUT"]),
        memory_luts=int(count["memory"]),
        ffs=int(count["FF"]),
        brams=count["BRAM"],
        dsps=int(count["DSP"]),
        carries=int(count["CARRY"]),
        wide_muxes=int(count["MUXF"]),
        delay_ps=float(delays[-1]) if delays else 0.0,
    )
