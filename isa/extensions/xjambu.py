"""TinyJAMBU: the extensions TYPE2 and TYPE3 of the lwise project (RV32)."""

from __future__ import annotations

from isa.bits import Bits, concat
from isa.instruction import Extension

EXTENSION = Extension(
    "xjambu",
    source="Cheng, Grossschaedl, Marshall, Page, Pham: RISC-V instruction set extensions for "
    "lightweight symmetric cryptography, TCHES 2023(1); scarv/lwise@1a16305 doc/jambu",
    xlens=(32,),
)


@EXTENSION.instruction(
    "jambu.fsri rd rs1 rs2 imm 31..30=0 14..12=7 6..0=0x2b", fields={"imm": (29, 25)}
)
def fsri(rs1: Bits, rs2: Bits, imm: Bits) -> Bits:
    """Low half of rs2:rs1 shifted right by immediate."""
    return concat(rs2, rs1).shr_var(imm.zext(6)).slice(0, 32)


for _number, _amount in enumerate((15, 6, 21, 27)):
    EXTENSION.declare(
        f"jambu.fsr.{_amount} rd rs1 rs2 31..25={_number} 14..12=7 6..0=0x7b",
        lambda rs1, rs2, amount=_amount: concat(rs2, rs1).slice(amount, 32),
        ("rs1", "rs2"),
    )
