"""`Target`: what a design means below: instruction set, core, circuits and compiler options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from dse.cache import Cache, digest_of
from dse.coprocessor import CoprocessorError, coprocessor_of, refuse_host
from dse.design import Design, Value
from dse.space import Space, view_need
from hw import units
from hw.composition import Hardware, compose
from hw.coprocessors.area import cost
from hw.coprocessors.parameters import Coprocessor
from hw.hosted import Hosted, PortPaths, hosted, port_paths
from hw.technology import Technology, technology
from isa.bits import topological
from isa.context import context_of
from isa.encoding import EncodingError
from isa.instruction import Extension, Instruction
from isa.instruction_set import (
    InstructionSet,
    extension_names,
    extension_parameters,
    find_instruction,
    load_extension,
)
from isa.iterative import UNITS, operation
from isa.proposal import load_proposal
from isa.table import Table
from isa.timing import PRESETS, Core
from workloads.driver_text import Link

PREFERRED_CIRCUIT = "low_depth"
"""Circuit of a table for which the space states no choice, where it is registered."""


@dataclass(frozen=True)
class Target:
    """What programs are compiled for and hardware is built from.

    Attributes:
        instructions: All instructions the core executes.
        core: The host core.
        circuits: (table, circuit name) of each table that has a named circuit.
        fixed_latencies: (table, cycles) where the space states the latency of a table's unit.
        unroll: Unrolling factor of the compiler, or "full".
        technology: How netlists are priced.
        coprocessor: What stands beside the core, if anything does.
        effort: Of the compiler, see `isa.compiler.compile_kernel`.
    """

    instructions: InstructionSet
    core: Core
    circuits: tuple[tuple[str, str], ...]
    fixed_latencies: tuple[tuple[str, int], ...]
    unroll: int | str
    technology: Technology
    coprocessor: Coprocessor | None = None
    effort: str = "default"

    @property
    def host_instructions(self) -> InstructionSet:
        """What the core executes: the instructions, and the commands to its co-processor."""
        p = self.coprocessor
        if p is None or p.attachment != "commands":
            return self.instructions
        return _with_commands(self.instructions)

    @property
    def link(self) -> Link:
        """How driver programs reach the co-processor.

        Raises:
            CoprocessorError: There is none.
        """
        p = self.coprocessor
        if p is None:
            raise CoprocessorError("coprocessor must be true for a kernel that drives one")
        return Link(p.mover, p.attachment, p.double_buffer and p.mover == "cpu")

    def hardware(self, cache: Cache) -> Hardware:
        """The composed hardware of core and extension, with the cycles each unit needs."""
        core = self.core.canonical()
        instructions, held = self.host_instructions, self.is_held
        key = digest_of(
            repr(core),
            instructions.digest,
            repr(self.circuits),
            repr(self.fixed_latencies),
            repr(self.technology),
            str(held),
        )

        def compute() -> dict[str, object]:
            return compose(
                core,
                instructions,
                self.circuits,
                self.fixed_latencies,
                self.technology,
                held=held,
            ).to_json()

        return Hardware(**cache.memo("hardware", key, compute))

    def hosted(self, hardware: Hardware, cache: Cache) -> Hosted | None:
        """That hardware with the co-processor beside it; None where there is none."""
        p = self.coprocessor
        if p is None:
            return None
        core, is_mapped = self.core.canonical(), p.attachment == "mapped"
        latencies = tuple(sorted(hardware.latencies.items()))
        key = digest_of(
            repr(core),
            self.host_instructions.digest,
            repr(latencies),
            repr(self.technology),
            f"{is_mapped} {self.is_held}",
        )

        def compute() -> dict[str, object]:
            return asdict(
                port_paths(
                    core,
                    self.host_instructions,
                    latencies,
                    self.technology,
                    is_mapped=is_mapped,
                    held=self.is_held,
                )
            )

        paths = PortPaths(**cache.memo("port", key, compute))
        beside = cost(p, self.technology, xlen=core.xlen, memo=cache.memo)
        return hosted(hardware, beside, paths, self.technology)

    @property
    def is_held(self) -> bool:
        """Whether loads and stores can be held by the co-processor."""
        p = self.coprocessor
        return p is not None and (p.mover == "dma" or p.attachment == "mapped")


def target_of(space: Space, design: Mapping[str, Value]) -> Target:
    """Build what `design` stands for.

    Raises:
        EncodingError: Chosen extensions have clashing encodings, or the core lacks compressed ones.
        CoprocessorError: Parameters of the co-processor do not go together.
        ValueError: A proposal file cannot be read.
    """
    preset = design.get("core.preset")
    if preset:
        core = PRESETS[str(preset)]
    else:
        names = [n for n in design if n.startswith("core.")]
        core = Core(**{n.removeprefix("core."): design[n] for n in names})  # type: ignore[arg-type]
    parts: list[tuple[str, tuple[tuple[str, int], ...]]] = [(space.base, ())]
    files = {}
    for entry in space.entries:
        if design[entry.name] and entry.kind != "coprocessor":
            parts.append((entry.name, _parameters(entry.name, entry.kind, design)))
            if entry.file is not None:
                files[entry.name] = (entry.file, entry.file_digest)
    instructions = _instruction_set(core.xlen, tuple(parts), tuple(sorted(files.items())))
    fault = core.fault(instructions)
    if fault:
        raise EncodingError(fault)
    coprocessor = coprocessor_of(space.workloads, design)
    refuse_host(coprocessor, core)
    circuits, latencies = [], []
    for table in sorted(_tables(instructions.extras(), core.xlen)):
        known = units.circuits_for(table)
        if known:
            circuits.append((table, _circuit(table, tuple(known), design)))
        latency = design.get(f"units.{table}.latency", "auto")
        if isinstance(latency, int):
            latencies.append((table, latency))
    for unit in units.units_of([i.name for i in instructions.extras()]):
        way = design.get(f"units.{unit}", units.AUTO)
        if way != units.AUTO:
            circuits.append((unit, str(way)))
    unroll = design["compiler.unroll"]
    return Target(
        instructions,
        core,
        tuple(circuits),
        tuple(latencies),
        unroll if isinstance(unroll, int) else "full",
        technology(space.technology.name, space.technology.fo4_ps),
        coprocessor,
        str(design.get("compiler.effort", "default")),
    )


@cache
def _with_commands(instructions: InstructionSet) -> InstructionSet:
    return instructions + load_extension("xcop")


def _circuit(table: str, known: tuple[str, ...], design: Mapping[str, Value]) -> str:
    """The stated circuit; else that of the forward table for its inverse; else the preferred."""
    stated = design.get(f"units.{table}") or design.get(f"units.{table.replace('_inv_', '_')}")
    if stated in known:
        return str(stated)
    return PREFERRED_CIRCUIT if PREFERRED_CIRCUIT in known else known[0]


def _parameters(name: str, kind: str, design: Mapping[str, Value]) -> tuple[tuple[str, int], ...]:
    if kind != "extension":
        return ()
    accepted = extension_parameters(name)
    return tuple((key, int(design.get(f"{name}.{key}") or accepted[key][0])) for key in accepted)


@cache
def _instruction_set(
    xlen: int,
    parts: tuple[tuple[str, tuple[tuple[str, int], ...]], ...],
    files: tuple[tuple[str, tuple[Path, str]], ...],
) -> InstructionSet:
    proposals = dict(files)
    found: list[Extension | Instruction] = []
    for name, parameters in parts:
        if name in proposals:
            found.append(load_proposal(proposals[name][0]))
        else:
            found.append(_named(name, parameters, xlen))
    return InstructionSet.of(xlen, *found)


def _named(
    name: str, parameters: tuple[tuple[str, int], ...], xlen: int
) -> Extension | Instruction:
    """An extension, or a single instruction of whatever extension declares it."""
    if name in extension_names():
        return load_extension(name, **dict(parameters))
    return find_instruction(name, xlen)


@cache
def _tables(instructions: tuple[Instruction, ...], xlen: int) -> frozenset[str]:
    """Names of the tables that instructions look up."""
    roots = [value for i in instructions for value in i.effects(xlen).values()]
    return frozenset(n.attr.name for n in topological(roots) if isinstance(n.attr, Table))


def served(space: Space, design: Design, used: frozenset[str]) -> frozenset[str]:
    """`used` without the views of kernels that a proposal offers of which programs use more.

    What is left of a view keeps every proposal that has it, as nothing says which is needed.
    """
    proposals = [e for e in space.entries if e.views and design[e.name] and e.name in used]
    return used - {need for e in proposals for need in map(view_need, e.views)}


def without_unused(space: Space, design: Design, used: frozenset[str]) -> Design:
    """`design` without what makes no difference to programs that use the mnemonics `used`.

    Entries of which no instruction is used are left out; parameters of an extension that leave
    its used instructions as they are, circuits of tables that nothing looks up and of units that
    no instruction needs, and iterative units that nothing goes to, go back to their neutral choice.
    """
    changes: dict[str, Value] = {}
    for entry in space.entries:
        if not design[entry.name]:
            continue
        mine = used & {entry.name, *entry.provides}
        if not mine:
            changes[entry.name] = False
        elif entry.kind == "extension":
            changes.update(_neutral_parameters(space, design, entry.name, mine))
    reduced = space.reduce(design.replace(changes))
    target = target_of(space, reduced)
    extras = target.instructions.extras()
    tables = _tables(extras, target.core.xlen)
    built = units.units_of([i.name for i in extras])
    operations = (operation(i, target.core.xlen) for i in target.instructions.instructions)
    iterated = {found[0] for found in operations if found}
    neutral: dict[str, Value] = {}
    for parameter in space.parameters:
        room, _, rest = parameter.name.partition(".")
        if room == "units":
            table = rest.removesuffix(".latency")
            is_read = bool(tables & {table, table.replace("_sbox", "_inv_sbox")})
            if not is_read and rest not in built:
                neutral[parameter.name] = parameter.neutral
        elif room == "core" and rest in UNITS and rest not in iterated:
            neutral[parameter.name] = parameter.neutral
    return reduced.replace(neutral)


def _neutral_parameters(
    space: Space, design: Design, name: str, used: frozenset[str]
) -> dict[str, Value]:
    """Parameters of an extension at their neutral choice, each if `used` mean the same there.

    And if its state is saved as before: no program uses what reads it back.
    """

    def extension_of(choice: Mapping[str, Value]) -> Extension:
        return load_extension(name, **dict(_parameters(name, "extension", choice)))

    def meanings(extension: Extension) -> dict[str, tuple[object, ...]]:
        xlen = extension.xlens[0]
        return {
            i.name: (i.line, *map(id, i.effects(xlen).values()))
            for i in extension.instructions
            if i.name in used
        }

    now = extension_of(design)
    changed: dict[str, Value] = {}
    for p in space.parameters:
        if p.name.startswith(f"{name}.") and design[p.name] != p.neutral:
            then = extension_of(design.replace({**changed, p.name: p.neutral}))
            if meanings(now) == meanings(then) and _is_saved(now) == _is_saved(then):
                changed[p.name] = p.neutral
    return changed


@cache
def _is_saved(extension: Extension) -> bool:
    """Whether a switch of contexts loses none of its state."""
    xlen = extension.xlens[0]
    return not context_of(InstructionSet.of(xlen, f"rv{xlen}i", extension)).lost
