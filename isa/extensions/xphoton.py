"""PHOTON-Beetle: the extension of the lwise project (RV32)."""

from __future__ import annotations

from functools import cache

from isa.bits import Bits, concat, const, lookup, mux
from isa.gf import multiply
from isa.instruction import Extension
from isa.table import Table

EXTENSION = Extension(
    "xphoton",
    source="Cheng, Grossschaedl, Marshall, Page, Pham: RISC-V instruction set extensions for "
    "lightweight symmetric cryptography, TCHES 2023(1); scarv/lwise@1a16305 doc/photon",
    xlens=(32,),
)

SERIAL = (2, 4, 2, 11, 2, 8, 5, 6)
"""Last row of the serial matrix of PHOTON-256, whose eighth power mixes (PHOTON, CRYPTO 2011)."""
_POLYNOMIAL = 0x13


@cache
def sbox() -> Table:
    """The S-box, which is that of PRESENT."""
    return Table("present_sbox", 4, (12, 5, 6, 11, 9, 0, 10, 13, 3, 14, 15, 8, 4, 7, 1, 2))


@cache
def mix() -> tuple[tuple[int, ...], ...]:
    """Rows of the mixing matrix: the serial update, eight times, of each unit vector."""
    columns = []
    for unit in range(8):
        state = [int(i == unit) for i in range(8)]
        for _ in range(8):
            new = 0
            for factor, value in zip(SERIAL, state, strict=True):
                new ^= multiply(factor, value, _POLYNOMIAL)
            state = [*state[1:], new]
        columns.append(state)
    return tuple(zip(*columns, strict=True))


def _times(x: Bits, factor: int) -> Bits:
    """Product of a nibble and a constant."""
    total = const(0, 4)
    for i in range(4):
        total = total ^ mux(x.bit(i), const(multiply(1 << i, factor, _POLYNOMIAL), 4), const(0, 4))
    return total


@EXTENSION.instruction(
    "photon.step rd rs1 rs2 imm 31..28=0 14..12=7 6..0=0x5b", fields={"imm": (27, 25)}
)
def step(rs1: Bits, rs2: Bits, imm: Bits) -> Bits:
    """S-box of nibble imm of rs2 and its share of the mixed column, added to rs1."""
    nibble = rs2.shr_var(concat(imm, const(0, 2))).slice(0, 4)
    t = lookup(sbox(), nibble)
    result = const(0, 32)
    for column in range(8):
        share = concat(*(_times(t, mix()[row][column]) for row in reversed(range(8))))
        result = mux(imm.eq(column), share, result)
    return rs1 ^ result
