"""Retired: what leaves a pipeline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import pyrtl

__all__ = ["Retired"]

Wire: TypeAlias = pyrtl.WireVector


@dataclass(frozen=True)
class Retired:
    """The instruction that leaves the pipeline in a cycle, and the register it writes.

    Attributes:
        valid: 1 bit.
        pc: Its address.
        writes: 1 bit, it writes a register.
        rd: The register, 5 bits.
        value: What it writes, xlen bits.
    """

    valid: Wire
    pc: Wire
    writes: Wire
    rd: Wire
    value: Wire
