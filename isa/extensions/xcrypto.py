"""XCrypto: the instructions for AES, SHA-256 and SHA-3 (its class 3), RV32.

Those of SHA-3 compute where a lane of the state stands; shamt scales the place to bytes.
"""

from __future__ import annotations

from isa.bits import Bits, lookup
from isa.extensions import xaesv2, zknh
from isa.instruction import Extension
from isa.table import Table

EXTENSION = Extension(
    "xcrypto",
    source="Marshall, Page, Pham: XCrypto, a cryptographic ISE for RISC-V, 1.0.0, class 3; "
    "scarv/xcrypto@9ff3426",
    xlens=(32,),
)
_REMAINDERS = Table("remainder_5", 3, tuple(i % 5 for i in range(64)))

for _line, _meaning in (
    ("xc.aessub.enc rd rs1 rs2 31..25=0x0d 14..12=7 6..0=0x03", xaesv2.sub_enc),
    ("xc.aessub.dec rd rs1 rs2 31..25=0x0f 14..12=7 6..0=0x03", xaesv2.sub_dec),
    ("xc.aesmix.enc rd rs1 rs2 31..25=0x11 14..12=7 6..0=0x03", xaesv2.mix_enc),
    ("xc.aesmix.dec rd rs1 rs2 31..25=0x12 14..12=7 6..0=0x03", xaesv2.mix_dec),
):
    EXTENSION.declare(_line, _meaning, ("rs1", "rs2"))


@EXTENSION.instruction("xc.aessub.encrot rd rs1 rs2 31..25=0x0e 14..12=7 6..0=0x03")
def aessub_encrot(rs1: Bits, rs2: Bits) -> Bits:
    """SubBytes of alternating bytes, rotated left by a byte."""
    return xaesv2.sub_enc(rs1, rs2).rotl(8)


@EXTENSION.instruction("xc.aessub.decrot rd rs1 rs2 31..25=0x10 14..12=7 6..0=0x03")
def aessub_decrot(rs1: Bits, rs2: Bits) -> Bits:
    """InvSubBytes of alternating bytes, rotated left by a byte."""
    return xaesv2.sub_dec(rs1, rs2).rotl(8)


for _number, _meaning_of_one in enumerate(
    (zknh.sha256sig0, zknh.sha256sig1, zknh.sha256sum0, zknh.sha256sum1)
):
    EXTENSION.declare(
        f"xc.sha256.s{_number} rd rs1 31..20={0x0E0 + _number} 14..12=7 6..0=0x03",
        _meaning_of_one,
        ("rs1",),
    )


def _remainder(x: Bits) -> Bits:
    """A value of up to six bits modulo 5, in six bits."""
    return lookup(_REMAINDERS, x).zext(6)


def _index(x: Bits, y: Bits, shamt: Bits) -> Bits:
    """(x mod 5) + 5 (y mod 5), shifted left."""
    row = _remainder(y)
    place = _remainder(x) + row + (row << 2)
    return place.zext(32).shl_var(shamt.zext(5))


for _number, (_name, _step) in enumerate((("xy", 0), ("x1", 1), ("x2", 2), ("x4", 4))):
    EXTENSION.declare(
        f"xc.sha3.{_name} rd rs1 rs2 shamt 29..25={8 + _number} 14..12=7 6..0=0x03",
        lambda rs1, rs2, shamt, step=_step: _index(
            rs1.slice(0, 3).zext(6) + step, rs2.slice(0, 3).zext(6), shamt
        ),
        ("rs1", "rs2", "shamt"),
        fields={"shamt": (31, 30)},
    )


@EXTENSION.instruction(
    "xc.sha3.yx rd rs1 rs2 shamt 29..25=12 14..12=7 6..0=0x03", fields={"shamt": (31, 30)}
)
def sha3_yx(rs1: Bits, rs2: Bits, shamt: Bits) -> Bits:
    """Place of lane (y, 2x + 3y), where step pi moves lane (x, y)."""
    x, y = rs1.slice(0, 3).zext(6), rs2.slice(0, 3).zext(6)
    return _index(y, (x << 1) + y + (y << 1), shamt)
