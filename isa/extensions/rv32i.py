"""RV32I, the base integer instruction set; `ecall` and `ebreak` are host calls."""

from __future__ import annotations

from isa.bits import Bits, concat, const
from isa.instruction import Effects, Extension, Load, NextPc, Store

EXTENSION = Extension(
    "rv32i", source="RISC-V Unprivileged ISA 20240411, chapter 2 (RV32I 2.1)", xlens=(32,)
)
_instruction = EXTENSION.instruction


def _offset(immediate: Bits, width: int) -> Bits:
    """Byte offset of a branch or jump: the field is the offset divided by two."""
    return concat(immediate, const(0, 1)).sext(width)


def _amount(shift: Bits) -> Bits:
    """Shift amount in a register: its lowest log2(xlen) bits."""
    return shift.slice(0, shift.width.bit_length() - 1)


@_instruction("lui rd imm20 6..2=0x0D 1..0=3")
def lui(imm20: Bits) -> Bits:
    """Load upper immediate."""
    return concat(imm20, const(0, 12))


@_instruction("auipc rd imm20 6..2=0x05 1..0=3")
def auipc(pc: Bits, imm20: Bits) -> Bits:
    """Add upper immediate to pc."""
    return pc + concat(imm20, const(0, 12)).sext(pc.width)


@_instruction("jal rd jimm20 6..2=0x1b 1..0=3")
def jal(pc: Bits, jimm20: Bits) -> Effects:
    """Jump and link."""
    return Effects(rd=pc + 4, next_pc=NextPc(pc + _offset(jimm20, pc.width)))


@_instruction("jalr rd rs1 imm12 14..12=0 6..2=0x19 1..0=3")
def jalr(pc: Bits, rs1: Bits, imm12: Bits) -> Effects:
    """Jump and link register; the lowest bit of the target is cleared."""
    return Effects(rd=pc + 4, next_pc=NextPc((rs1 + imm12.sext(rs1.width)) & -2))


def _branch(pc: Bits, bimm12: Bits, condition: Bits) -> Effects:
    return Effects(next_pc=NextPc(pc + _offset(bimm12, pc.width), condition))


@_instruction("beq bimm12hi rs1 rs2 bimm12lo 14..12=0 6..2=0x18 1..0=3")
def beq(pc: Bits, rs1: Bits, rs2: Bits, bimm12: Bits) -> Effects:
    """Branch if equal."""
    return _branch(pc, bimm12, rs1.eq(rs2))


@_instruction("bne bimm12hi rs1 rs2 bimm12lo 14..12=1 6..2=0x18 1..0=3")
def bne(pc: Bits, rs1: Bits, rs2: Bits, bimm12: Bits) -> Effects:
    """Branch if not equal."""
    return _branch(pc, bimm12, ~rs1.eq(rs2))


@_instruction("blt bimm12hi rs1 rs2 bimm12lo 14..12=4 6..2=0x18 1..0=3")
def blt(pc: Bits, rs1: Bits, rs2: Bits, bimm12: Bits) -> Effects:
    """Branch if less than, signed."""
    return _branch(pc, bimm12, rs1.slt(rs2))


@_instruction("bge bimm12hi rs1 rs2 bimm12lo 14..12=5 6..2=0x18 1..0=3")
def bge(pc: Bits, rs1: Bits, rs2: Bits, bimm12: Bits) -> Effects:
    """Branch if greater or equal, signed."""
    return _branch(pc, bimm12, ~rs1.slt(rs2))


@_instruction("bltu bimm12hi rs1 rs2 bimm12lo 14..12=6 6..2=0x18 1..0=3")
def bltu(pc: Bits, rs1: Bits, rs2: Bits, bimm12: Bits) -> Effects:
    """Branch if less than, unsigned."""
    return _branch(pc, bimm12, rs1.ult(rs2))


@_instruction("bgeu bimm12hi rs1 rs2 bimm12lo 14..12=7 6..2=0x18 1..0=3")
def bgeu(pc: Bits, rs1: Bits, rs2: Bits, bimm12: Bits) -> Effects:
    """Branch if greater or equal, unsigned."""
    return _branch(pc, bimm12, ~rs1.ult(rs2))


def _load(rs1: Bits, imm12: Bits, width: int, signed: bool) -> Effects:
    return Effects(load=Load(rs1 + imm12.sext(rs1.width), width, signed))


@_instruction("lb rd rs1 imm12 14..12=0 6..2=0x00 1..0=3")
def lb(rs1: Bits, imm12: Bits) -> Effects:
    """Load a byte, sign-extended."""
    return _load(rs1, imm12, 8, signed=True)


@_instruction("lh rd rs1 imm12 14..12=1 6..2=0x00 1..0=3")
def lh(rs1: Bits, imm12: Bits) -> Effects:
    """Load a halfword, sign-extended."""
    return _load(rs1, imm12, 16, signed=True)


@_instruction("lw rd rs1 imm12 14..12=2 6..2=0x00 1..0=3")
def lw(rs1: Bits, imm12: Bits) -> Effects:
    """Load a word."""
    return _load(rs1, imm12, 32, signed=True)


@_instruction("lbu rd rs1 imm12 14..12=4 6..2=0x00 1..0=3")
def lbu(rs1: Bits, imm12: Bits) -> Effects:
    """Load a byte, zero-extended."""
    return _load(rs1, imm12, 8, signed=False)


@_instruction("lhu rd rs1 imm12 14..12=5 6..2=0x00 1..0=3")
def lhu(rs1: Bits, imm12: Bits) -> Effects:
    """Load a halfword, zero-extended."""
    return _load(rs1, imm12, 16, signed=False)


def _store(rs1: Bits, rs2: Bits, imm12: Bits, width: int) -> Effects:
    return Effects(store=Store(rs1 + imm12.sext(rs1.width), rs2.slice(0, width)))


@_instruction("sb imm12hi rs1 rs2 imm12lo 14..12=0 6..2=0x08 1..0=3")
def sb(rs1: Bits, rs2: Bits, imm12: Bits) -> Effects:
    """Store a byte."""
    return _store(rs1, rs2, imm12, 8)


@_instruction("sh imm12hi rs1 rs2 imm12lo 14..12=1 6..2=0x08 1..0=3")
def sh(rs1: Bits, rs2: Bits, imm12: Bits) -> Effects:
    """Store a halfword."""
    return _store(rs1, rs2, imm12, 16)


@_instruction("sw imm12hi rs1 rs2 imm12lo 14..12=2 6..2=0x08 1..0=3")
def sw(rs1: Bits, rs2: Bits, imm12: Bits) -> Effects:
    """Store a word."""
    return _store(rs1, rs2, imm12, 32)


@_instruction("addi rd rs1 imm12 14..12=0 6..2=0x04 1..0=3")
def addi(rs1: Bits, imm12: Bits) -> Bits:
    """Add immediate."""
    return rs1 + imm12.sext(rs1.width)


@_instruction("slti rd rs1 imm12 14..12=2 6..2=0x04 1..0=3")
def slti(rs1: Bits, imm12: Bits) -> Bits:
    """Set if less than immediate, signed."""
    return rs1.slt(imm12.sext(rs1.width)).zext(rs1.width)


@_instruction("sltiu rd rs1 imm12 14..12=3 6..2=0x04 1..0=3")
def sltiu(rs1: Bits, imm12: Bits) -> Bits:
    """Set if less than sign-extended immediate, unsigned."""
    return rs1.ult(imm12.sext(rs1.width)).zext(rs1.width)


@_instruction("xori rd rs1 imm12 14..12=4 6..2=0x04 1..0=3")
def xori(rs1: Bits, imm12: Bits) -> Bits:
    """Exclusive or with immediate."""
    return rs1 ^ imm12.sext(rs1.width)


@_instruction("ori rd rs1 imm12 14..12=6 6..2=0x04 1..0=3")
def ori(rs1: Bits, imm12: Bits) -> Bits:
    """Or with immediate."""
    return rs1 | imm12.sext(rs1.width)


@_instruction("andi rd rs1 imm12 14..12=7 6..2=0x04 1..0=3")
def andi(rs1: Bits, imm12: Bits) -> Bits:
    """And with immediate."""
    return rs1 & imm12.sext(rs1.width)


@_instruction("slli rd rs1 31..25=0 shamtw 14..12=1 6..2=0x04 1..0=3")
def slli(rs1: Bits, shamtw: Bits) -> Bits:
    """Shift left logical by immediate."""
    return rs1.shl_var(shamtw)


@_instruction("srli rd rs1 31..25=0 shamtw 14..12=5 6..2=0x04 1..0=3")
def srli(rs1: Bits, shamtw: Bits) -> Bits:
    """Shift right logical by immediate."""
    return rs1.shr_var(shamtw)


@_instruction("srai rd rs1 31..25=32 shamtw 14..12=5 6..2=0x04 1..0=3")
def srai(rs1: Bits, shamtw: Bits) -> Bits:
    """Shift right arithmetic by immediate."""
    return rs1.sar_var(shamtw)


@_instruction("add rd rs1 rs2 31..25=0 14..12=0 6..2=0x0C 1..0=3")
def add(rs1: Bits, rs2: Bits) -> Bits:
    """Add."""
    return rs1 + rs2


@_instruction("sub rd rs1 rs2 31..25=32 14..12=0 6..2=0x0C 1..0=3")
def sub(rs1: Bits, rs2: Bits) -> Bits:
    """Subtract."""
    return rs1 - rs2


@_instruction("sll rd rs1 rs2 31..25=0 14..12=1 6..2=0x0C 1..0=3")
def sll(rs1: Bits, rs2: Bits) -> Bits:
    """Shift left logical."""
    return rs1.shl_var(_amount(rs2))


@_instruction("slt rd rs1 rs2 31..25=0 14..12=2 6..2=0x0C 1..0=3")
def slt(rs1: Bits, rs2: Bits) -> Bits:
    """Set if less than, signed."""
    return rs1.slt(rs2).zext(rs1.width)


@_instruction("sltu rd rs1 rs2 31..25=0 14..12=3 6..2=0x0C 1..0=3")
def sltu(rs1: Bits, rs2: Bits) -> Bits:
    """Set if less than, unsigned."""
    return rs1.ult(rs2).zext(rs1.width)


@_instruction("xor rd rs1 rs2 31..25=0 14..12=4 6..2=0x0C 1..0=3")
def xor(rs1: Bits, rs2: Bits) -> Bits:
    """Exclusive or."""
    return rs1 ^ rs2


@_instruction("srl rd rs1 rs2 31..25=0 14..12=5 6..2=0x0C 1..0=3")
def srl(rs1: Bits, rs2: Bits) -> Bits:
    """Shift right logical."""
    return rs1.shr_var(_amount(rs2))


@_instruction("sra rd rs1 rs2 31..25=32 14..12=5 6..2=0x0C 1..0=3")
def sra(rs1: Bits, rs2: Bits) -> Bits:
    """Shift right arithmetic."""
    return rs1.sar_var(_amount(rs2))


@_instruction("or rd rs1 rs2 31..25=0 14..12=6 6..2=0x0C 1..0=3")
def or_(rs1: Bits, rs2: Bits) -> Bits:
    """Or."""
    return rs1 | rs2


@_instruction("and rd rs1 rs2 31..25=0 14..12=7 6..2=0x0C 1..0=3")
def and_(rs1: Bits, rs2: Bits) -> Bits:
    """And."""
    return rs1 & rs2


@_instruction("fence fm pred succ rs1 14..12=0 rd 6..2=0x03 1..0=3")
def fence() -> Effects:
    """Order memory accesses; a single in-order hart needs to do nothing."""
    return Effects()


@_instruction("ecall 11..7=0 19..15=0 31..20=0x000 14..12=0 6..2=0x1C 1..0=3")
def ecall() -> Effects:
    """Call the host."""
    return Effects(host="ecall")


@_instruction("ebreak 11..7=0 19..15=0 31..20=0x001 14..12=0 6..2=0x1C 1..0=3")
def ebreak() -> Effects:
    """Stop; the host takes over."""
    return Effects(host="ebreak")
