"""B: the bundle of Zba, Zbb and Zbs."""

from __future__ import annotations

from isa.extensions import zba, zbb, zbs
from isa.instruction import Extension

EXTENSION = Extension("b", source="RISC-V Unprivileged ISA 20240411, chapter 28 (B 1.0.0)")
EXTENSION.include(zba.EXTENSION, zbb.EXTENSION, zbs.EXTENSION)
