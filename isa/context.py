"""Context: what saving the state that extensions add takes, and putting it back.

A step that reads state is found by running an instruction again and again with rs1 = 0: it reads an
element if the values of rd are pieces of it, and leaves whole what it does not read. A step that
writes is found by running an instruction again and again with values of rs1: the pieces of the
element are these values then. No two pieces of the state it starts from are alike.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from isa.assembler import assemble
from isa.bits import Bits, evaluate
from isa.compiler.units import find_mask_unit, find_matrix_unit
from isa.core import Core
from isa.instruction import Instruction
from isa.instruction_set import InstructionSet
from isa.machine import Machine
from isa.program import DATA_BASE, Program
from isa.timing import Latencies, price

PIECE_WIDTHS = (64, 32, 16)
"""Bits that one step may move."""
MOST_IMMEDIATE_BITS = 6
"""An instruction of more is not a step: which state it moves must not take many trials to find."""
MOST_STEPS = 256
"""Times that an instruction is run again to move one element: 4,096 bits in pieces of 16."""
_STORES, _LOADS = {16: "sh", 32: "sw", 64: "sd"}, {16: "lhu", 32: "lw", 64: "ld"}
_TEMPORARY, _ZERO = 5, 0
"""Numbers of t0 and zero."""


@dataclass(frozen=True)
class Piece:
    """`width` bits of a state element, from bit `low` on."""

    element: str
    low: int
    width: int


@dataclass(frozen=True)
class Steps:
    """One instruction, run once for each piece, in order."""

    instruction: Instruction
    fixed: Mapping[str, int]
    pieces: tuple[Piece, ...]

    @property
    def elements(self) -> frozenset[str]:
        """What it moves, whole."""
        return frozenset(p.element for p in self.pieces)

    def word(self, *, reads: bool) -> int:
        """The instruction with t0 as rd, or as rs1."""
        registers = {"rd": _TEMPORARY if reads else _ZERO, "rs1": _ZERO if reads else _TEMPORARY}
        used = {n: v for n, v in registers.items() if n in self.instruction.encoding.registers}
        return self.instruction.encode(**used, **self.fixed)


@dataclass(frozen=True)
class Context:
    """The state of an instruction set beyond x1 to x31 and pc.

    Attributes:
        instructions: The set.
        reads: Steps that take state to memory, for all that can be put back.
        writes: Steps that put it back.
        lost: Elements that cannot be saved or cannot be put back: what a program needs of them it
            has to load or to compute again.
        reload: Assembly of the least that loads all of `lost` that can be loaded at all: from the
            memory at a0, or where only immediates can be pushed from the program itself, which
            has to know the content.
    """

    instructions: InstructionSet
    reads: tuple[Steps, ...]
    writes: tuple[Steps, ...]
    lost: tuple[str, ...]
    reload: str

    @property
    def bits(self) -> int:
        """All of it."""
        return sum(width for _, width in self.instructions.state)

    @property
    def lost_bits(self) -> int:
        """The part that a switch of contexts loses."""
        return sum(width for name, width in self.instructions.state if name in self.lost)

    @cached_property
    def addresses(self) -> dict[str, int]:
        """Offset of each element in the memory that a0 points to; each is little-endian."""
        offsets = itertools.accumulate((w // 8 for _, w in self.instructions.state), initial=0)
        return {name: at for (name, _), at in zip(self.instructions.state, offsets, strict=False)}

    @property
    def save(self) -> str:
        """Assembly that takes all state but the lost one to the memory at a0."""
        lines = []
        for steps in self.reads:
            for piece in steps.pieces:
                lines.append(f".word {steps.word(reads=True):#x}")
                lines.append(f"{_STORES[piece.width]} t0, {self._place(piece)}(a0)")
        return "\n".join(lines)

    @property
    def restore(self) -> str:
        """Assembly that puts it back."""
        return "\n".join(self.written(steps) for steps in self.writes)

    def written(self, steps: Steps) -> str:
        """Assembly of steps that write."""
        lines = []
        for piece in steps.pieces:
            lines.append(f"{_LOADS[piece.width]} t0, {self._place(piece)}(a0)")
            lines.append(f".word {steps.word(reads=False):#x}")
        return "\n".join(lines)

    def _place(self, piece: Piece) -> int:
        return self.addresses[piece.element] + piece.low // 8


@lru_cache(maxsize=256)
def context_of(instructions: InstructionSet) -> Context:
    """The context of an instruction set; empty where it has no state."""
    reads = _covering(_all_steps(instructions, reads=True))
    writes = _covering(_all_steps(instructions, reads=False))
    kept = {e for s in reads for e in s.elements} & {e for s in writes for e in s.elements}
    lost = tuple(name for name, _ in instructions.state if name not in kept)
    found = Context(
        instructions,
        tuple(s for s in reads if s.elements <= kept),
        tuple(s for s in writes if s.elements <= kept),
        lost,
        "",
    )
    loaded = [found.written(s) for s in writes if not s.elements <= kept]
    rest = {e for e in lost if not any(e in s.elements for s in writes)}
    return replace(found, reload="\n".join([*loaded, *_immediate_pushes(instructions, rest)]))


def routine(body: str, instructions: InstructionSet) -> Program:
    """A program whose kernel is `body`; a0 is preset to the memory that it works on."""
    text = f"_start: jal ra, kernel\n ebreak\nkernel:\n{body}\n ret"
    return assemble(text, instructions)


def cycles_of(
    body: str, instructions: InstructionSet, core: Core, latencies: Latencies | None = None
) -> int:
    """Cycles of a routine from its call's retirement to its return's; 0 where it is empty."""
    if not body:
        return 0
    program = routine(body, instructions)
    run = Machine(instructions, program).run([DATA_BASE])
    return price(run.blocks, run.trace, core, latencies, entry=program.entry)


def _covering(steps: Sequence[Steps]) -> list[Steps]:
    """Few steps for all elements that any can move: the shortest first."""
    found: list[Steps] = []
    for s in sorted(steps, key=lambda s: len(s.pieces)):
        if not any(s.elements & other.elements for other in found):
            found.append(s)
    return found


def _all_steps(instructions: InstructionSet, *, reads: bool) -> list[Steps]:
    found = []
    for instruction in instructions.instructions:
        effects = instruction.effects(instructions.xlen)
        names = {*instruction.reads_state, *(n for n, _ in effects.state)}
        immediates = instruction.encoding.immediates
        if (
            not names
            or instruction.sources not in ((("rs1",),) if not reads else ((), ("rs1",)))
            or (reads and effects.rd is None)
            or sum(i.width for i in immediates) > MOST_IMMEDIATE_BITS
        ):
            continue
        for values in itertools.product(*(range(1 << i.width) for i in immediates)):
            fixed = dict(zip(instruction.immediates, values, strict=True))
            trial = _Trial(instructions, instruction, fixed)
            pieces = trial.reads() if reads else trial.writes()
            if pieces:
                found.append(Steps(instruction, fixed, pieces))
    return found


class _Trial:
    """Runs of one instruction from random state."""

    def __init__(
        self, instructions: InstructionSet, instruction: Instruction, fixed: Mapping[str, int]
    ) -> None:
        self.widths = dict(instructions.state)
        words = sum(self.widths.values()) // 16 + MOST_STEPS * instructions.xlen // 16
        self._unused = random.Random(1).sample(range(1, 1 << 16), words + len(self.widths))
        self.before = {n: self._draw(w) for n, w in self.widths.items()}
        self.xlen = instructions.xlen
        self.effects = instruction.effects(self.xlen)
        self.fixed = fixed

    def _draw(self, width: int) -> int:
        """A value of which no 16 bits were drawn before, so that pieces are not mistaken."""
        value = 0
        for _ in range(0, width, 16):
            value = value << 16 | self._unused.pop()
        return value & (1 << width) - 1

    def step(self, state: dict[str, int], rs1: int) -> tuple[int, dict[str, int]]:
        """Value of rd, 0 where there is none, and the state after."""
        values = {**state, **self.fixed, "rs1": rs1}
        rd = self.effects.rd
        after = {**state, **{n: evaluate(v, values) for n, v in self.effects.state}}
        return (0 if rd is None else evaluate(rd, values)), after

    def reads(self) -> tuple[Piece, ...]:
        """The pieces that running it with rs1 = 0 reads, in order, if they are whole elements."""
        known = {}
        for width in PIECE_WIDTHS:
            for element, bits in self.widths.items():
                for low in range(0, bits - width + 1, width):
                    value = self.before[element] >> low & (1 << width) - 1
                    known[value] = Piece(element, low, width)
        state, pieces = self.before, dict[Piece, None]()
        while True:
            value, after = self.step(state, 0)
            if value not in known or known[value] in pieces:
                break
            pieces[known[value]] = None
            state = after
        return tuple(pieces) if self._leaves_others(state, pieces) else ()

    def writes(self) -> tuple[Piece, ...]:
        """The pieces that the values of rs1 become, in order, if they are whole elements."""
        touched = [n for n, v in self.effects.state if not _keeps(n, v)]
        counts = {w // p for w in self.widths.values() for p in PIECE_WIDTHS if w >= p}
        state, values = self.before, list[int]()
        for count in range(1, MOST_STEPS + 1):
            values.append(self._draw(self.xlen))
            _, state = self.step(state, values[-1])
            if not any(self._holds(state[n], values[-1]) for n in touched):
                break
            if count not in counts | {len(touched)}:
                continue
            for width in (w for w in PIECE_WIDTHS if w <= self.xlen):
                order = {v & (1 << width) - 1: k for k, v in enumerate(values)}
                pieces = {}
                for element in touched:
                    for low in range(0, self.widths[element], width):
                        k = order.get(state[element] >> low & (1 << width) - 1)
                        if k is not None:
                            pieces[k] = Piece(element, low, width)
                if len(pieces) == count and self._leaves_others(state, pieces.values()):
                    return tuple(pieces[k] for k in range(count))
        return ()

    def _holds(self, element: int, value: int) -> bool:
        """Whether a value of rs1, or its low bits, are at the low end of an element."""
        return any((element ^ value) & (1 << w) - 1 == 0 for w in PIECE_WIDTHS if w <= self.xlen)

    def _whole(self, pieces: Iterable[Piece]) -> bool:
        bits: Counter[str] = Counter()
        for piece in pieces:
            bits[piece.element] += piece.width
        return all(bits[element] == self.widths[element] for element in bits)

    def _leaves_others(self, state: Mapping[str, int], pieces: Iterable[Piece]) -> bool:
        moved = {p.element for p in pieces}
        others = self.widths.keys() - moved
        return self._whole(pieces) and all(state[n] == self.before[n] for n in others)


def _keeps(name: str, value: Bits) -> bool:
    return value.op == "arg" and value.attr == name


def _immediate_pushes(instructions: InstructionSet, elements: Set[str]) -> list[str]:
    """Pushes of immediates that fill elements."""
    lines = []
    for unit in (find_mask_unit(instructions), find_matrix_unit(instructions)):
        for bank, push in zip(unit.banks, unit.pushes, strict=True) if unit else ():
            if bank in elements and push.data:
                word = push.instruction.encode(**push.fixed)
                lines += [f".word {word:#x}"] * (unit.width // unit.chunk if unit else 0)
    return lines
