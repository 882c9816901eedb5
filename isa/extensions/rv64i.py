"""RV64I, the base integer instruction set with 64-bit registers."""

from __future__ import annotations

from collections.abc import Callable

from isa.bits import Bits, concat, const
from isa.extensions import rv32i
from isa.instruction import Effects, Extension, Load, Store

EXTENSION = Extension(
    "rv64i", source="RISC-V Unprivileged ISA 20240411, chapter 4 (RV64I 2.1)", xlens=(64,)
)
_instruction = EXTENSION.instruction

_OTHERWISE = ("lui", "slli", "srli", "srai")
"""Instructions of RV32I whose encoding or meaning differs here."""

EXTENSION.adopt(
    rv32i.EXTENSION,
    *(i.name for i in rv32i.EXTENSION.instructions if i.name not in _OTHERWISE),
    xlens=(64,),
)


@_instruction("lui rd imm20 6..2=0x0D 1..0=3")
def lui(imm20: Bits) -> Bits:
    """Load upper immediate, sign-extended."""
    return concat(imm20, const(0, 12)).sext(64)


@_instruction("lwu rd rs1 imm12 14..12=6 6..2=0x00 1..0=3")
def lwu(rs1: Bits, imm12: Bits) -> Effects:
    """Load a word, zero-extended."""
    return Effects(load=Load(rs1 + imm12.sext(64), 32, signed=False))


@_instruction("ld rd rs1 imm12 14..12=3 6..2=0x00 1..0=3")
def ld(rs1: Bits, imm12: Bits) -> Effects:
    """Load a doubleword."""
    return Effects(load=Load(rs1 + imm12.sext(64), 64, signed=True))


@_instruction("sd imm12hi rs1 rs2 imm12lo 14..12=3 6..2=0x08 1..0=3")
def sd(rs1: Bits, rs2: Bits, imm12: Bits) -> Effects:
    """Store a doubleword."""
    return Effects(store=Store(rs1 + imm12.sext(64), rs2))


@_instruction("slli rd rs1 31..26=0 shamtd 14..12=1 6..2=0x04 1..0=3")
def slli(rs1: Bits, shamtd: Bits) -> Bits:
    """Shift left logical by immediate."""
    return rs1.shl_var(shamtd)


@_instruction("srli rd rs1 31..26=0 shamtd 14..12=5 6..2=0x04 1..0=3")
def srli(rs1: Bits, shamtd: Bits) -> Bits:
    """Shift right logical by immediate."""
    return rs1.shr_var(shamtd)


@_instruction("srai rd rs1 31..26=16 shamtd 14..12=5 6..2=0x04 1..0=3")
def srai(rs1: Bits, shamtd: Bits) -> Bits:
    """Shift right arithmetic by immediate."""
    return rs1.sar_var(shamtd)


def on_words(operation: Callable[[Bits, Bits], Bits], rs1: Bits, rs2: Bits) -> Bits:
    """An operation of RV32I on the low words, its result sign-extended."""
    return operation(rs1.slice(0, 32), rs2.slice(0, 32)).sext(64)


@_instruction("addiw rd rs1 imm12 14..12=0 6..2=0x06 1..0=3")
def addiw(rs1: Bits, imm12: Bits) -> Bits:
    """Add immediate to a word."""
    return (rs1.slice(0, 32) + imm12.sext(32)).sext(64)


@_instruction("slliw rd rs1 31..25=0 shamtw 14..12=1 6..2=0x06 1..0=3")
def slliw(rs1: Bits, shamtw: Bits) -> Bits:
    """Shift a word left logical by immediate."""
    return rs1.slice(0, 32).shl_var(shamtw).sext(64)


@_instruction("srliw rd rs1 31..25=0 shamtw 14..12=5 6..2=0x06 1..0=3")
def srliw(rs1: Bits, shamtw: Bits) -> Bits:
    """Shift a word right logical by immediate."""
    return rs1.slice(0, 32).shr_var(shamtw).sext(64)


@_instruction("sraiw rd rs1 31..25=32 shamtw 14..12=5 6..2=0x06 1..0=3")
def sraiw(rs1: Bits, shamtw: Bits) -> Bits:
    """Shift a word right arithmetic by immediate."""
    return rs1.slice(0, 32).sar_var(shamtw).sext(64)


@_instruction("addw rd rs1 rs2 31..25=0 14..12=0 6..2=0x0E 1..0=3")
def addw(rs1: Bits, rs2: Bits) -> Bits:
    """Add words."""
    return on_words(rv32i.add, rs1, rs2)


@_instruction("subw rd rs1 rs2 31..25=32 14..12=0 6..2=0x0E 1..0=3")
def subw(rs1: Bits, rs2: Bits) -> Bits:
    """Subtract words."""
    return on_words(rv32i.sub, rs1, rs2)


@_instruction("sllw rd rs1 rs2 31..25=0 14..12=1 6..2=0x0E 1..0=3")
def sllw(rs1: Bits, rs2: Bits) -> Bits:
    """Shift a word left logical."""
    return on_words(rv32i.sll, rs1, rs2)


@_instruction("srlw rd rs1 rs2 31..25=0 14..12=5 6..2=0x0E 1..0=3")
def srlw(rs1: Bits, rs2: Bits) -> Bits:
    """Shift a word right logical."""
    return on_words(rv32i.srl, rs1, rs2)


@_instruction("sraw rd rs1 rs2 31..25=32 14..12=5 6..2=0x0E 1..0=3")
def sraw(rs1: Bits, rs2: Bits) -> Bits:
    """Shift a word right arithmetic."""
    return on_words(rv32i.sra, rs1, rs2)
