"""Zicntr: the counters `cycle`, `time` and `instret`, which the host serves (see zicsr)."""

from __future__ import annotations

from isa.instruction import Extension

EXTENSION = Extension(
    "zicntr",
    source="RISC-V Unprivileged ISA 20240411, chapter 8 (Zicntr 2.0)",
    requires=("zicsr",),
)
