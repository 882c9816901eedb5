"""Cells: full synthesis by yosys to standard cells, ours or those of a library of the user's.

Unlike `hw.synthesis`, which maps our own graph, yosys reads exported Verilog here and has its say
from the start: it shares and merges arithmetic, recodes multiplexers, removes registers that hold
constants. The recipe is pinned; yosys is that of the pyosys wheel.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from hw.abc import DRIVER
from hw.liberty import CELLS, FLIP_FLOP_GE, TAU_NS, TAU_PER_FO4, liberty_text
from hw.synthesis import Gate
from hw.yosys import YosysError, YosysRun, run_passes, totals

__all__ = ["Cells", "Library", "cells", "library"]

_SIZING = "buffer,-c;topo;upsize;dnsize;stime,-p"
MAPPINGS = (
    f"+strash;balance,-x;&get,-n;&dch,-f;&nf;&put;{_SIZING}",
    f"+strash;balance,-x;&get,-n;&nf;&put;{_SIZING}",
    f"+strash;&get,-n;&st;&dch,-f;&nf;&put;{_SIZING}",
)
"""Scripts for ABC, all of which are run; the result of least area times delay is taken. One script
alone is at times a quarter above another for no reason in the design. Each maps with XORs, bounds
the fan-out and sizes the cells; none sweeps by SAT (`&fraig -x`, `scorr`), which takes minutes on
multipliers."""

REMEMBERED = 16
"""Runs kept in the process, the last used ones."""

_TIMED = re.compile(r"Area =\s*([\d.]+).*?Delay =\s*([\d.]+) ps")
_PINS = {cell.name: tuple(pin for pin, _ in cell.pins) for cell in CELLS}
_AREA = {cell.name: cell.area_ge for cell in CELLS}


@dataclass(frozen=True)
class Cells:
    """A netlist of the cells of `hw.liberty`, flip-flops cut.

    Attributes:
        gates: Gates, fan-in first; a plain connection has no cell.
        sources: Signals of the inputs and of the flip-flops' outputs.
        outputs: Signals of the outputs.
        following: (signal of its output, signal of its input) of each flip-flop.
        logic_ge: Area of the gates.
        delay_fo4: What ABC reports for the longest path; 0 without gates.
    """

    gates: tuple[Gate, ...]
    sources: tuple[str, ...]
    outputs: tuple[str, ...]
    following: tuple[tuple[str, str], ...]
    logic_ge: float
    delay_fo4: float

    @property
    def flip_flops(self) -> int:
        """How many flip-flops there are."""
        return len(self.following)

    @property
    def area_ge(self) -> float:
        """Area of gates and flip-flops."""
        return self.logic_ge + FLIP_FLOP_GE * self.flip_flops


@dataclass(frozen=True)
class Library:
    """Area and delay in a cell library of the user's.

    Attributes:
        area: Cells and flip-flops, in the library's unit.
        nand2: Its NAND2, in the same unit.
        flip_flops: How many there are.
        delay_ps: Longest path; 0 without gates.
    """

    area: float
    nand2: float
    flip_flops: int
    delay_ps: float

    @property
    def area_ge(self) -> float:
        """Area in gate equivalents of that library."""
        return self.area / self.nand2


@lru_cache(maxsize=REMEMBERED)
def cells(text: str, module: str) -> Cells:
    """Synthesise the Verilog `text` to the cells of `hw.liberty`; 0.2 to 5 s.

    Every input has the driver that the mapped rung assumes too.

    Raises:
        hw.yosys.YosysError: when yosys is missing or fails.
    """
    run = _to_cells(text, module, liberty_text(), DRIVER)
    best, (reported, delay_ps) = _best(run)
    sources, outputs, gates, following = _netlist(run.results[f"mapped{best}.blif"])
    area = sum(_AREA[gate.cell] for gate in gates if gate.cell)
    if abs(area - reported) > 0.01 + 1e-4 * reported:
        raise YosysError(f"the netlist must have the area ABC reports, {reported}, not {area}")
    delay_fo4 = delay_ps / (1000 * TAU_NS * TAU_PER_FO4)
    return Cells(_in_order(gates, sources), sources, outputs, following, area, delay_fo4)


@lru_cache(maxsize=REMEMBERED)
def library(text: str, module: str, liberty: str) -> Library:
    """Synthesise the Verilog `text` to the cells of the liberty text `liberty`.

    Raises:
        hw.yosys.YosysError: when yosys is missing or fails, or the library has no NAND2 or no D
            flip-flop.
    """
    run = _to_cells(text, module, liberty)
    best, (_, delay_ps) = _best(run)
    kinds = totals(run.results["early.json"])["num_cells_by_type"]
    flip_flops = sum(n for kind, n in kinds.items() if "DFF" in kind)
    area = float(totals(run.results[f"mapped{best}.json"])["area"])
    gate = _to_cells(
        "module g(input a, b, output y); assign y = ~(a & b); endmodule\n", "g", liberty
    )
    nand2 = float(totals(gate.results["mapped0.json"])["area"])
    if not nand2 > 0:
        raise YosysError(f"the library's NAND2 must have an area above 0, not {nand2:g}")
    return Library(area, nand2, flip_flops, delay_ps)


def _to_cells(text: str, module: str, liberty: str, driver: str | None = None) -> YosysRun:
    """Map with each of `MAPPINGS`: results mapped<i>.blif and mapped<i>.json, and early.json."""
    constraint = "-constr driver.constr " if driver else ""
    files = {"module.v": text, "cells.lib": liberty}
    if driver:
        files["driver.constr"] = f"set_driving_cell {driver}\n"
    passes = [
        "read_verilog module.v",
        f"synth -flatten -noabc -top {module}",
        "tee -q -o early.json stat -json",
        "dfflibmap -liberty cells.lib",
        "design -save unmapped",
    ]
    results = ["early.json"]
    for i, script in enumerate(MAPPINGS):
        passes += [
            "design -load unmapped",
            f"abc -liberty cells.lib {constraint}-script {script}",
            "opt_clean",
            f"tee -q -o mapped{i}.json stat -json -liberty cells.lib",
            f"write_blif -gates mapped{i}.blif",
        ]
        results += [f"mapped{i}.json", f"mapped{i}.blif"]
    return run_passes(passes, files, results)


def _best(run: YosysRun) -> tuple[int, tuple[float, float]]:
    """Return the number of the best mapping, and its area and delay (ps) as ABC reports them.

    Nothing is reported where no gate is.
    """
    found = [(float(area), float(delay)) for area, delay in _TIMED.findall(run.log)]
    if not found:
        return 0, (0.0, 0.0)
    if len(found) != len(MAPPINGS):
        raise YosysError(f"ABC must report {len(MAPPINGS)} mappings, not {len(found)}")
    best = min(range(len(found)), key=lambda i: (found[i][0] * found[i][1], i))
    return best, found[best]


def _netlist(
    blif: str,
) -> tuple[tuple[str, ...], tuple[str, ...], list[Gate], tuple[tuple[str, str], ...]]:
    """Return sources, outputs, gates and flip-flops of what yosys's `write_blif -gates` wrote."""
    ports: dict[str, tuple[str, ...]] = {}
    gates: list[Gate] = []
    following: list[tuple[str, str]] = []
    for line in blif.replace("\\\n", " ").splitlines():
        words = line.split()
        if not words or words[0][0] not in ".":
            continue
        if words[0] in (".inputs", ".outputs"):
            ports[words[0]] = tuple(words[1:])
        elif words[0] == ".names":
            gates.append(Gate("", tuple(words[1:-1]), words[-1]))
        elif words[0] == ".gate":
            cell, joined = words[1], dict(word.split("=", 1) for word in words[2:])
            if cell == "DFF":
                following.append((joined["Q"], joined["D"]))
            elif cell in _PINS and set(joined) == {*_PINS[cell], "Y"}:
                gates.append(Gate(cell, tuple(joined[p] for p in _PINS[cell]), joined["Y"]))
            else:
                raise YosysError(f"gate must be one of the library's cells, not {line!r}")
    sources = (*ports.get(".inputs", ()), *(q for q, _ in following))
    return sources, ports.get(".outputs", ()), gates, tuple(following)


def _in_order(gates: list[Gate], sources: tuple[str, ...]) -> tuple[Gate, ...]:
    """Return the gates with each after those that drive it, otherwise in the order given."""
    driver = {gate.output: gate for gate in gates}
    done = set(sources)
    ordered: list[Gate] = []
    for root in gates:
        stack = [root]
        while stack:
            gate = stack[-1]
            if gate.output in done:
                stack.pop()
                continue
            missing = [driver[s] for s in gate.inputs if s not in done and s in driver]
            if missing:
                stack.append(missing[0])
            else:
                done.add(gate.output)
                ordered.append(gate)
                stack.pop()
    return tuple(ordered)
