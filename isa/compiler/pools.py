"""Pools: registers that a kernel may use, by what using one costs (RISC-V calling convention)."""

from __future__ import annotations

from isa.registers import NUMBERS

ARGUMENTS = tuple(NUMBERS[f"a{i}"] for i in range(8))
"""Hold the arguments at entry."""
TEMPORARY = (*ARGUMENTS, *(NUMBERS[f"t{i}"] for i in range(7)))
"""Free to change."""
SAVED = (*(NUMBERS[f"s{i}"] for i in range(12)), NUMBERS["ra"])
"""To be saved before and restored after use."""
STACK_POINTER = NUMBERS["sp"]
