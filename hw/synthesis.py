"""Synthesis: technology mapping of a `Graph` by yosys-abc, to cells and to LUTs."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from hw.abc import TIMEOUT_S, AbcError, run_abc
from hw.aiger import aiger_bytes, output_literals
from hw.fabric import LUT_LIBRARY, ROUTING_PS
from hw.graph import Graph
from hw.liberty import CELLS, TAU_NS, TAU_PER_FO4
from hw.luts import LutNetwork, read_luts

__all__ = ["Gate", "Netlist", "SynthesisError", "forget", "synthesise"]

REMEMBERED = 64
"""Netlists kept in the process, the last used ones: one graph is often timed for several cores."""

_MARK = "=== next ==="
_MAP = "balance -x; &get -n; &nf; &put; buffer -c; topo; stime"
_LUT = f"&get -n; &if -C 4 -W {ROUTING_PS} -v"
_TIMED = re.compile(r"Area =\s*([\d.]+).*?Delay =\s*([\d.]+) ps")
_LUT_DELAY = re.compile(r"Del =\s*(\d+(?:\.\d+)?)")


class SynthesisError(RuntimeError):
    """Raised when yosys-abc is missing, fails, takes too long or answers something unexpected."""


class Gate(NamedTuple):
    """One mapped cell. Inputs stand in the order of the cell's pins; "" is a plain connection."""

    cell: str
    inputs: tuple[str, ...]
    output: str


@dataclass(frozen=True)
class Netlist:
    """A mapped circuit: signals of the inputs and outputs in AIGER order, gates fan-in first.

    `delay_fo4` is what ABC's static timing (`stime`) reports, without flip-flops. `luts` are those
    of a Xilinx 7-series part that stand beside its carry chains, and `lut_delay_ps` what ABC
    reports for their longest path, chains cut.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    gates: tuple[Gate, ...]
    area_ge: float
    delay_fo4: float
    luts: LutNetwork
    lut_delay_ps: float


def synthesise(graph: Graph, timeout_s: float = TIMEOUT_S) -> Netlist:
    """Map `graph` to the cells of `hw/liberty.py`, and again to the LUTs of `hw/fabric.py`.

    2 to 350 ms (100 to 25,000 GE). `buffer -c` bounds the fan-out, of sources too since they have
    a driver; without it one enable signal that drives a thousand gates would be the critical path,
    or be free. The result depends on the graph alone, so the process remembers the netlists of the
    last `REMEMBERED` graphs.

    Raises:
        SynthesisError: when yosys-abc is missing, fails, or takes longer than `timeout_s`.
    """
    if not output_literals(graph):
        return Netlist((), (), (), 0.0, 0.0, LutNetwork(0, (), ()), 0.0)
    try:
        return _run(_Task(graph.digest(), f"{_MAP}\n{_LUT}", graph, timeout_s))
    except AbcError as error:
        raise SynthesisError(str(error)) from None


def forget() -> None:
    """Forget the netlists of this process."""
    _run.cache_clear()


@dataclass(frozen=True)
class _Task:
    """One mapping; two are equal when graph and script are."""

    digest: str
    mapping: str
    graph: Graph = field(compare=False)
    timeout_s: float = field(compare=False)


@lru_cache(maxsize=REMEMBERED)
def _run(task: _Task) -> Netlist:
    files: dict[str, str | bytes] = {"logic.aig": aiger_bytes(task.graph), "part.lut": LUT_LIBRARY}
    chained = "logic.aig"
    if task.graph.adders:
        chained = "chained.aig"
        files[chained] = aiger_bytes(task.graph, carry_chains=True)
    cells, luts = task.mapping.split("\n")
    # The graph stays where it is while `&if` works on a copy; both mappings begin with it.
    again = "" if chained == "logic.aig" else "read_aiger {0}/logic.aig; strash; "
    script = (
        f"read_lut {{0}}/part.lut; read_aiger {{0}}/{chained}; strash; {luts}; &w {{0}}/luts.aig\n"
        f"echo {_MARK}; {again}{cells}; write_blif {{0}}/mapped.blif\n"
    )
    done = run_abc(script, files, ("mapped.blif", "luts.aig"), task.timeout_s)
    first, _, mapping = done.log.partition(_MARK)
    timed, delays = _TIMED.findall(mapping), _LUT_DELAY.findall(first)
    blif = done.results.get("mapped.blif", b"").decode("ascii")
    written = done.results.get("luts.aig", b"")
    if len(timed) != 1 or not blif.rstrip().endswith(".end") or not written:
        raise SynthesisError(
            "yosys-abc must report one mapping and write cells and LUTs, "
            f"not {len(timed)}, {len(blif)} characters and {len(written)} bytes"
        )
    inputs, outputs, gates = _read_blif(blif)
    area = sum(_AREA[gate.cell] for gate in gates)
    reported = float(timed[0][0])
    if abs(area - reported) > 0.01 + 1e-4 * reported:
        raise SynthesisError(f"the netlist must have the area ABC reports, {reported}, not {area}")
    delay = float(timed[0][1]) / (TAU_NS * 1000 * TAU_PER_FO4)
    lut_delay = float(delays[-1]) if delays else 0.0
    return Netlist(inputs, outputs, gates, area, delay, read_luts(written), lut_delay)


_PINS = {cell.name: (*(f"{pin}=" for pin, _ in cell.pins), "Y=") for cell in CELLS}
_PINS |= {"_const0_": ("z=",), "_const1_": ("z=",)}
"""What stands before each signal of a cell."""
_CELL_OF = {"_const0_": "", "_const1_": ""}
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
            cell, joined = words[1], words[2:]
            pins = _PINS.get(cell, ())
            if len(joined) != len(pins) or not all(map(str.startswith, joined, pins)):
                raise SynthesisError(f"gate must be one of the library's cells, not {line!r}")
            signals = tuple([word[len(pin) :] for word, pin in zip(joined, pins, strict=True)])
            gates.append(Gate(_CELL_OF.get(cell, cell), signals[:-1], signals[-1]))
        elif words[0] == ".names":
            gates.append(Gate("", tuple(words[1:-1]), words[-1]))
    return ports.get(".inputs", ()), ports.get(".outputs", ()), tuple(gates)
