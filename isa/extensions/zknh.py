"""Zknh: the sigma functions of SHA-256 and SHA-512 (FIPS 180-4, 4.1.2 and 4.1.3)."""

from __future__ import annotations

from isa.bits import Bits, concat
from isa.instruction import Extension

EXTENSION = Extension(
    "zknh", source="RISC-V Cryptography Extensions Volume I, Scalar & Entropy Source 1.0.1, 2.6"
)
_instruction = EXTENSION.instruction


@_instruction("sha256sum0 rd rs1 31..30=0 29..25=0b01000 24..20=0b00000 14..12=1 6..0=0x13")
def sha256sum0(rs1: Bits) -> Bits:
    """SHA-256 Sigma 0 of a word, sign-extended."""
    x = rs1.slice(0, 32)
    return (x.rotr(2) ^ x.rotr(13) ^ x.rotr(22)).sext(rs1.width)


@_instruction("sha256sum1 rd rs1 31..30=0 29..25=0b01000 24..20=0b00001 14..12=1 6..0=0x13")
def sha256sum1(rs1: Bits) -> Bits:
    """SHA-256 Sigma 1 of a word, sign-extended."""
    x = rs1.slice(0, 32)
    return (x.rotr(6) ^ x.rotr(11) ^ x.rotr(25)).sext(rs1.width)


@_instruction("sha256sig0 rd rs1 31..30=0 29..25=0b01000 24..20=0b00010 14..12=1 6..0=0x13")
def sha256sig0(rs1: Bits) -> Bits:
    """SHA-256 sigma 0 of a word, sign-extended."""
    x = rs1.slice(0, 32)
    return (x.rotr(7) ^ x.rotr(18) ^ x >> 3).sext(rs1.width)


@_instruction("sha256sig1 rd rs1 31..30=0 29..25=0b01000 24..20=0b00011 14..12=1 6..0=0x13")
def sha256sig1(rs1: Bits) -> Bits:
    """SHA-256 sigma 1 of a word, sign-extended."""
    x = rs1.slice(0, 32)
    return (x.rotr(17) ^ x.rotr(19) ^ x >> 10).sext(rs1.width)


@_instruction(
    "sha512sum0 rd rs1 31..30=0 29..25=0b01000 24..20=0b00100 14..12=1 6..0=0x13", xlens=(64,)
)
def sha512sum0(rs1: Bits) -> Bits:
    """SHA-512 Sigma 0."""
    return rs1.rotr(28) ^ rs1.rotr(34) ^ rs1.rotr(39)


@_instruction(
    "sha512sum1 rd rs1 31..30=0 29..25=0b01000 24..20=0b00101 14..12=1 6..0=0x13", xlens=(64,)
)
def sha512sum1(rs1: Bits) -> Bits:
    """SHA-512 Sigma 1."""
    return rs1.rotr(14) ^ rs1.rotr(18) ^ rs1.rotr(41)


@_instruction(
    "sha512sig0 rd rs1 31..30=0 29..25=0b01000 24..20=0b00110 14..12=1 6..0=0x13", xlens=(64,)
)
def sha512sig0(rs1: Bits) -> Bits:
    """SHA-512 sigma 0."""
    return rs1.rotr(1) ^ rs1.rotr(8) ^ rs1 >> 7


@_instruction(
    "sha512sig1 rd rs1 31..30=0 29..25=0b01000 24..20=0b00111 14..12=1 6..0=0x13", xlens=(64,)
)
def sha512sig1(rs1: Bits) -> Bits:
    """SHA-512 sigma 1."""
    return rs1.rotr(19) ^ rs1.rotr(61) ^ rs1 >> 6


# On RV32 a 64-bit value is a pair of registers. Sigma 0 and 1 rotate only, so one instruction
# gives either half, the operands swapped; sigma 0 and 1 shift too, so each half has its own.


@_instruction("sha512sum0r rd rs1 rs2 31..30=1 29..25=0b01000 14..12=0 6..0=0x33", xlens=(32,))
def sha512sum0r(rs1: Bits, rs2: Bits) -> Bits:
    """SHA-512 Sigma 0: the half that lies where rs1 does, rs2 being the other half."""
    return sha512sum0(concat(rs2, rs1)).slice(0, 32)


@_instruction("sha512sum1r rd rs1 rs2 31..30=1 29..25=0b01001 14..12=0 6..0=0x33", xlens=(32,))
def sha512sum1r(rs1: Bits, rs2: Bits) -> Bits:
    """SHA-512 Sigma 1: the half that lies where rs1 does, rs2 being the other half."""
    return sha512sum1(concat(rs2, rs1)).slice(0, 32)


@_instruction("sha512sig0l rd rs1 rs2 31..30=1 29..25=0b01010 14..12=0 6..0=0x33", xlens=(32,))
def sha512sig0l(rs1: Bits, rs2: Bits) -> Bits:
    """SHA-512 sigma 0, low half, of rs2:rs1."""
    return sha512sig0(concat(rs2, rs1)).slice(0, 32)


@_instruction("sha512sig0h rd rs1 rs2 31..30=1 29..25=0b01110 14..12=0 6..0=0x33", xlens=(32,))
def sha512sig0h(rs1: Bits, rs2: Bits) -> Bits:
    """SHA-512 sigma 0, high half, of rs1:rs2."""
    return sha512sig0(concat(rs1, rs2)).slice(32, 32)


@_instruction("sha512sig1l rd rs1 rs2 31..30=1 29..25=0b01011 14..12=0 6..0=0x33", xlens=(32,))
def sha512sig1l(rs1: Bits, rs2: Bits) -> Bits:
    """SHA-512 sigma 1, low half, of rs2:rs1."""
    return sha512sig1(concat(rs2, rs1)).slice(0, 32)


@_instruction("sha512sig1h rd rs1 rs2 31..30=1 29..25=0b01111 14..12=0 6..0=0x33", xlens=(32,))
def sha512sig1h(rs1: Bits, rs2: Bits) -> Bits:
    """SHA-512 sigma 1, high half, of rs1:rs2."""
    return sha512sig1(concat(rs1, rs2)).slice(32, 32)
