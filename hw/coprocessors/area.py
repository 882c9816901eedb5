"""Area: what a member of the family costs, by engine, buffer and control, and how fast it is."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any

import pyrtl

from hw.composition import memory_starts
from hw.coprocessors import engines
from hw.coprocessors.arcs import CLOCK, STATE, Arcs, measure
from hw.coprocessors.build import build
from hw.coprocessors.engines.engine import Engine, Inputs, Outputs
from hw.coprocessors.layout import Layout
from hw.coprocessors.logic import Makers, held_engines
from hw.coprocessors.parameters import Coprocessor
from hw.coprocessors.wires import Wire
from hw.memory import (
    BLOCK_RAM_PS,
    LUT_RAM_PS,
    block_rams,
    memory_luts,
    register_file,
    sram,
)
from hw.technology import Technology

__all__ = ["CoprocessorCost", "Part", "cost"]

Memo = Callable[[str, str, Callable[[], Any]], Any]
"""Remembers plain data (JSON): given a kind, a key, and what computes them."""

REMEMBERED = 4096
CROSSINGS = 16
"""Times that a signal may go from frame to engines and back; more would be a circle."""
BUFFER, CONTROL = "buffer", "control"
_HOST: tuple[str, ...] = ("valid", "command", "a", "b", "store", "offset", "data")
_BUFFER: tuple[str, ...] = ("buffer_row",)
_MEMORY: tuple[str, ...] = ("memory_word",)
_ANSWER = ("hold", "result")
_FROM_ENGINE = ("take", "busy", "ready", "out")
_TO_ENGINE = ("selected", "init", "run", "key", "squeeze", "word", "select")


@dataclass(frozen=True)
class Part:
    """One part of a co-processor.

    Attributes:
        area_ge: Gate equivalents.
        ffs: Flip-flops.
        luts: LUTs of a Xilinx 7-series part; None where the rung does not count them.
        brams: Block RAMs of 36 Kbit of such a part.
        area_error: Relative error of `area_ge`.
    """

    area_ge: float
    ffs: int
    luts: int | None
    brams: float
    area_error: float


@dataclass(frozen=True)
class CoprocessorCost:
    """What a member costs. Delays are in FO4, without flip-flop overhead.

    Attributes:
        rung: How it was obtained.
        parts: Engines by name, then "buffer" and "control", which is all the rest.
        delay_fo4: Longest path between registers, the buffer and data memory among them; what
            comes from the host is taken to be there at the clock edge.
        host_fo4: Longest path from the command at the port to a register.
        answer_fo4: Longest path from a register to hold or result.
        through_fo4: Longest path from the command to hold or result.
        delay_error: Relative error of the delays.
        luts_error: Relative error of the LUTs, None where they are not counted.
    """

    rung: str
    parts: Mapping[str, Part]
    delay_fo4: float
    host_fo4: float
    answer_fo4: float
    through_fo4: float
    delay_error: float
    luts_error: float | None

    @property
    def area_ge(self) -> float:
        """Gate equivalents of all parts."""
        return sum(part.area_ge for part in self.parts.values())

    @property
    def ffs(self) -> int:
        """Flip-flops of all parts."""
        return sum(part.ffs for part in self.parts.values())

    @property
    def luts(self) -> int | None:
        """LUTs of all parts; None where the rung does not count them."""
        found = [part.luts for part in self.parts.values()]
        return None if None in found else sum(n for n in found if n is not None)

    @property
    def brams(self) -> float:
        """Block RAMs of all parts."""
        return sum(part.brams for part in self.parts.values())

    @property
    def area_error(self) -> float:
        """Relative error of `area_ge`, should all parts err to the same side."""
        return sum(p.area_ge * p.area_error for p in self.parts.values()) / self.area_ge


def _directly(kind: str, key: str, compute: Callable[[], Any]) -> Any:
    return compute()


def cost(
    p: Coprocessor,
    technology: Technology | None = None,
    rung: str = "mapped",
    xlen: int = 32,
    memo: Memo = _directly,
) -> CoprocessorCost:
    """Price a member of the family.

    Each engine and the frame are measured by themselves, with what stands around them as ports,
    and remembered by the parameters that reach them; paths from one into the other are added up.

    Args:
        p: Parameters.
        technology: Default `ge`.
        rung: "estimate", "mapped" or "synthesised".
        xlen: Register width of the host.
        memo: Remembers what was measured beyond this process.

    Raises:
        ValueError: There is no such rung, or delays are to be those of LUTs, which the mapped rung
            alone has for parts.
    """
    technology = technology or Technology("ge")
    if technology.has_luts and rung != "mapped":
        raise ValueError(f"rung of {technology.name} must be 'mapped', not {rung!r}")
    p = p.canonical()
    frame = _remembered(memo, "coprocessor frame", _frame, _frame_key(p), xlen, technology, rung)
    units = {}
    for engine in held_engines(p):
        key = engine.name, _engine_key(p, engine), technology, rung
        units[engine.name] = _remembered(memo, "coprocessor engine", _engine, *key)
    buffer, access_fo4 = _buffer(p, technology)
    errors = technology.rung(rung)
    parts = {
        name: Part(arcs.area_ge, arcs.ffs, arcs.luts, 0.0, errors.area_error)
        for name, arcs in units.items()
    }
    parts[BUFFER] = buffer if frame.luts is not None else replace(buffer, luts=None)
    parts[CONTROL] = Part(frame.area_ge, frame.ffs, frame.luts, 0.0, errors.area_error)
    starts = {"buffer": access_fo4, "memory": memory_starts(technology)["dmem_word"]}
    host_only = _settled(frame, units, {"host": 0.0})
    inside = _settled(frame, units, {CLOCK: 0.0, **starts})
    return CoprocessorCost(
        rung,
        parts,
        max(*inside.values(), *host_only.values()),
        host_only[STATE],
        max(inside[name] for name in _ANSWER),
        max(host_only[name] for name in _ANSWER),
        (technology.has_luts and errors.lut_delay_error) or errors.delay_error,
        errors.luts_error,
    )


def _remembered(memo: Memo, kind: str, compute: Callable[..., Arcs], *key: Any) -> Arcs:
    found = memo(kind, repr(key), lambda: asdict(compute(*key)))
    delays = tuple((origin, end, delay) for origin, end, delay in found["delays"])
    return Arcs(found["area_ge"], found["ffs"], found["luts"], delays)


def _settled(
    frame: Arcs, units: Mapping[str, Arcs], starts: Mapping[str, float]
) -> dict[str, float]:
    """Return the latest arrival at each end of the frame, and at registers of the engines.

    Signals go to and fro between frame and engines, never in a circle, so the arrivals stop
    growing when each has gone its way.
    """
    clock = {CLOCK: starts.get(CLOCK, -math.inf)}
    known: dict[str, float] = {}
    for _ in range(CROSSINGS):
        before = dict(known)
        ends = frame.arrivals({**starts, **known})
        states = [ends.get(STATE, -math.inf)]
        for name, arcs in units.items():
            given = {signal: ends.get(f"{name}_{signal}", -math.inf) for signal in _TO_ENGINE}
            found = arcs.arrivals({**clock, **given})
            states.append(found.get(STATE, -math.inf))
            known |= {f"{name}_{s}": found.get(s, -math.inf) for s in _FROM_ENGINE}
        if known == before:
            return {**ends, STATE: max(states)}
    raise RuntimeError("paths between frame and engines must end, not go in a circle")


def _engine_key(p: Coprocessor, engine: Engine) -> Coprocessor:
    """The member that holds nothing but the engine, as it is in `p`."""
    return Coprocessor(
        engine.held(p),
        width=p.width,
        rounds_per_cycle=p.rounds_per_cycle,
        stages=p.stages,
        buffer_words=64,
        aes_sbox=p.aes_sbox,
    ).canonical()


def _frame_key(p: Coprocessor) -> Coprocessor:
    """The member with the same frame, all that matters to engines and memory at its default."""
    return replace(p, rounds_per_cycle=1, stages=1, buffer="registers", aes_sbox="boyar_peralta")


@lru_cache(maxsize=REMEMBERED)
def _engine(name: str, p: Coprocessor, technology: Technology, rung: str) -> Arcs:
    """Measure an engine."""
    engine = engines.engines()[name]
    with pyrtl.temp_working_block():
        selected = {n: pyrtl.Input(1, f"selected_{n}") for n in engine.held(p)}
        widths = {"word": p.width, "select": engine.select_bits(p)}
        ports = {s: pyrtl.Input(widths.get(s, 1), s) for s in _TO_ENGINE[1:]}
        outputs = engine.build(p, Inputs(selected, **ports))
        for signal in _FROM_ENGINE:
            _output(signal, getattr(outputs, signal))
        block = pyrtl.working_block()
    choice = tuple(f"selected_{n}" for n in selected)
    groups = {"selected": choice, **{signal: (signal,) for signal in ports}}
    return measure(block, technology, rung, groups)


@lru_cache(maxsize=REMEMBERED)
def _frame(p: Coprocessor, xlen: int, technology: Technology, rung: str) -> Arcs:
    """Measure all but engines and buffer."""
    block = build(p, xlen, Makers(_open_engine, _open_memory))
    groups: dict[str, tuple[str, ...]] = {
        "host": _HOST,
        "buffer": ("buffer_row",),
        "memory": ("memory_word",),
    }
    for name in p.engine_names():
        groups |= {f"{name}_{s}": (f"{name}_{s}",) for s in _FROM_ENGINE}
    return measure(block, technology, rung, groups)


def _open_engine(engine: Engine, p: Coprocessor, inputs: Inputs) -> Outputs:
    head = engine.name
    _output(f"{head}_selected", pyrtl.concat_list(list(inputs.selected.values())))
    for signal in _TO_ENGINE[1:]:
        _output(f"{head}_{signal}", getattr(inputs, signal))
    widths = {"take": engine.take_bits(p), "out": p.width}
    return Outputs(**{s: pyrtl.Input(widths.get(s, 1), f"{head}_{s}") for s in _FROM_ENGINE})


def _open_memory(
    layout: Layout, enables: Sequence[Wire], write_row: Wire, data: Wire, read_row: Wire
) -> Wire:
    _output("buffer_enables", pyrtl.concat_list(list(enables)))
    _output("buffer_write", write_row)
    _output("buffer_data", data)
    _output("buffer_read", read_row)
    return pyrtl.Input(layout.row_bits, "buffer_row")


def _output(name: str, wire: Wire) -> None:
    output = pyrtl.Output(len(wire), name)
    output <<= wire


def _buffer(p: Coprocessor, technology: Technology) -> tuple[Part, float]:
    """Price the memory of the buffer; returns its access time too, FO4.

    In a 7-series part, what is flip-flops elsewhere is LUTs used as memory.
    """
    layout = Layout(p)
    rows, bits = layout.rows, layout.row_bits
    if p.buffer == "registers":
        found, access_ps = register_file(rows, bits, 1, 1, technology), LUT_RAM_PS
        ffs = 0 if technology.has_luts else rows * bits
        part = Part(found.area_ge, ffs, memory_luts(rows, bits, 1), 0.0, found.error)
    else:
        found, access_ps = sram(rows, bits, 2, technology), BLOCK_RAM_PS
        brams = block_rams(rows, p.transfer_bits) * (bits // p.transfer_bits)
        part = Part(found.area_ge, 0, 0, brams, found.error)
    return part, access_ps / technology.fo4_ps if technology.has_luts else found.access_fo4
