"""Intrinsic: the meaning of one instruction applied to operands, for kernels built around it."""

from __future__ import annotations

from functools import cache

from isa.bits import Bits, arg, substitute
from isa.instruction import Instruction
from isa.instruction_set import load_extension
from isa.kernel import UnsupportedKernel


@cache
def _instruction(extension: str, mnemonic: str) -> Instruction:
    return next(i for i in load_extension(extension).instructions if i.name == mnemonic)


def intrinsic(extension: str, mnemonic: str, xlen: int, **operands: Bits) -> Bits:
    """Result of an instruction.

    Args:
        extension: Extension that declares it.
        mnemonic: Its name.
        xlen: Register width in bits.
        operands: rs1, rs2 and immediates by name, each of its width.

    Raises:
        UnsupportedKernel: The instruction does not exist at this register width.
    """
    instruction = _instruction(extension, mnemonic)
    if xlen not in instruction.xlens:
        raise UnsupportedKernel(f"kernel needs {mnemonic}, which RV{xlen} does not have")
    result = instruction.effects(xlen).rd
    assert result is not None
    return substitute(result, {arg(n, v.width): v for n, v in operands.items()})
