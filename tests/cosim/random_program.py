"""Random programs that end: hazards, load-use, jumps back to back, units, aliasing accesses."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from isa.instruction import Instruction
from isa.instruction_set import InstructionSet
from isa.program import DATA_BASE, Program, packed

POOL = (0, 5, 6, 7, 10, 11, 12)
"""Few registers, so that most instructions depend on one of the last."""
BASE = 8
COUNTER = 9
SP = 2
RETURN = 3

Made = tuple[Instruction, dict[str, int]]
Emit = Callable[[Sequence[int], Sequence[int]], Made]
"""Makes an instruction from the address of every instruction and that of every item."""


@dataclass
class _Writer:
    """Items of a program; an item is one or several instructions that nothing jumps into."""

    instructions: InstructionSet
    rng: random.Random
    words: list[Emit] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)

    def item(self) -> int:
        self.starts.append(len(self.words))
        return len(self.starts) - 1

    def put(self, name: str, **values: int) -> None:
        made = self.instructions.by_name[name], values
        self.words.append(lambda pcs, places: made)

    def jump(self, name: str, target: int, field_name: str, **values: int) -> None:
        instruction = self.instructions.by_name[name]
        own = len(self.words)

        def emit(pcs: Sequence[int], places: Sequence[int]) -> Made:
            return instruction, {**values, field_name: (places[target] - pcs[own]) // 2}

        self.words.append(emit)

    def program(self, data: bytes) -> Program:
        """Everything in place; what can be compressed is, but for one in four."""
        instructions = self.instructions
        sizes = [instructions.alignment if self.rng_keeps() else 4 for _ in self.words]
        while True:
            pcs = list(accumulate(sizes, initial=0))
            places = [pcs[i] for i in self.starts]
            made = [emit(pcs, places) for emit in self.words]
            encoded = [
                (None if size == 4 else instructions.compress(*m))
                for m, size in zip(made, sizes, strict=True)
            ]
            grown = [4 if e is None else 2 for e in encoded]
            if grown == sizes:
                break
            sizes = grown
        code = b"".join(
            m[0].encode(**m[1]).to_bytes(4, "little") if e is None else e.to_bytes(2, "little")
            for m, e in zip(made, encoded, strict=True)
        )
        words, padding = packed(code)
        return Program(words, data, {"kernel": places[1]}, padding_bytes=padding)

    def rng_keeps(self) -> bool:
        """Whether to try to compress one."""
        return bool(self.instructions.compressed) and self.rng.random() < 0.75

    def sometimes(self, probability: float) -> bool:
        """A choice that only programs with compressed instructions make."""
        return bool(self.instructions.compressed) and self.rng.random() < probability

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
    if instructions.compressed:
        w.put("addi", rd=SP, rs1=SP, imm12=-64)
        w.put("addi", rd=RETURN, rs1=1, imm12=0)
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
    w.put("jalr", rd=0, rs1=RETURN if instructions.compressed else 1, imm12=0)
    return w.program(rng.randbytes(512))


def _short_operation(w: _Writer) -> None:
    """Any compressed instruction that writes a register of the pool."""
    while True:
        found = w.instructions.expand(w.rng.getrandbits(16) & -4 | w.rng.randrange(3))
        if found and found[0].kind == "alu" and found[1]["rd"] in POOL:
            w.put(found[0].name, **found[1])
            return


def _operation(w: _Writer, instruction: Instruction) -> None:
    if instruction.extension[:2] == "rv" and w.sometimes(0.6):
        _short_operation(w)
        return
    values = {r: w.register() for r in instruction.encoding.registers}
    for immediate in instruction.encoding.immediates:
        values[immediate.name] = w.rng.choice(immediate.values)
        if immediate.name in ("imm12", "imm20") and w.sometimes(0.6):
            values[immediate.name] = w.rng.randrange(-32, 32) % (1 << immediate.width)
    if "rs1" in values and w.sometimes(0.5):
        values["rs1"] = values["rd"]
    w.put(instruction.name, **values)


def _access(w: _Writer) -> None:
    """A load or store near the base, half of them through a base computed just before."""
    sizes = {"b": 1, "h": 2, "w": 4, "d": 8}
    accesses = ("lb", "lbu", "lh", "lhu", "lw", "lwu", "ld", "sb", "sh", "sw", "sd")
    name = w.rng.choice([a for a in accesses if a in w.instructions])
    size = sizes[name[1]]
    base = BASE
    if w.sometimes(0.2):
        if w.rng.random() < 0.3:
            w.put("addi", rd=w.register(), rs1=SP, imm12=4 * w.rng.randrange(1, 40))
        if name[0] == "l":
            w.put(name, rd=w.register(), rs1=SP, imm12=8 * w.rng.randrange(8))
        else:
            w.put(name, rs1=SP, rs2=w.register(), imm12=8 * w.rng.randrange(8))
        return
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
    rs2 = 0 if w.sometimes(0.6) else rs2
    w.jump(name, _ahead(w), "bimm12", rs1=rs1, rs2=rs2)


def _jump(w: _Writer) -> None:
    target = _ahead(w)
    if w.rng.random() < 0.5:
        link = w.rng.choice((0, 1)) if w.sometimes(0.5) else w.register()
        w.jump("jal", target, "jimm20", rd=link)
        return
    link, base = w.register(), w.rng.choice(POOL[1:])
    start = len(w.words)
    w.put("auipc", rd=base, imm20=0)
    jalr, addi = w.instructions.by_name["jalr"], w.instructions.by_name["addi"]

    def offset(pcs: Sequence[int], places: Sequence[int]) -> int:
        return places[target] - pcs[start]

    if w.sometimes(0.5):
        link = w.rng.choice((0, 1, link))
        w.words.append(lambda p, q: (addi, {"rd": base, "rs1": base, "imm12": offset(p, q)}))
        w.put("jalr", rd=link, rs1=base, imm12=0)
        return
    w.words.append(lambda p, q: (jalr, {"rd": link, "rs1": base, "imm12": offset(p, q)}))
