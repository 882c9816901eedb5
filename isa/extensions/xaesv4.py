"""AES by half states: variant V4 of the TCHES 2021 comparison (RV64), from which Zkne came."""

from __future__ import annotations

from isa.extensions import zknd, zkne
from isa.instruction import Extension

EXTENSION = Extension(
    "xaesv4",
    source="Marshall, Newell, Page, Saarinen, Wolf: The design of scalar AES instruction set "
    "extensions for RISC-V, TCHES 2021(1), ISE V4; encodings of scarv/aes-risc-pipeline@c7d190c",
    xlens=(64,),
)

EXTENSION.declare(
    "saes.v4.ks1 rd rs1 rcon 31..25=9 24=0 14..12=0b110 6..0=0xb",
    zknd.aes64ks1i,
    ("rs1", "rcon"),
    fields={"rcon": (23, 20)},
)
EXTENSION.declare(
    "saes.v4.imix rd rs1 31..25=11 24..20=0 14..12=0b110 6..0=0xb", zknd.aes64im, ("rs1",)
)
for _line, _meaning in (
    ("saes.v4.ks2 rd rs1 rs2 31..25=10 14..12=0b111 6..0=0xb", zknd.aes64ks2),
    ("saes.v4.encsm rd rs1 rs2 31..25=12 14..12=0b111 6..0=0xb", zkne.aes64esm),
    ("saes.v4.encs rd rs1 rs2 31..25=14 14..12=0b111 6..0=0xb", zkne.aes64es),
    ("saes.v4.decsm rd rs1 rs2 31..25=16 14..12=0b111 6..0=0xb", zknd.aes64dsm),
    ("saes.v4.decs rd rs1 rs2 31..25=18 14..12=0b111 6..0=0xb", zknd.aes64ds),
):
    EXTENSION.declare(_line, _meaning, ("rs1", "rs2"))
