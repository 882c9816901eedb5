"""Random programs of all ratified instructions: our machine against two emulators.

Straight stretches, forward branches and counted loops, loads and stores; every register and the
memory they used must agree in the end.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from isa.instruction import Instruction
from isa.isa_string import instruction_set
from isa.machine import Machine
from isa.program import DATA_BASE, Program
from tests.oracles import emulators
from tests.oracles.elf import BASE

POINTER, COUNTERS = 8, (3, 4)
REGISTERS = [r for r in range(5, 32) if r != POINTER]
SCRATCH_AT = 256
"""Offset of memory for loads and stores; initial and final registers stand before it."""
SCRATCH_SIZE = 512
UNUSED = {"auipc", "jal", "jalr", "fence", "ctzw"}
"""Their results depend on where code stands, they show nothing, or qemu-user 7.2 is wrong."""


class Generator:
    """Writes one random program; the words do not depend on where code or data stand."""

    def __init__(self, xlen: int, seed: int) -> None:
        """Take a register width and a seed."""
        self.set = instruction_set(f"rv{xlen}i_" + "_".join(emulators.EXTENSIONS))
        self.xlen = xlen
        self.size = xlen // 8
        self.rng = random.Random(f"program {xlen} {seed}")
        usable = [i for i in self.set.instructions if i.name not in UNUSED]
        self.by_kind = {
            kind: [i for i in usable if i.kind == kind]
            for kind in ("alu", "load", "store", "branch")
        }
        self.memory = self.rng.randbytes(SCRATCH_AT + SCRATCH_SIZE)

    def _encode(self, name: str, **values: int) -> int:
        return self.set.by_name[name].encode(**values)

    def _source(self) -> int:
        return self.rng.choice([0, *REGISTERS])

    def _simple(self) -> list[int]:
        """One instruction that neither jumps nor touches the pointer."""
        kind = self.rng.choices(("alu", "load", "store"), (16, 1, 1))[0]
        i = self.rng.choice(self.by_kind[kind])
        values = {r: self._source() for r in i.encoding.registers}
        if "rd" in values:
            values["rd"] = self.rng.choice(REGISTERS)
        for immediate in i.encoding.immediates:
            limit = len(immediate.values)
            values[immediate.name] = self.rng.randrange(limit)
        if kind != "alu":
            width = self._width(i) // 8
            values["rs1"] = POINTER
            values["imm12"] = SCRATCH_AT + self.rng.randrange(SCRATCH_SIZE // width) * width
        return [i.encode(**values)]

    def _width(self, i: Instruction) -> int:
        effects = i.effects(self.xlen)
        return effects.load.width if effects.load else effects.store.value.width  # type: ignore[union-attr]

    def stretch(self, length: int, loops: int) -> list[int]:
        """About `length` words, with loops nested at most `loops` deep."""
        words: list[int] = []
        while len(words) < length:
            choice = self.rng.random()
            if choice < 0.08:
                skipped = self.stretch(self.rng.randrange(1, 5), 0)
                i = self.rng.choice(self.by_kind["branch"])
                offset = 4 * (len(skipped) + 1) >> 1
                words.append(i.encode(rs1=self._source(), rs2=self._source(), bimm12=offset))
                words += skipped
            elif choice < 0.12 and loops:
                counter = COUNTERS[loops - 1]
                body = self.stretch(self.rng.randrange(3, 20), loops - 1)
                words.append(
                    self._encode("addi", rd=counter, rs1=0, imm12=self.rng.randrange(1, 9))
                )
                words += body
                words.append(self._encode("addi", rd=counter, rs1=counter, imm12=-1))
                back = -4 * (len(body) + 1) >> 1
                words.append(self._encode("bne", rs1=counter, rs2=0, bimm12=back))
            else:
                words += self._simple()
        return words

    def words(self, length: int) -> list[int]:
        """The program: registers from memory, a long stretch, registers to memory."""
        load, store = ("ld", "sd") if self.xlen == 64 else ("lw", "sw")
        start = [self._encode(load, rd=r, rs1=POINTER, imm12=self.size * r) for r in REGISTERS]
        end = [self._encode(store, rs2=r, rs1=POINTER, imm12=self.size * r) for r in REGISTERS]
        return start + self.stretch(length, len(COUNTERS)) + end


def check(emulator: str, xlen: int, seed: int, length: int, folder: Path) -> None:
    made = Generator(xlen, seed)
    by_name = made.set.by_name
    words = made.words(length)

    pointer = emulators.load_address(by_name, POINTER, DATA_BASE)
    program = Program((*pointer, *words, by_name["ebreak"].encode()), made.memory)
    ours = Machine(made.set, program).run().read(DATA_BASE, len(made.memory))

    address = BASE + emulators.MAILBOX_SIZE
    pointer = emulators.load_address(by_name, POINTER, address)
    data = bytes(emulators.MAILBOX_SIZE) + made.memory
    output = range(address, address + len(made.memory))
    theirs = emulators.run(emulator, xlen, by_name, data, pointer + words, output, folder)

    for k in range(0, len(ours), 8):
        assert ours[k : k + 8].hex() == theirs[k : k + 8].hex(), f"at byte {k}"


@pytest.mark.tool
@pytest.mark.parametrize("emulator", emulators.NAMES)
@pytest.mark.parametrize("xlen", [32, 64])
@pytest.mark.parametrize("seed", range(3))
def test_programs(emulator: str, xlen: int, seed: int, tmp_path: Path) -> None:
    check(emulator, xlen, seed, 300, tmp_path)


@pytest.mark.tool
@pytest.mark.slow
@pytest.mark.parametrize("emulator", emulators.NAMES)
@pytest.mark.parametrize("xlen", [32, 64])
@pytest.mark.parametrize("seed", range(100, 130))
def test_more_programs(emulator: str, xlen: int, seed: int, tmp_path: Path) -> None:
    check(emulator, xlen, seed, 1500, tmp_path)
