"""Zicsr: access to control and status registers, which the host serves.

The registers are not part of the architectural state of `isa`: what `cycle` reads depends on the
timing model. So each access is a host call "csr", and the machine that runs the program answers it
or refuses a register that it does not have.
"""

from __future__ import annotations

from isa.bits import Bits
from isa.instruction import Effects, Extension

EXTENSION = Extension("zicsr", source="RISC-V Unprivileged ISA 20240411, chapter 7 (Zicsr 2.0)")
_instruction = EXTENSION.instruction


@_instruction("csrrw rd rs1 csr 14..12=1 6..2=0x1C 1..0=3")
def csrrw(rs1: Bits, csr: Bits) -> Effects:
    """Read a register, then write rs1."""
    return Effects(host="csr")


@_instruction("csrrs rd rs1 csr 14..12=2 6..2=0x1C 1..0=3")
def csrrs(rs1: Bits, csr: Bits) -> Effects:
    """Read a register, then set the bits that rs1 has set."""
    return Effects(host="csr")


@_instruction("csrrc rd rs1 csr 14..12=3 6..2=0x1C 1..0=3")
def csrrc(rs1: Bits, csr: Bits) -> Effects:
    """Read a register, then clear the bits that rs1 has set."""
    return Effects(host="csr")


@_instruction("csrrwi rd csr zimm5 14..12=5 6..2=0x1C 1..0=3")
def csrrwi(csr: Bits, zimm5: Bits) -> Effects:
    """Read a register, then write an immediate."""
    return Effects(host="csr")


@_instruction("csrrsi rd csr zimm5 14..12=6 6..2=0x1C 1..0=3")
def csrrsi(csr: Bits, zimm5: Bits) -> Effects:
    """Read a register, then set the bits of an immediate."""
    return Effects(host="csr")


@_instruction("csrrci rd csr zimm5 14..12=7 6..2=0x1C 1..0=3")
def csrrci(csr: Bits, zimm5: Bits) -> Effects:
    """Read a register, then clear the bits of an immediate."""
    return Effects(host="csr")
