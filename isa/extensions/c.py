"""C: compressed instructions; without floating point they are those of Zca."""

from __future__ import annotations

from isa.extensions import zca
from isa.instruction import Extension

EXTENSION = Extension("c", source="RISC-V Unprivileged ISA 20240411, ch. 27 (C 2.0)")
EXTENSION.include(zca.EXTENSION)
