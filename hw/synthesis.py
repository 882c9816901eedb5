"""Synthesis: technology mapping of a `Graph` by the yosys-abc that the pyosys wheel carries."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import tempfile
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from hw.aiger import aiger_bytes, output_literals
from hw.fabric import LUT_LIBRARY
from hw.graph import Graph
from hw.liberty import CELLS, TAU_NS, TAU_PER_FO4, liberty_text

__all__ = ["Gate", "Netlist", "SynthesisError", "abc_path", "synthesise"]

TIMEOUT_S = 120.0

REMEMBERED = 64
"""Netlists kept in the process, the last used ones: one graph is often timed for several cores."""

DRIVER = "INV"
"""The cell that drives every source: what a flip-flop's output stage is like."""

_MAP = "strash; balance -x; &get -n; &nf; &put; buffer -c; topo; stime; write_blif mapped.blif"
_LUT = "strash; &get -n; &if -C 4 -W 300 -v; &ps -l"
_MARK = "=== next ==="
_NEXT = f"echo {_MARK}"
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_TIMED = re.compile(r"Area =\s*([\d.]+).*?Delay =\s*([\d.]+) ps")
_COUNTED = re.compile(r"Mapping \(K=\d+\).*?\blev =\s*(\d+)")
_SIZES = re.compile(r"^LUT = \d+ :(.*?)Ave", re.MULTILINE)
_SIZE = re.compile(r"(\d)=(\d+)")
_LUT_DELAY = re.compile(r"Del =\s*(\d+(?:\.\d+)?)")


class SynthesisError(RuntimeError):
    """Raised when yosys-abc is missing, fails, takes too long or answers something unexpected."""


@dataclass(frozen=True)
class Gate:
    """One mapped cell. Inputs stand in the order of the cell's pins; "" is a plain connection."""

    cell: str
    inputs: tuple[str, ...]
    output: str


@dataclass(frozen=True)
class Netlist:
    """A mapped circuit: signals of the inputs and outputs in AIGER order, gates fan-in first.

    `delay_fo4` is what ABC's static timing (`stime`) reports, without flip-flops. `luts` are those
    of a Xilinx 7-series part beside its carry chains, a function of 7 or 8 inputs being 2 or 4 of
    them and `wide_muxes`; `lut_delay_ps` is the longest path if LUTs do the adders too, with the
    local routing that abc9 assumes.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    gates: tuple[Gate, ...]
    area_ge: float
    delay_fo4: float
    luts: int
    wide_muxes: int
    lut_levels: int
    lut_delay_ps: float


def abc_path() -> Path:
    """Return where the yosys-abc program of the pyosys wheel is."""
    spec = importlib.util.find_spec("pyosys")
    folders = spec.submodule_search_locations if spec is not None else None
    for folder in folders or ():
        path = Path(folder) / "yosys-abc"
        if path.is_file():
            return path
    raise SynthesisError(
        "the mapped rung needs yosys-abc from the pyosys wheel; install it with "
        "'pip install pyosys' or use the estimate rung"
    )


def synthesise(graph: Graph, timeout_s: float = TIMEOUT_S) -> Netlist:
    """Map `graph` to the cells of `hw/liberty.py`, and again to the LUTs of `hw/fabric.py`.

    One process, about 20 ms to start and 10 to 350 ms to run (100 to 25,000 GE). `buffer -c`
    bounds the fan-out, of sources too since they have a driver; without it one enable signal that
    drives a thousand gates would be the critical path, or be free. The result depends on the
    graph alone, so the process remembers the netlists of the last `REMEMBERED` graphs.

    Raises:
        SynthesisError: when yosys-abc is missing, fails, or takes longer than `timeout_s`.
    """
    if not output_literals(graph):
        return Netlist((), (), (), 0.0, 0.0, 0, 0, 0, 0.0)
    return _run(_Task(graph.digest(), abc_path(), _MAP, graph, timeout_s))


@dataclass(frozen=True)
class _Task:
    """One mapping; two are equal when graph, program and script are."""

    digest: str
    program: Path
    mapping: str
    graph: Graph = field(compare=False)
    timeout_s: float = field(compare=False)


@lru_cache(maxsize=REMEMBERED)
def _run(task: _Task) -> Netlist:
    with tempfile.TemporaryDirectory(prefix="dse-abc-") as folder:
        work = Path(folder)
        (work / "logic.aig").write_bytes(aiger_bytes(task.graph))
        chained = aiger_bytes(task.graph, carry_chains=True)
        (work / "chained.aig").write_bytes(chained)
        (work / "part.lut").write_text(LUT_LIBRARY, encoding="ascii")
        (work / "ge.lib").write_text(liberty_text(), encoding="ascii")
        read = "read_aiger logic.aig"
        (work / "driver.constr").write_text(f"set_driving_cell {DRIVER}\n", encoding="ascii")
        setup = f"read_constr driver.constr; read_lib -w ge.lib; {read}"
        # One section of output each: cells; LUTs for the delay; LUTs beside carry chains.
        script = f"{setup}; {task.mapping}; read_lut part.lut; {_NEXT}; {read}; {_LUT}; {_NEXT}; "
        script += f"read_aiger chained.aig; {_LUT}" if task.graph.adders else "time"
        try:
            done = subprocess.run(
                [str(task.program), "-q", script],
                cwd=work,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=task.timeout_s,
                check=False,
                text=True,
                errors="replace",
            )
        except subprocess.TimeoutExpired:
            limit = f"{task.timeout_s:g} s"
            raise SynthesisError(f"yosys-abc must finish in {limit}, it did not") from None
        output = _COLOUR.sub("", done.stdout)
        if done.returncode != 0 or "** cmd error" in output or "Cannot open" in output:
            last = output.strip().splitlines()[-1:] or ["no output"]
            raise SynthesisError(f"yosys-abc failed with code {done.returncode}: {last[0]}")
        blif = work / "mapped.blif"
        text = blif.read_text(encoding="ascii") if blif.is_file() else ""
        return _parse(output, text)


def _parse(output: str, blif: str) -> Netlist:
    mapping, plain, chained = [*output.split(_MARK), "", ""][:3]
    timed = _TIMED.findall(mapping)
    counted = _COUNTED.findall(plain)
    if len(timed) != 1 or len(counted) != 1 or not blif.rstrip().endswith(".end"):
        raise SynthesisError(
            "yosys-abc must report one mapping, one LUT count and one netlist, "
            f"not {len(timed)}, {len(counted)} and {len(blif)} characters"
        )
    inputs, outputs, gates = _read_blif(blif)
    area = sum(_AREA[gate.cell] for gate in gates)
    reported = float(timed[0][0])
    if abs(area - reported) > 0.01 + 1e-4 * reported:
        raise SynthesisError(f"the netlist must have the area ABC reports, {reported}, not {area}")
    delay = float(timed[0][1]) / (TAU_NS * 1000 * TAU_PER_FO4)
    delays = _LUT_DELAY.findall(plain)
    lut_delay = float(delays[-1]) if delays else 0.0
    luts, wide_muxes = _lut_count(chained if _COUNTED.search(chained) else plain)
    levels = int(counted[0])
    return Netlist(inputs, outputs, gates, area, delay, luts, wide_muxes, levels, lut_delay)


def _lut_count(output: str) -> tuple[int, int]:
    """Return LUTs and wide multiplexers from what `&ps -l` says of the sizes of functions."""
    sizes = _SIZES.search(output)
    of_size = {int(k): int(n) for k, n in _SIZE.findall(sizes[1])} if sizes else {}
    luts = sum(n << max(0, k - 6) for k, n in of_size.items())
    return luts, sum(n * ((1 << max(0, k - 6)) - 1) for k, n in of_size.items())


_PINS = {cell.name: tuple(pin for pin, _ in cell.pins) for cell in CELLS}
_AREA = {"": 0.0} | {cell.name: cell.area_ge for cell in CELLS}


def _read_blif(blif: str) -> tuple[tuple[str, ...], tuple[str, ...], tuple[Gate, ...]]:
    """Return inputs, outputs and gates of a mapped BLIF text; `.names` is a plain connection."""
    ports: dict[str, tuple[str, ...]] = {}
    gates: list[Gate] = []
    for line in blif.replace("\\\n", " ").splitlines():
        words = line.split()
        if not words:
            continue
        if words[0] in (".inputs", ".outputs"):
            ports[words[0]] = tuple(words[1:])
        elif words[0] == ".gate":
            cell = words[1]
            joined = dict(word.split("=", 1) for word in words[2:])
            if cell in ("_const0_", "_const1_"):
                gates.append(Gate("", (), joined["z"]))
                continue
            if cell not in _PINS or set(joined) != {*_PINS[cell], "Y"}:
                raise SynthesisError(f"gate must be one of the library's cells, not {line!r}")
            gates.append(Gate(cell, tuple(joined[pin] for pin in _PINS[cell]), joined["Y"]))
        elif words[0] == ".names":
            gates.append(Gate("", tuple(words[1:-1]), words[-1]))
    return ports.get(".inputs", ()), ports.get(".outputs", ()), tuple(gates)
