"""Function: what an instruction computes, where that is all it does."""

from __future__ import annotations

from isa.bits import Bits
from isa.instruction import REGISTER_SOURCES, Instruction


def function_of(instruction: Instruction, xlen: int) -> Bits | None:
    """Its `rd` if it computes that from registers and immediates and does nothing else."""
    effects = instruction.effects(xlen)
    given = {*REGISTER_SOURCES, *(i.name for i in instruction.encoding.immediates)}
    is_function = (
        instruction.kind == "alu" and not effects.state and set(instruction.parameters) <= given
    )
    return effects.rd if is_function else None


def operands(instruction: Instruction) -> list[str]:
    """The registers that its word names as sources, whether or not the meaning reads them all."""
    return [r for r in REGISTER_SOURCES if r in instruction.encoding.registers]
