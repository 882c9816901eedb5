"""Zkn: the bundle for the NIST algorithms."""

from __future__ import annotations

from isa.extensions import zbkb, zbkc, zbkx, zknd, zkne, zknh
from isa.instruction import Extension

EXTENSION = Extension("zkn", source="RISC-V Cryptography Extensions Volume I 1.0.1, 2.11")
EXTENSION.include(
    zbkb.EXTENSION, zbkc.EXTENSION, zbkx.EXTENSION, zknd.EXTENSION, zkne.EXTENSION, zknh.EXTENSION
)
