"""SPARKLE: the extensions TYPE2, TYPE3, TYPE4 and ELL of the lwise project (RV32)."""

from __future__ import annotations

from collections.abc import Callable
from operator import add, sub, xor

from isa.bits import Bits, concat, const, mux
from isa.instruction import Extension

EXTENSION = Extension(
    "xsparkle",
    source="Cheng, Grossschaedl, Marshall, Page, Pham: RISC-V instruction set extensions for "
    "lightweight symmetric cryptography, TCHES 2023(1); scarv/lwise@1a16305 doc/sparkle",
    xlens=(32,),
)
ROTATIONS = ((31, 24), (17, 17), (0, 31), (24, 16))
"""Amounts of the four steps of Alzette (SPARKLE, ToSC 2020 S1)."""
CONSTANTS = (
    *(0xB7E15162, 0xBF715880, 0x38B4DA56, 0x324E7738),
    *(0xBB1185EB, 0x4F7C7B57, 0xCFBFA1C8, 0xC2B3293D),
)
"""Round constants: eight of the first 29 words of the fraction of e, in order."""
_OPERATIONS: dict[str, Callable[[Bits, Bits], Bits]] = {"add": add, "sub": sub, "xor": xor}
_FIXED = {"add": (31, 17, 24), "sub": (31, 17, 24), "xor": (31, 17, 24, 16)}

for _number, (_name, _operation) in enumerate(_OPERATIONS.items()):
    EXTENSION.declare(
        f"sparkle.{_name}rori rd rs1 rs2 imm 31..30={_number} 14..12=7 6..0=0x2b",
        lambda rs1, rs2, imm, operation=_operation: operation(rs1, rs2.rotr_var(imm)),
        ("rs1", "rs2", "imm"),
        fields={"imm": (29, 25)},
    )

for _number, (_name, _amount) in enumerate((n, a) for n, fixed in _FIXED.items() for a in fixed):
    EXTENSION.declare(
        f"sparkle.{_name}ror.{_amount} rd rs1 rs2 31..30=1 29..25={_number} 14..12=7 6..0=0x7b",
        lambda rs1, rs2, operation=_OPERATIONS[_name], amount=_amount: operation(
            rs1, rs2.rotr(amount)
        ),
        ("rs1", "rs2"),
    )


@EXTENSION.instruction("sparkle.ell rd rs1 rs2 31..25=2 14..12=7 6..0=0x7b")
def ell(rs1: Bits, rs2: Bits) -> Bits:
    """The map l of the linear layer, of rs1 ^ rs2."""
    x = rs1 ^ rs2
    return concat(x.slice(0, 16), x.slice(16, 16) ^ x.slice(0, 16))


def _constant(imm: Bits) -> Bits:
    chosen = const(CONSTANTS[0], 32)
    for i, value in enumerate(CONSTANTS[1:], 1):
        chosen = mux(imm.eq(i), const(value, 32), chosen)
    return chosen


@EXTENSION.instruction(
    "sparkle.rcon rd rs1 imm 31..28=0 14..12=6 6..0=0x5b", fields={"imm": (27, 25)}
)
def rcon(rs1: Bits, imm: Bits) -> Bits:
    """Add a round constant."""
    return rs1 ^ _constant(imm)


def _alzette(x: Bits, y: Bits, constant: Bits) -> tuple[Bits, Bits]:
    for first, second in ROTATIONS:
        x = x + y.rotr(first)
        y = y ^ x.rotr(second)
        x = x ^ constant
    return x, y


def _inverse_alzette(x: Bits, y: Bits, constant: Bits) -> tuple[Bits, Bits]:
    for first, second in reversed(ROTATIONS):
        x = x ^ constant
        y = y ^ x.rotr(second)
        x = x - y.rotr(first)
    return x, y


for _way, _box in ((0, _alzette), (2, _inverse_alzette)):
    for _half in (0, 1):
        EXTENSION.declare(
            f"sparkle.whole.{'deci' if _way else 'enci'}.{'xy'[_half]} rd rs1 rs2 imm "
            f"31..28={8 + _way + _half} 14..12=7 6..0=0x5b",
            lambda rs1, rs2, imm, box=_box, half=_half: box(rs1, rs2, _constant(imm))[half],
            ("rs1", "rs2", "imm"),
            fields={"imm": (27, 25)},
        )
