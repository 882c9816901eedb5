"""Every ratified instruction with random operands: the word GNU `as` makes is the word we make."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import pytest

from isa.instruction import Instruction
from isa.isa_string import instruction_set
from isa.registers import NAMES
from isa.syntax import OFFSETS, SIGNED, operands

EXTENSIONS = "zba_zbb_zbc_zbs_zbkb_zbkc_zbkx_zknd_zkne_zknh_zksed_zksh"


def tool(name: str) -> str:
    for prefix in ("riscv64-unknown-elf-", "riscv64-linux-gnu-"):
        found = shutil.which(prefix + name)
        if found:
            return found
    pytest.skip(f"riscv64-unknown-elf-{name} is absent; Debian's binutils-riscv64-unknown-elf")


def random_values(i: Instruction, rng: random.Random) -> dict[str, int]:
    """Operand fields; immediates as unsigned field values."""
    values = {r: rng.randrange(32) for r in i.encoding.registers}
    for immediate in i.encoding.immediates:
        limit = len(immediate.values)
        values[immediate.name] = rng.choice((0, limit - 1, *(rng.randrange(limit),) * 8))
    if i.name == "fence":
        values.update(rd=0, rs1=0, fm=0, pred=values["pred"] or 1, succ=values["succ"] or 1)
    return values


def text(i: Instruction, values: dict[str, int]) -> str:
    """Assembly as the manual writes it."""

    def sets(value: int) -> str:
        return "".join(letter for k, letter in enumerate("iorw") if value >> (3 - k) & 1)

    if i.name == "fence":
        return f"fence {sets(values['pred'])}, {sets(values['succ'])}"
    widths = {m.name: m.width for m in i.encoding.immediates}

    def immediate(name: str) -> str:
        value = values[name]
        if name in SIGNED and value >> widths[name] - 1:
            value -= 1 << widths[name]
        scaled = value * OFFSETS.get(name, 1)
        return f".{scaled:+}" if name in OFFSETS else str(scaled)

    parts = []
    for name in operands(i):
        if name == "imm12(rs1)":
            parts.append(f"{immediate('imm12')}({NAMES[values['rs1']]})")
        else:
            parts.append(NAMES[values[name]] if name in i.encoding.registers else immediate(name))
    return f"{i.name} {', '.join(parts)}"


def differences(xlen: int, count: int, folder: Path) -> list[str]:
    instructions = instruction_set(f"rv{xlen}im_zicsr_{EXTENSIONS}").instructions
    rng = random.Random(xlen)
    lines, words = [], []
    for i in instructions:
        for _ in range(count):
            values = random_values(i, rng)
            lines.append(text(i, values))
            words.append(i.encode(**values))
    source, unlinked, binary = (folder / n for n in ("a.s", "a.o", "a.bin"))
    source.write_text(".option norelax\n.option norvc\n" + "\n".join(lines) + "\n")
    march = f"-march=rv{xlen}im_zicsr_{EXTENSIONS}"
    mabi = "-mabi=ilp32" if xlen == 32 else "-mabi=lp64"
    made = subprocess.run(
        [tool("as"), march, mabi, source, "-o", unlinked],
        capture_output=True,
        check=False,
        text=True,
    )
    assert made.returncode == 0, made.stderr[:500]
    subprocess.run([tool("objcopy"), "-O", "binary", unlinked, binary], check=True)
    data = binary.read_bytes()
    theirs = [int.from_bytes(data[k : k + 4], "little") for k in range(0, len(data), 4)]
    assert len(theirs) == len(words)
    return [
        f"{line}: {ours:#010x}, not {other:#010x}"
        for line, ours, other in zip(lines, words, theirs, strict=True)
        if ours != other
    ]


@pytest.mark.tool
@pytest.mark.parametrize("xlen", [32, 64])
def test_words(xlen: int, tmp_path: Path) -> None:
    assert differences(xlen, 40, tmp_path) == []


@pytest.mark.tool
@pytest.mark.slow
@pytest.mark.parametrize("xlen", [32, 64])
def test_more_words(xlen: int, tmp_path: Path) -> None:
    assert differences(xlen, 1000, tmp_path) == []
