"""Zks: the bundle for the ShangMi algorithms."""

from __future__ import annotations

from isa.extensions import zbkb, zbkc, zbkx, zksed, zksh
from isa.instruction import Extension

EXTENSION = Extension("zks", source="RISC-V Cryptography Extensions Volume I 1.0.1, 2.12")
EXTENSION.include(zbkb.EXTENSION, zbkc.EXTENSION, zbkx.EXTENSION, zksed.EXTENSION, zksh.EXTENSION)
