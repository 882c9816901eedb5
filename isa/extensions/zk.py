"""Zk: Zkn and the promise Zkt; the entropy source Zkr, which Zk also names, is out of scope."""

from __future__ import annotations

from isa.extensions import zkn, zkt
from isa.instruction import Extension

EXTENSION = Extension("zk", source="RISC-V Cryptography Extensions Volume I 1.0.1, 2.13")
EXTENSION.include(zkn.EXTENSION, zkt.EXTENSION)
