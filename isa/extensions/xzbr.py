"""Zbr of the withdrawn draft: steps of the CRC-32 and CRC-32C checksums.

The name is the one Spike used for it. Both polynomials are reflected: bit 0 of a register is the
coefficient of the highest power.
"""

from __future__ import annotations

from isa.bits import Bits, const, mux
from isa.instruction import Extension

EXTENSION = Extension(
    "xzbr",
    source="RISC-V Bitmanip Extension draft 0.94 (2021), chapter 2, Zbr; encodings as in "
    "riscv/riscv-opcodes@24677d7 opcodes-rv32b and opcodes-rv64b",
)
POLYNOMIALS = {"crc32": 0xEDB88320, "crc32c": 0x82F63B78}
"""IEEE 802.3 and Castagnoli, reflected."""
_STEPS = {"b": 8, "h": 16, "w": 32, "d": 64}


def _reduced(x: Bits, polynomial: int, steps: int) -> Bits:
    """The register after so many bits have been shifted out and divided."""
    for _ in range(steps):
        divisor = mux(x.bit(0), const(polynomial, x.width), const(0, x.width))
        x = x >> 1 ^ divisor
    return x


for _group, (_name, _polynomial) in enumerate(POLYNOMIALS.items()):
    for _size, (_letter, _steps) in enumerate(_STEPS.items()):
        _code = 0x610 + 8 * _group + _size
        EXTENSION.declare(
            f"{_name}.{_letter} rd rs1 31..20={_code} 14..12=1 6..2=0x04 1..0=3",
            lambda rs1, polynomial=_polynomial, steps=_steps: _reduced(rs1, polynomial, steps),
            ("rs1",),
            xlens=(64,) if _letter == "d" else None,
        )
