"""Zbkc: carry-less multiplication for cryptography, without `clmulr`."""

from __future__ import annotations

from isa.extensions import zbc
from isa.instruction import Extension

EXTENSION = Extension(
    "zbkc", source="RISC-V Cryptography Extensions Volume I, Scalar & Entropy Source 1.0.1, 2.2"
)
EXTENSION.adopt(zbc.EXTENSION, "clmul", "clmulh")
