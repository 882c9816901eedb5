"""AES by single bytes: variant V3 of the TCHES 2021 comparison (RV32), from which Zkne came."""

from __future__ import annotations

from isa.extensions import zknd, zkne
from isa.instruction import Extension

EXTENSION = Extension(
    "xaesv3",
    source="Marshall, Newell, Page, Saarinen, Wolf: The design of scalar AES instruction set "
    "extensions for RISC-V, TCHES 2021(1), ISE V3; encodings of scarv/aes-risc-pipeline@c7d190c",
    xlens=(32,),
)

for _line, _meaning in (
    ("saes.v3.encs rd rs1 rs2 bs 29..25=4 14..12=0b111 6..0=0xb", zkne.aes32esi),
    ("saes.v3.encsm rd rs1 rs2 bs 29..25=3 14..12=0b111 6..0=0xb", zkne.aes32esmi),
    ("saes.v3.decs rd rs1 rs2 bs 29..25=2 14..12=0b111 6..0=0xb", zknd.aes32dsi),
    ("saes.v3.decsm rd rs1 rs2 bs 29..25=1 14..12=0b111 6..0=0xb", zknd.aes32dsmi),
):
    EXTENSION.declare(_line, _meaning, ("rs1", "rs2", "bs"))
