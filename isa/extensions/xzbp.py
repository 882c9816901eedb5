"""Zbp of the withdrawn draft: permutations of bits, bytes and nibbles in general.

The name is the one Spike uses for it. Parts were ratified: `pack` and `packh` in Zbkb, `rev8`,
`brev8`, `zip` and `unzip` as cases of `grevi`, `shfli` and `unshfli`, `orc.b` as one of `gorci`,
`xperm.n` and `xperm.b` as Zbkx.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from isa.bits import Bits, concat, mux
from isa.extensions import zbb, zbkb
from isa.extensions.rv64i import on_words
from isa.extensions.zbkx import crossbar
from isa.instruction import Extension

EXTENSION = Extension(
    "xzbp",
    source="RISC-V Bitmanip Extension draft 0.94 (2021), chapter 2, Zbp; encodings as in "
    "riscv/riscv-opcodes@24677d7 opcodes-rv32b and opcodes-rv64b",
)
_instruction = EXTENSION.instruction

EXTENSION.adopt(zbb.EXTENSION, "andn", "orn", "xnor", "rol", "ror", "rori")
EXTENSION.adopt(zbb.EXTENSION, "rolw", "rorw", "roriw")
EXTENSION.adopt(zbkb.EXTENSION, "pack", "packh", "packw")


def _permuted(x: Bits, source: Callable[[int], int]) -> Bits:
    """Bit i of the result is bit `source(i)` of x."""
    return concat(*(x.bit(source(i)) for i in reversed(range(x.width))))


def _stages(
    x: Bits, control: Bits, order: Iterable[int], stage: Callable[[Bits, int], Bits]
) -> Bits:
    """Apply, in the given order, the stages whose control bit is set."""
    for k in order:
        x = mux(control.bit(k), stage(x, k), x)
    return x


def _levels(x: Bits) -> int:
    return x.width.bit_length() - 1


def _swapped(x: Bits, k: int) -> Bits:
    """Neighbouring blocks of 2^k bits exchanged."""
    return _permuted(x, lambda i: i ^ 1 << k)


def _shuffled(x: Bits, k: int) -> Bits:
    """In every four blocks of 2^k bits, the middle two exchanged."""
    return _permuted(x, lambda i: i ^ (3 << k) if (i >> k ^ i >> (k + 1)) & 1 else i)


@_instruction("grevi rd rs1 31..25=0x34 shamtw 14..12=5 6..2=0x04 1..0=3", xlens=(32,))
def grevi(rs1: Bits, shamtw: Bits) -> Bits:
    """Generalised reverse by immediate: bit i comes from bit i ^ shamt."""
    return _stages(rs1, shamtw, range(_levels(rs1)), _swapped)


@_instruction("gorci rd rs1 31..25=0x14 shamtw 14..12=5 6..2=0x04 1..0=3", xlens=(32,))
def gorci(rs1: Bits, shamtw: Bits) -> Bits:
    """Generalised or-combine by immediate."""
    return _stages(rs1, shamtw, range(_levels(rs1)), lambda x, k: x | _swapped(x, k))


@_instruction("shfli rd rs1 31..25=4 shamtw 14..12=1 6..2=0x04 1..0=3")
def shfli(rs1: Bits, shamtw: Bits) -> Bits:
    """Generalised shuffle by immediate: the control bits of the lowest log2(xlen) - 1 levels."""
    return _stages(rs1, shamtw, reversed(range(_levels(rs1) - 1)), _shuffled)


@_instruction("unshfli rd rs1 31..25=4 shamtw 14..12=5 6..2=0x04 1..0=3")
def unshfli(rs1: Bits, shamtw: Bits) -> Bits:
    """Inverse of the generalised shuffle by immediate."""
    return _stages(rs1, shamtw, range(_levels(rs1) - 1), _shuffled)


for _line, _meaning in (
    ("grevi rd rs1 31..26=26 shamtd 14..12=5 6..2=0x04 1..0=3", grevi),
    ("gorci rd rs1 31..26=10 shamtd 14..12=5 6..2=0x04 1..0=3", gorci),
):
    EXTENSION.declare(_line, _meaning, ("rs1", "shamtd"), xlens=(64,))


@_instruction("grev rd rs1 rs2 31..25=52 14..12=5 6..2=0x0C 1..0=3")
def grev(rs1: Bits, rs2: Bits) -> Bits:
    """Generalised reverse."""
    return grevi(rs1, rs2)


@_instruction("gorc rd rs1 rs2 31..25=20 14..12=5 6..2=0x0C 1..0=3")
def gorc(rs1: Bits, rs2: Bits) -> Bits:
    """Generalised or-combine."""
    return gorci(rs1, rs2)


@_instruction("shfl rd rs1 rs2 31..25=4 14..12=1 6..2=0x0C 1..0=3")
def shfl(rs1: Bits, rs2: Bits) -> Bits:
    """Generalised shuffle."""
    return shfli(rs1, rs2)


@_instruction("unshfl rd rs1 rs2 31..25=4 14..12=5 6..2=0x0C 1..0=3")
def unshfl(rs1: Bits, rs2: Bits) -> Bits:
    """Inverse of the generalised shuffle."""
    return unshfli(rs1, rs2)


@_instruction("packu rd rs1 rs2 31..25=36 14..12=4 6..2=0x0C 1..0=3")
def packu(rs1: Bits, rs2: Bits) -> Bits:
    """Pack the high halves of two registers, rs1 below."""
    half = rs1.width // 2
    return concat(rs2.slice(half, half), rs1.slice(half, half))


@_instruction("xperm.n rd rs1 rs2 31..25=20 14..12=2 6..2=0x0C 1..0=3")
def xperm_n(rs1: Bits, rs2: Bits) -> Bits:
    """Nibble crossbar."""
    return crossbar(rs1, rs2, 4)


@_instruction("xperm.b rd rs1 rs2 31..25=20 14..12=4 6..2=0x0C 1..0=3")
def xperm_b(rs1: Bits, rs2: Bits) -> Bits:
    """Byte crossbar."""
    return crossbar(rs1, rs2, 8)


@_instruction("xperm.h rd rs1 rs2 31..25=20 14..12=6 6..2=0x0C 1..0=3")
def xperm_h(rs1: Bits, rs2: Bits) -> Bits:
    """Halfword crossbar."""
    return crossbar(rs1, rs2, 16)


@_instruction("xperm.w rd rs1 rs2 31..25=20 14..12=0 6..2=0x0C 1..0=3", xlens=(64,))
def xperm_w(rs1: Bits, rs2: Bits) -> Bits:
    """Word crossbar."""
    return crossbar(rs1, rs2, 32)


for _line, _word_meaning in (
    ("grevw rd rs1 rs2 31..25=52 14..12=5 6..2=0x0E 1..0=3", grev),
    ("gorcw rd rs1 rs2 31..25=20 14..12=5 6..2=0x0E 1..0=3", gorc),
    ("shflw rd rs1 rs2 31..25=4 14..12=1 6..2=0x0E 1..0=3", shfl),
    ("unshflw rd rs1 rs2 31..25=4 14..12=5 6..2=0x0E 1..0=3", unshfl),
    ("packuw rd rs1 rs2 31..25=36 14..12=4 6..2=0x0E 1..0=3", packu),
):
    EXTENSION.declare(
        _line,
        lambda rs1, rs2, meaning=_word_meaning: on_words(meaning, rs1, rs2),
        ("rs1", "rs2"),
        xlens=(64,),
    )


@_instruction("greviw rd rs1 31..25=52 shamtw 14..12=5 6..2=0x06 1..0=3", xlens=(64,))
def greviw(rs1: Bits, shamtw: Bits) -> Bits:
    """Generalised reverse of a word by immediate, sign-extended."""
    return grevi(rs1.slice(0, 32), shamtw).sext(64)


@_instruction("gorciw rd rs1 31..25=20 shamtw 14..12=5 6..2=0x06 1..0=3", xlens=(64,))
def gorciw(rs1: Bits, shamtw: Bits) -> Bits:
    """Generalised or-combine of a word by immediate, sign-extended."""
    return gorci(rs1.slice(0, 32), shamtw).sext(64)
