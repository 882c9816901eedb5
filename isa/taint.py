"""Taint: which branches, addresses and latencies of a run depend on secrets.

Registers and state elements are secret or public as a whole, memory byte by byte. A value is
secret if any operand that its meaning needs is; `x ^ x`, `x & 0` and constants are public, an AND
with a public zero too. What a secret-dependent branch decides is itself not followed further: the
branch is reported. What a co-processor puts out is secret, and its settings decide its time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from isa.bits import Bits, fold
from isa.instruction import REGISTER_SOURCES, Instruction, Load
from isa.instruction_set import InstructionSet
from isa.program import DATA_BASE, Program
from isa.template import Fields, Template, Templates, Writer
from isa.translate import Placed, Translation

BRANCH, ADDRESS, LATENCY = "branch", "address", "latency"

Terms = frozenset[str]
"""Operands a value depends on, as text over `{rs1}`, .. and `{=rs1}`, .. for their values."""


@dataclass(frozen=True)
class Leak:
    """Where a secret becomes visible in time.

    Attributes:
        pc: Address of the instruction.
        kind: "branch" (or computed jump), "address" or "latency".
        count: Executions with a secret operand.
    """

    pc: int
    kind: str
    count: int


@dataclass(frozen=True)
class _Flow:
    """What each effect of an instruction shape depends on."""

    rd: Terms | None
    state: tuple[tuple[str, Terms], ...]
    address: Terms
    stored: Terms
    decides: Terms
    times: Terms
    offset: Callable[[int, Fields], str] | None
    access: tuple[int, bool] | None


@cache
def _flows(owner: Templates) -> dict[tuple[object, ...], _Flow]:
    """Flows by shape, filled as they are asked for."""
    return {}


def _flow(instruction: Instruction, fields: Fields, owner: Templates) -> _Flow:
    known = _flows(owner)
    shape = owner.shape(instruction, fields)
    if shape not in known:
        effects = owner.effects(instruction, fields)
        public = frozenset(["pc", *instruction.immediates])
        roots = effects.values()
        terms = dict(zip(roots, fold(roots, lambda n, xs: _terms(n, xs, public)), strict=True))
        access = offset = None
        memory = effects.load or effects.store
        if memory is not None:
            width = memory.width if isinstance(memory, Load) else memory.value.width
            access = (width, isinstance(memory, Load))
            offset = Writer(owner, instruction, True).offset(memory.address)
        decides: Terms = frozenset()
        if effects.next_pc:
            decides = terms[effects.next_pc.target]
            if effects.next_pc.condition is not None:
                decides |= terms[effects.next_pc.condition]
        operands = frozenset(f"{{{r}}}" for r in instruction.sources if fields[r])
        latency: Terms = frozenset() if instruction.data_independent else operands
        result = None if effects.rd is None else terms[effects.rd]
        if effects.command:
            if effects.command.has_result:
                result = frozenset(["1"] if effects.command.name == "get" else [])
            if effects.command.name == "set":
                latency |= operands
        known[shape] = _Flow(
            result,
            tuple((name, terms[value]) for name, value in effects.state),
            frozenset() if memory is None else terms[memory.address],
            terms[effects.store.value] if effects.store else frozenset(),
            decides,
            latency,
            offset,
            access,
        )
    return known[shape]


def _terms(n: Bits, below: list[Terms], public: frozenset[str]) -> Terms:
    if n.op == "arg":
        return frozenset() if n.attr in public else frozenset([f"{{{n.attr}}}"])
    if n.op == "and" and all(a.attr in REGISTER_SOURCES for a in n.args if a.op == "arg"):
        a, b = n.args
        if a.op == b.op == "arg" and all(below):
            x, y = str(a.attr), str(b.attr)
            return frozenset(
                [f"{{{x}}}&({{{y}}}|({{={y}}}!=0))", f"{{{y}}}&({{{x}}}|({{={x}}}!=0))"]
            )
    return frozenset().union(*below)


class TrackedTranslation(Translation):
    """A translation that carries a taint beside every register, state element and memory byte.

    The register list is twice as long: taints, 0 or 1, stand behind the values. In the code `q<n>`
    is the taint of register n, `z_<name>` that of a state element; `Q...` are views of the taint
    bytes of memory, `D...` of a mask that is 0 where memory is declared public.
    """

    def __init__(
        self, instructions: InstructionSet, program: Program, memory: dict[str, Any]
    ) -> None:
        """Translate as `Translation` does; `memory` also has the views and the function `leak`."""
        self._values = 32 + len(instructions.state)
        super().__init__(instructions, program, memory)
        self.register_count = 2 * self._values

    def write_register(self, x: list[int], rd: int, value: int) -> None:
        """Set a register to a public value between blocks."""
        super().write_register(x, rd, value)
        x[self._values + rd] = 0

    def _statement(self, placed: Placed, template: Template) -> str:
        flow = _flow(placed.instruction, placed.fields, self._templates)
        parts = []
        for kind, terms in (
            (BRANCH, flow.decides),
            (ADDRESS, flow.address),
            (LATENCY, flow.times),
        ):
            if terms:
                parts.append(f"({_text(terms, placed)}) and leak({placed.pc},{kind!r})")
        names, texts = [], []
        if flow.access is not None and flow.offset is not None:
            width, loads = flow.access
            parts.append(flow.offset(placed.pc, placed.fields))
            shift = (width // 8).bit_length() - 1
            place = f"U{width}[o>>{shift}]"
            if loads:
                names, texts = [f"q{placed.rd}"], [f"1 if Q{place} else 0"]
            else:
                ones = int("01" * (width // 8), 16)
                stored = _text(flow.stored, placed)
                parts.append(f"Q{place}=({ones} if {stored} else 0)&D{place}")
        elif flow.rd is not None:
            names, texts = [f"q{placed.rd}"], [_text(flow.rd, placed)]
        if not placed.rd:
            names, texts = [], []
        for name, terms in flow.state:
            names.append(f"z_{name}")
            texts.append(_text(terms, placed))
        if names:
            parts.append(f"{','.join(names)}={','.join(texts)}")
        return ";".join([*parts, *filter(None, [super()._statement(placed, template)])])

    def _names_read(self, placed: Placed) -> list[str]:
        names = super()._names_read(placed)
        return names + [_taint_name(n) for n in names]

    def _names_written(self, placed: Placed) -> list[str]:
        names = super()._names_written(placed)
        return names + [_taint_name(n) for n in names]

    def _place(self, name: str) -> int:
        if name[0] == "q":
            return self._values + int(name[1:])
        if name[0] == "z":
            return self._values + self.state[name[2:]]
        return super()._place(name)


def _taint_name(name: str) -> str:
    return f"q{name[1:]}" if name[0] == "r" else f"z{name[1:]}"


def _text(terms: Iterable[str], placed: Placed) -> str:
    """Python text of the OR of terms, with the registers of an instruction."""
    names: dict[str, str] = {f"{{{s}}}": f"z_{s}" for s in placed.instruction.reads_state}
    for r in placed.instruction.sources:
        number = placed.fields[r]
        names[f"{{{r}}}"] = f"q{number}" if number else "0"
        names[f"{{={r}}}"] = f"r{number}" if number else "0"
    found = []
    for term in sorted(terms):
        for name, text in names.items():
            term = term.replace(name, text)
        found.append(term)
    return "|".join(found) or "0"


class Leaks:
    """Counts the leaks of one run."""

    def __init__(self) -> None:
        self._counts: dict[tuple[int, str], int] = {}

    def add(self, pc: int, kind: str) -> None:
        """Count one."""
        self._counts[pc, kind] = self._counts.get((pc, kind), 0) + 1

    def clear(self) -> None:
        """Start again."""
        self._counts.clear()

    def result(self) -> list[Leak]:
        """Every leak, by address."""
        return [Leak(pc, kind, n) for (pc, kind), n in sorted(self._counts.items())]


def mark(
    taints: bytearray,
    what: str,
    ranges: Iterable[tuple[int, int]],
    value: int,
    base: int = DATA_BASE,
) -> None:
    """Set one byte for each byte of data memory in the (address, size) `ranges`.

    Raises:
        ValueError: A range is not within data memory.
    """
    for address, length in ranges:
        start = address - base
        if length < 0 or not 0 <= start <= len(taints) - length:
            raise ValueError(
                f"{what} range must lie in data memory, {base:#x} to "
                f"{base + len(taints):#x}, not {length} bytes at {address:#x}"
            )
        taints[start : start + length] = bytes([value]) * length
