"""Score: what an instruction saves and costs, by compiling, running and building it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import pyrtl

from dse.measure.measurement import WrongAnswer, cases
from dse.propose.subject import Subject
from hw import units
from hw.area import Cost, bitblast, estimate, mapped
from hw.composition import compose
from hw.extension import build_extension
from hw.lower import Circuits, lower
from hw.merge_bound import least_area, operators
from hw.technology import Technology
from hw.unit import build_unit
from isa.bits import Bits, arguments, topological
from isa.compiler import compile_kernel
from isa.instruction import Instruction
from isa.instruction_set import InstructionSet
from isa.kernel import UnsupportedKernel
from isa.machine import Machine
from isa.table import Table
from isa.timing import Core, price

NEARER = 1.1
"""Times as much as in the best kernel that must be saved in another for it to get nearer."""
PREFERRED_CIRCUIT = "boyar_peralta"
"""Circuit of an S-box, where it is registered; else the first by name."""


@dataclass(frozen=True)
class Figures:
    """One kernel on one instruction set, per run of the workload.

    Attributes:
        kernel: Its name.
        cycles: Retirement of the return minus that of the call.
        code_bytes: Program memory.
        data_bytes: Constant tables.
        used: Executions of each mnemonic.
    """

    kernel: str
    cycles: int
    code_bytes: int
    data_bytes: int
    used: Mapping[str, int]


@dataclass(frozen=True)
class Score:
    """What a set of instructions does for every workload.

    Attributes:
        best: Figures of the best kernel of each workload, by name.
        cycles: Weighted sum of their cycles.
    """

    best: Mapping[str, Figures]
    cycles: float

    @property
    def used(self) -> frozenset[str]:
        """Mnemonics that the best programs execute."""
        return frozenset(name for figures in self.best.values() for name in figures.used)


class Scorer:
    """Measures instruction sets on some workloads, by runs that give the known answers."""

    def __init__(
        self,
        subjects: Sequence[Subject],
        base: InstructionSet,
        core: Core,
        technology: Technology,
    ) -> None:
        """Fix what is common to all measurements."""
        self.subjects = subjects
        self.base = base
        self.core = core
        self.technology = technology
        self.runs = 0
        self._plain_circuits = circuits_of(base.extras(), base.xlen)
        self._plain = compose(core, base, self._plain_circuits)
        self._measured: dict[tuple[object, ...], Figures | None] = {}
        self._latencies: dict[str, int] = {}
        self._costs: dict[tuple[str, ...], Cost] = {}
        self._operators: dict[Bits, float] = {}
        self._around: float | None = None

    def base_score(self) -> Score:
        """The base set, each workload with its best kernel as written.

        Raises:
            UnsupportedKernel: A workload has no kernel that compiles.
        """
        best: dict[str, Figures] = {}
        for subject in self.subjects:
            found = [self._figures(subject, name, ()) for name in subject.written]
            best[subject.workload.name] = self._least(subject, found)
        return self._score(best)

    def score(
        self, added: Sequence[Instruction], kernels: Mapping[str, Iterable[str]], before: Score
    ) -> Score:
        """The base set with instructions added.

        Args:
            added: The instructions.
            kernels: Names of the kernels worth compiling, by workload.
            before: What is reached without; a workload never gets worse, as it need not use them.
        """
        best: dict[str, Figures] = {}
        for subject in self.subjects:
            name = subject.workload.name
            found: list[Figures | None] = [before.best[name]]
            found += [self._figures(subject, k, tuple(added)) for k in kernels.get(name, ())]
            best[name] = self._least(subject, found)
        return self._score(best)

    def worthwhile(
        self, added: Sequence[Instruction], kernels: Mapping[str, tuple[str, ...]]
    ) -> dict[str, tuple[str, ...]]:
        """The kernels that are best with some instructions, or might get ahead with more.

        A kernel that is behind, and that these instructions did not bring nearer, will stay behind.
        """
        kept: dict[str, tuple[str, ...]] = {}
        for subject in self.subjects:
            names = kernels.get(subject.workload.name, ())
            found = {k: self._figures(subject, k, tuple(added)) for k in names}
            cycles = {k: figures.cycles for k, figures in found.items() if figures is not None}
            if not cycles:
                continue
            first = min(cycles, key=lambda k: (cycles[k], k))
            before = {k: self._figures(subject, k, ()) for k in cycles}
            gains = {
                k: figures.cycles - cycles[k] if figures is not None else math.inf
                for k, figures in before.items()
            }
            kept[subject.workload.name] = tuple(
                k for k in cycles if k == first or gains[k] > NEARER * gains[first]
            )
        return kept

    def cost(self, added: Sequence[Instruction], rung: str = "estimate") -> Cost:
        """Area and delay of an extension of these instructions, decode and result mux included."""
        added = sorted(added, key=lambda i: i.name)
        key = (rung, *(i.line for i in added))
        if key not in self._costs:
            circuits = dict(circuits_of(added, self.base.xlen))
            block = build_extension(added, self.base.xlen, units.chosen_circuits(circuits))
            price_block = mapped if rung == "mapped" else estimate
            self._costs[key] = price_block(bitblast(block), self.technology)
        return self._costs[key]

    def least_area(self, added: Sequence[Instruction]) -> float:
        """GE, mapped, below which no merging of their operators gets these instructions.

        What they share, and decoding that the word is one of them and selecting their result.
        """
        if not added:
            return 0.0
        xlen = self.base.xlen
        circuits = units.chosen_circuits(dict(circuits_of(added, xlen)))

        def area(n: Bits) -> float:
            if n not in self._operators:
                self._operators[n] = self._gates([n], circuits) - self._gates([], circuits)
            return self._operators[n]

        alone = [bitblast(build_unit(i, xlen, circuits)) for i in added]
        idle = [replace(i, meaning=lambda rs1: rs1, parameters=("rs1",)) for i in added]
        frame = mapped(bitblast(build_extension(idle, xlen, {})), self.technology).area_ge
        return frame + least_area(
            [mapped(graph, self.technology).area_ge for graph in alone],
            [operators(i.effects(xlen).values(), area) for i in added],
        )

    def _gates(self, values: Sequence[Bits], circuits: Circuits) -> float:
        """GE, mapped, of some values and an AND gate: of carry chains alone no LUTs can be made."""
        with pyrtl.temp_working_block():
            ports = {str(a.attr): pyrtl.Input(a.width, str(a.attr)) for a in arguments(values)}
            for i, wire in enumerate(lower(values, ports, circuits)):
                output = pyrtl.Output(len(wire), f"result{i}")
                output <<= wire
            gate = pyrtl.Output(1, "gate")
            gate <<= pyrtl.Input(1, "a") & pyrtl.Input(1, "b")
            graph = bitblast(pyrtl.working_block())
        return mapped(graph, self.technology).area_ge

    def latency(self, instruction: Instruction) -> int:
        """Cycles in EX that keep the clock period of the plain core, as `hw.composition` has it.

        Its path is the delay of its block (mapped) and what the core adds before and behind any
        unit, which is taken from composing the first instruction asked about.
        """
        found = self._latencies.get(instruction.line)
        if found is None:
            overhead = self.technology.sequential_fo4
            path = self.cost([instruction], "mapped").delay_fo4 + self._way(instruction) + overhead
            found = max(1, math.ceil(path / self._plain.period_fo4 - 1e-9))
            self._latencies[instruction.line] = found
        return found

    def third_port_ge(self) -> float:
        """Area that a third read port of the register file adds to the core, mapped."""
        areas = [
            compose(replace(self.core, read_ports=ports), self.base, self._plain_circuits).area_ge
            for ports in (2, 3)
        ]
        return areas[1] - areas[0]

    def _way(self, instruction: Instruction) -> float:
        """FO4 from operand registers to a unit and from it to the result register."""
        if self._around is None:
            circuits = circuits_of([instruction], self.base.xlen)
            whole = compose(self.core, self.base + instruction, circuits)
            alone = self.cost([instruction], "mapped").delay_fo4
            self._around = max(0.0, whole.unit_path_fo4[instruction.name] - alone)
        return self._around

    def _score(self, best: dict[str, Figures]) -> Score:
        total = math.fsum(s.weight * best[s.workload.name].cycles for s in self.subjects)
        return Score(best, total)

    @staticmethod
    def _least(subject: Subject, found: Iterable[Figures | None]) -> Figures:
        compiled = [f for f in found if f is not None]
        if not compiled:
            raise UnsupportedKernel(
                f"no kernel of {subject.workload.name} compiles for the base set"
            )
        return min(compiled, key=lambda f: (f.cycles, f.code_bytes + f.data_bytes))

    def _figures(
        self, subject: Subject, kernel: str, added: tuple[Instruction, ...]
    ) -> Figures | None:
        """Compile, run, check and time one kernel; None where it does not compile."""
        added = tuple(sorted(added, key=lambda i: i.name))
        key = (subject.workload.name, kernel, *(i.line for i in added))
        if key not in self._measured:
            try:
                self._measured[key] = self._run(subject, kernel, added)
            except UnsupportedKernel:
                self._measured[key] = None
        return self._measured[key]

    def _run(self, subject: Subject, kernel: str, added: tuple[Instruction, ...]) -> Figures:
        instructions = InstructionSet.of(self.base.xlen, *self.base.instructions, *added)
        latencies = {
            **self._plain.latencies,
            **{i.name: self.latency(i) for i in added if self.latency(i) > 1},
        }
        workload = subject.workload
        program = compile_kernel(
            workload.kernels[kernel].build, instructions, self.core, unroll=1, latencies=latencies
        )
        machine = Machine(instructions, program)
        cycles = 0
        used: Mapping[str, int] = {}
        for case in cases(workload, program):
            run = machine.run(case.arguments, case.memory)
            for address, expected in case.expected.items():
                found = run.read(address, len(expected))
                if found != expected:
                    raise WrongAnswer(
                        f"{workload.name} ({kernel}) must give {expected.hex()[:64]} for "
                        f"{case.source}, not {found.hex()[:64]}"
                    )
            took = price(run.blocks, run.trace, self.core, latencies, entry=program.entry)
            if took > cycles:
                cycles, used = took, run.counts
        self.runs += 1
        return Figures(kernel, cycles, program.code_bytes, program.data_bytes, used)


def circuits_of(instructions: Iterable[Instruction], xlen: int) -> tuple[tuple[str, str], ...]:
    """The circuit of each table that instructions look up, where it has one."""
    found = {}
    for instruction in instructions:
        for n in topological(instruction.effects(xlen).values()):
            if isinstance(n.attr, Table):
                names = units.circuit_names(n.attr.name)
                if names:
                    preferred = PREFERRED_CIRCUIT in names
                    found[n.attr.name] = PREFERRED_CIRCUIT if preferred else names[0]
    return tuple(sorted(found.items()))
