"""Composition: area, clock period and unit latencies of a core with its extension.

Whole = core with an open slot + one block that holds all chosen units on common operand wires,
with decode and result selection. Period = max(core path, operand arrival + unit + writeback), each
with the flip-flop overhead. What an extension costs is the whole less the plain core.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any

import pyrtl

from hw import units
from hw.area import Cost, estimate, mapped, synthesised
from hw.bitblast import bitblast
from hw.core import core_block
from hw.decoder import Decoder
from hw.extension import extension_logic, unit_arrivals
from hw.graph import Graph, Memory
from hw.lower import Circuits
from hw.memory import memory_cost
from hw.technology import Technology
from isa.bits import topological
from isa.instruction import Instruction
from isa.instruction_set import InstructionSet
from isa.table import Table
from isa.timing import Core

__all__ = [
    "COMMAND_INPUTS",
    "Hardware",
    "circuit_map",
    "compose",
    "core_cost",
    "memory_access",
    "memory_period",
    "memory_starts",
]

TEXT_BITS, DATA_BITS = 1 << 19, 1 << 20
"""Instruction and data memory: 64 and 128 KiB. Their access time is in the core's paths, their area
is not in the core's; code and data bytes are metrics of their own."""

LONGEST_UNIT = 16
"""Most cycles that `auto` gives a unit."""

_RESULT = ("result", "writes_rd")

COMMAND_INPUTS = ("command_hold", "command_result", "dmem_hold")
"""What a co-processor answers a core."""
OPEN = ("unit_result", "unit_writes_rd", *COMMAND_INPUTS)
"""Inputs of a core with open slots."""

RUNGS: dict[str, Callable[..., Cost]] = {
    "estimate": estimate,
    "mapped": mapped,
    "synthesised": synthesised,
}


@dataclass(frozen=True)
class Hardware:
    """A composed design.

    Attributes:
        rung: How area and delay were obtained.
        area_ge: Core with register file, and extension, in gate equivalents.
        core_area_ge: The same core without an extension.
        ffs: Flip-flops outside the register file; `core_ffs` without the extension.
        luts: LUTs of a 7-series part, those of the register file included; None on the estimate
            rung. Multipliers are LUTs and no DSP slices.
        core_luts: The same without the extension.
        period_fo4: Shortest clock period, flip-flop overhead included.
        period_ns: The same in nanoseconds.
        core_path_fo4: Longest path of the core alone.
        unit_path_fo4: Path of each instruction from operand register to result register. Merged
            datapaths have one path, that of the slowest; the others are scaled from it by their
            share of the estimated arrival.
        latencies: Cycles in EX of each instruction that needs more than one.
        area_error: Relative error of the areas; `delay_error` of the delays, `luts_error` of the
            LUTs.
    """

    rung: str
    area_ge: float
    core_area_ge: float
    ffs: int
    core_ffs: int
    luts: int | None
    core_luts: int | None
    period_fo4: float
    period_ns: float
    core_path_fo4: float
    unit_path_fo4: Mapping[str, float] = field(default_factory=dict)
    latencies: Mapping[str, int] = field(default_factory=dict)
    area_error: float = 0.0
    delay_error: float = 0.0
    luts_error: float | None = None

    @property
    def extension_area_ge(self) -> float:
        """What the chosen instructions add to the plain core."""
        return self.area_ge - self.core_area_ge

    @property
    def extension_luts(self) -> int | None:
        """LUTs that the chosen instructions add; None on the estimate rung."""
        if self.luts is None or self.core_luts is None:
            return None
        return self.luts - self.core_luts

    @property
    def extension_ffs(self) -> int:
        """Flip-flops that the chosen instructions add."""
        return self.ffs - self.core_ffs

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def memory_access(technology: Technology, core: Core) -> dict[str, float]:
    """Access times of the memories of a core by the input that takes their words, FO4."""
    sizes = {"imem_word": (TEXT_BITS, 32), "dmem_word": (DATA_BITS, core.xlen)}
    if core.memory == "shared":
        sizes = {"dmem_word": (TEXT_BITS + DATA_BITS, core.xlen)}
    memories = {n: Memory(n, bits // width, width, 1, 1) for n, (bits, width) in sizes.items()}
    return {name: memory_cost(m, technology).access_fo4 for name, m in memories.items()}


def memory_starts(technology: Technology, core: Core | None = None) -> dict[str, float]:
    """When words of memory arrive at a core (default: RV32, separate memories), FO4.

    A memory of a latency above 1 has a register at its output: its words come with the clock.
    """
    core = core or Core()
    access = memory_access(technology, core)
    return access if core.memory_latency == 1 else dict.fromkeys(access, 0.0)


def memory_period(technology: Technology, core: Core) -> float:
    """Shortest clock period that a memory with a register at its output allows, FO4.

    All cycles of its latency but the last are for the access. 0 for a latency of 1.
    """
    if core.memory_latency == 1:
        return 0.0
    slowest = max(memory_access(technology, core).values())
    return (slowest + technology.sequential_fo4) / (core.memory_latency - 1)


def circuit_map(circuits: tuple[tuple[str, str], ...]) -> Circuits:
    """Circuit of each table, from (table, circuit name) pairs."""
    return {table: units.circuits_for(table)[name] for table, name in circuits}


def compose(
    core: Core,
    instructions: InstructionSet,
    circuits: tuple[tuple[str, str], ...] = (),
    fixed_latencies: tuple[tuple[str, int], ...] = (),
    technology: Technology | None = None,
    rung: str = "mapped",
    *,
    held: bool = False,
) -> Hardware:
    """Price a core with the units its instruction set asks for.

    Commands ask for no unit, but for the port to a co-processor, which is not priced here.

    Args:
        core: Host core.
        instructions: All instructions; those that the core's own arithmetic cannot do get units.
        circuits: (table, circuit name) for tables with rival circuits.
        fixed_latencies: (table, cycles) for the units that look it up; the others take as many
            cycles as keep the core's own period.
        technology: Default `ge`.
        rung: "estimate", "mapped" or "synthesised".
        held: Loads and stores can be held by a co-processor, see `hw.core.core_block`.

    Raises:
        ValueError: when delays are to be those of LUTs, which the mapped rung alone has for parts.
    """
    technology = technology or Technology("ge")
    if technology.has_luts and rung != "mapped":
        raise ValueError(f"rung of {technology.name} must be 'mapped', not {rung!r}")
    core = core.canonical()
    plain_set = InstructionSet.of(core.xlen, f"rv{core.xlen}i")
    plain = core_cost(core, plain_set, (), technology, rung)
    extras = tuple(Decoder(instructions, core).units)
    if not extras:
        added = instructions.compressed or instructions.extras() or held
        whole = core_cost(core, instructions, (), technology, rung, held=held) if added else plain
        return _summed(core, plain, whole, None, technology, rung, {}, {})
    opened = core_cost(core, instructions, (), technology, rung, held=held)
    read = {"instr", *(p for i in extras for p in i.parameters)}
    ports = {"instr": "word", "rs1": "rs1", "rs2": "rs2", "commit": "commit"}
    ports |= {"rs3": "rs3"} if "rs3" in read else {}
    starts = {name: opened.arrival(f"unit_{port}") for name, port in ports.items()}
    graph = _units_graph(extras, core.xlen, circuits)
    # Synthesis reads the block, the other rungs its gates.
    units_block = _units_block(extras, core.xlen, circuits) if rung == "synthesised" else graph
    cost = RUNGS[rung](units_block, technology, starts=_known(graph, starts))
    after = core_cost(core, instructions, (), technology, rung, after=("unit_result",), held=held)
    writeback = after.delay_fo4
    overhead = technology.sequential_fo4
    allowed = opened.delay_fo4 + overhead
    result = cost.arrival("result") + writeback
    state = max((t for name, t in cost.arrivals if name not in _RESULT), default=-math.inf)
    slowest = max(result, state)
    fixed = dict(fixed_latencies)
    paths = dict.fromkeys((i.name for i in extras), slowest)
    if slowest + overhead > allowed or fixed:
        operands = {name: start for name, start in starts.items() if name in read}
        shares = mapped if technology.has_luts else estimate
        arrivals = unit_arrivals(
            extras, core.xlen, circuit_map(circuits), technology, operands, shares
        )
        latest = max(arrivals.values())
        paths = {name: slowest * arrival / latest for name, arrival in arrivals.items()}
    latencies: dict[str, int] = {}
    for instruction in extras:
        stated = [fixed[t] for t in sorted(_tables(instruction, core.xlen)) if t in fixed]
        needed = math.ceil((paths[instruction.name] + overhead) / allowed - 1e-9)
        latencies[instruction.name] = stated[0] if stated else min(max(1, needed), LONGEST_UNIT)
    longer = {name: cycles for name, cycles in latencies.items() if cycles > 1}
    final = core_cost(
        core, instructions, tuple(sorted(longer.items())), technology, rung, held=held
    )
    return _summed(core, plain, final, cost, technology, rung, paths, longer)


def _summed(
    core: Core,
    plain: Cost,
    whole: Cost,
    extension: Cost | None,
    technology: Technology,
    rung: str,
    paths: Mapping[str, float],
    latencies: Mapping[str, int],
) -> Hardware:
    costs = [memory_cost(m, technology) for m in plain.memories]
    memories = sum(cost.area_ge for cost in costs)
    overhead = technology.sequential_fo4
    core_path = whole.delay_fo4
    needed = ((path + overhead) / latencies.get(name, 1) for name, path in paths.items())
    period = max([core_path + overhead, memory_period(technology, core), *needed])
    errors = technology.rung(rung)
    added = extension.area_ge if extension else 0.0

    def luts(logic: Cost, extra: Cost | None) -> int | None:
        if logic.luts is None:
            return None
        held = sum(cost.luts for cost in costs)
        return logic.luts + held + (extra.luts or 0 if extra else 0)

    return Hardware(
        rung,
        whole.area_ge + memories + added,
        plain.area_ge + memories,
        whole.ffs + (extension.ffs if extension else 0),
        plain.ffs,
        luts(whole, extension),
        luts(plain, None),
        period,
        period * technology.fo4_ps / 1000,
        core_path,
        dict(paths),
        dict(latencies),
        errors.area_error,
        errors.delay_error if not technology.has_luts else errors.lut_delay_error or 0.0,
        errors.luts_error,
    )


@lru_cache(maxsize=64)
def core_cost(
    core: Core,
    instructions: InstructionSet,
    latencies: tuple[tuple[str, int], ...],
    technology: Technology,
    rung: str,
    *,
    after: tuple[str, ...] = (),
    held: bool = False,
) -> Cost:
    """Cost of a core with open slots, see `hw.core.core_block`.

    Args:
        core: Host core.
        instructions: All instructions.
        latencies: (mnemonic, cycles) of units that take more than one.
        technology: Technology.
        rung: "estimate", "mapped" or "synthesised".
        after: Inputs at which delays start, if not at registers and memories.
        held: Loads and stores can be held.
    """
    graph = _core_graph(core, instructions, latencies, held)
    names = {port.name for port in graph.sources}
    if after:
        starts = {name: 0.0 if name in after else -math.inf for name in names}
    else:
        starts = {
            **memory_starts(technology, core),
            **{name: -math.inf for name in OPEN if name in names},
        }
    if rung == "synthesised":
        block = _core_block(core, instructions, latencies, held)
        return synthesised(block, technology, starts=starts)
    return RUNGS[rung](graph, technology, starts=starts)


@lru_cache(maxsize=16)
def _core_block(
    core: Core, instructions: InstructionSet, latencies: tuple[tuple[str, int], ...], held: bool
) -> pyrtl.Block:
    return core_block(core, instructions, dict(latencies), held=held)


@lru_cache(maxsize=64)
def _core_graph(
    core: Core, instructions: InstructionSet, latencies: tuple[tuple[str, int], ...], held: bool
) -> Graph:
    return bitblast(_core_block(core, instructions, latencies, held))


@lru_cache(maxsize=64)
def _units_graph(
    extras: tuple[Instruction, ...], xlen: int, circuits: tuple[tuple[str, str], ...]
) -> Graph:
    return bitblast(_units_block(extras, xlen, circuits))


@lru_cache(maxsize=16)
def _units_block(
    extras: tuple[Instruction, ...], xlen: int, circuits: tuple[tuple[str, str], ...]
) -> pyrtl.Block:
    """All units; sinks `result`, `writes_rd` and the state registers."""
    read_rs3 = any("rs3" in i.sources for i in extras)
    names = ["rs1", "rs2", *(["rs3"] if read_rs3 else []), "pc"]
    with pyrtl.temp_working_block():
        logic = extension_logic(
            extras,
            xlen,
            circuit_map(circuits),
            instr=pyrtl.Input(32, "instr"),
            operands={name: pyrtl.Input(xlen, name) for name in names},
            commit=pyrtl.Input(1, "commit"),
        )
        _output("result", logic.result)
        _output("writes_rd", logic.writes_rd)
        return pyrtl.working_block()


def _output(name: str, wire: pyrtl.WireVector) -> None:
    output = pyrtl.Output(len(wire), name)
    output <<= wire


def _known(graph: Graph, starts: Mapping[str, float]) -> dict[str, float]:
    names = {port.name for port in graph.sources}
    return {name: start for name, start in starts.items() if name in names}


def _tables(instruction: Instruction, xlen: int) -> frozenset[str]:
    values = instruction.effects(xlen).values()
    return frozenset(n.attr.name for n in topological(values) if isinstance(n.attr, Table))
