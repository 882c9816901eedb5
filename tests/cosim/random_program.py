"""Random programs that end: hazards, load-use, jumps back to back, units, aliasing accesses."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from isa.instruction import Instruction
from isa.instruction_set import InstructionSet
from isa.program import DATA_BASE, Program

POOL = (0, 5, 6, 7, 10, 11, 12)
"""Few registers, so that most instructions depend on one of the last."""
BASE = 8
COUNTER = 9

Emit = Callable[[int, dict[int, int]], int]
"""Makes a word from its own position and the position of every item."""


@dataclass
class _Writer:
    """Items of a program; an item is one or several words that nothing jumps into."""

    instructions: InstructionSet
    rng: random.Random
    words: list[Emit] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)

    def item(self) -> int:
        self.starts.append(len(self.words))
        return len(self.starts) - 1

    def put(self, name: str, **values: int) -> None:
        word = self.instructions.by_name[name].encode(**values)
        self.words.append(lambda position, places: word)

    def jump(self, name: str, target: int, field_name: str, **values: int) -> None:
        instruction = self.instructions.by_name[name]

        def emit(position: int, places: dict[int, int]) -> int:
            offset = places[target] - position
            return instruction.encode(**values, **{field_name: offset * 2})

        self.words.append(emit)

    def register(self) -> int:
        return self.rng.choice(POOL)


def random_program(instructions: InstructionSet, seed: int, length: int) -> Program:
    """A program of about `length` words with a calling stub, the same for the same seed."""
    rng = random.Random(seed)
    w = _Writer(instructions, rng)
    integer = f"rv{instructions.xlen}i"
    base = [i for i in instructions.instructions if i.extension == integer and i.kind == "alu"]
    units = list(instructions.extras())
    w.item()
    w.jump("jal", 1, "jimm20", rd=1)
    w.put("ebreak")
    w.item()
    w.put("lui", rd=BASE, imm20=DATA_BASE >> 12)
    w.put("addi", rd=BASE, rs1=BASE, imm12=256)
    loops: list[int] = []
    while len(w.words) < length:
        w.item()
        kind = rng.random()
        if kind < 0.30:
            _operation(w, rng.choice(base))
        elif kind < 0.50 and units:
            _operation(w, rng.choice(units))
        elif kind < 0.72:
            _access(w)
        elif kind < 0.86:
            _branch(w)
        elif kind < 0.92:
            _jump(w)
        elif kind < 0.96 and not loops:
            w.put("addi", rd=COUNTER, rs1=0, imm12=rng.randrange(1, 4))
            loops.append(w.item())
            _operation(w, rng.choice(base))
        elif loops and len(w.starts) > loops[-1] + 5:
            w.put("addi", rd=COUNTER, rs1=COUNTER, imm12=-1)
            w.jump("blt", loops.pop(), "bimm12", rs1=0, rs2=COUNTER)
        else:
            _operation(w, rng.choice(base))
    for _ in range(8):  # where the last jumps lead
        w.item()
        w.put("addi", rd=5, rs1=5, imm12=1)
    w.put("jalr", rd=0, rs1=1, imm12=0)
    places = dict(enumerate(w.starts))
    words = tuple(emit(position, places) for position, emit in enumerate(w.words))
    return Program(words, rng.randbytes(512), {"kernel": 4 * w.starts[1]})


def _operation(w: _Writer, instruction: Instruction) -> None:
    values = {r: w.register() for r in instruction.encoding.registers}
    for immediate in instruction.encoding.immediates:
        values[immediate.name] = w.rng.getrandbits(immediate.width)
    w.put(instruction.name, **values)


def _access(w: _Writer) -> None:
    """A load or store near the base, half of them through a base computed just before."""
    sizes = {"b": 1, "h": 2, "w": 4, "d": 8}
    accesses = ("lb", "lbu", "lh", "lhu", "lw", "lwu", "ld", "sb", "sh", "sw", "sd")
    name = w.rng.choice([a for a in accesses if a in w.instructions])
    size = sizes[name[1]]
    base = BASE
    if w.rng.random() < 0.4:
        base = w.rng.choice(POOL[1:])
        w.put("addi", rd=base, rs1=BASE, imm12=8 * w.rng.randrange(-2, 3))
    offset = size * w.rng.randrange(-8 // size, 16 // size)
    if name[0] == "l":
        w.put(name, rd=w.register(), rs1=base, imm12=offset)
    else:
        w.put(name, rs1=base, rs2=w.register(), imm12=offset)


def _ahead(w: _Writer) -> int:
    """An item not far ahead, often the very next."""
    return len(w.starts) - 1 + w.rng.choice((1, 1, 2, 2, 3, 4, 6))


def _branch(w: _Writer) -> None:
    name = w.rng.choice(("beq", "bne", "blt", "bge", "bltu", "bgeu"))
    rs1 = w.register()
    rs2 = rs1 if w.rng.random() < 0.2 else w.register()
    w.jump(name, _ahead(w), "bimm12", rs1=rs1, rs2=rs2)


def _jump(w: _Writer) -> None:
    target = _ahead(w)
    if w.rng.random() < 0.5:
        w.jump("jal", target, "jimm20", rd=w.register())
        return
    link, base = w.register(), w.rng.choice(POOL[1:])
    start = len(w.words)
    w.put("auipc", rd=base, imm20=0)
    instruction = w.instructions.by_name["jalr"]
    w.words.append(
        lambda position, places: instruction.encode(
            rd=link, rs1=base, imm12=4 * (places[target] - start)
        )
    )
