from __future__ import annotations

import random
from contextlib import suppress

import pytest

from isa.assembler import assemble
from isa.elf import ElfError, read_elf
from isa.instruction_set import InstructionSet
from isa.machine import Machine
from tests.oracles.elf import BASE, executable

TEXT = "auipc t0, 0\n lw a0, 16(t0)\n addi a0, a0, 1\n ebreak\n .word 41"
CODE = b"".join(
    w.to_bytes(4, "little") for w in assemble(TEXT, InstructionSet.of(32, "rv32i")).words
)


@pytest.mark.parametrize("xlen", [32, 64])
def test_an_executable_runs_at_its_address(xlen: int) -> None:
    elf = read_elf(executable(xlen, CODE, 4096, BASE, {"_start": BASE, "end": BASE + 12}))
    assert elf.xlen == xlen
    assert not elf.is_compressed
    assert elf.program.symbols == {"_start": BASE, "end": BASE + 12}
    assert (elf.program.start, elf.program.text_base, elf.program.data_base) == (BASE, BASE, BASE)
    run = Machine(InstructionSet.of(xlen, f"rv{xlen}i"), elf.program).run()
    assert run.registers[10] == 42
    assert run.read(BASE + 16, 1) == b")"


GOOD = executable(32, CODE, 4096, BASE, {"_start": BASE})


def changed(offset: int, value: bytes) -> bytes:
    return GOOD[:offset] + value + GOOD[offset + len(value) :]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "file must be an ELF executable, not something else or cut short"),
        (GOOD[:40], "file must be an ELF executable, not something else or cut short"),
        (changed(5, b"\2"), "ELF must be little-endian of 32 or 64 bits"),
        (changed(18, b"\x3e\0"), r"machine of the ELF must be RISC-V \(243\), not 62"),
        (changed(16, b"\3"), "type of the ELF must be an executable .2., not 3; link it with -sta"),
        (changed(28, b"\xff\xff\xff\x7f"), "program headers of the ELF must lie within its"),
        (changed(24, b"\0\0\0\0"), "entry of the ELF must lie in 0x20000000 to 0x20000014, not"),
        (changed(52, b"\3"), "ELF must need no dynamic linker; link it with -static"),
        (changed(52, b"\6"), "ELF must have an executable segment"),
        (changed(56, b"\xff\xff\xff\xff"), "segment of the ELF must lie within its 4"),
        (changed(60, b"\xf0\xff\xff\xff"), "segment of the ELF must fit its memory, not 0xffff"),
        (changed(68, b"\xff\xff\xff\xff"), "segment of the ELF must fit its memory, not 0x2000"),
        (changed(72, b"\0\0\0\x7f"), "segments of the ELF must lie within 0x10000000 bytes, not"),
    ],
)
def test_bad_files_are_refused(data: bytes, message: str) -> None:
    with pytest.raises(ElfError, match=message):
        read_elf(data)


def test_damaged_files_never_crash() -> None:
    rng = random.Random(3)
    for size in rng.sample(range(len(GOOD)), 200):
        with pytest.raises(ElfError, match="ELF"):
            read_elf(GOOD[:size])
    places = [*range(52 + 32), *range(len(GOOD) - 140, len(GOOD))]
    for _ in range(1500):
        data = bytearray(GOOD)
        for _ in range(rng.randrange(1, 4)):
            data[rng.choice(places)] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))
        with suppress(ElfError):
            read_elf(bytes(data))
