"""Iterative: the units of a core that work on one instruction for several cycles, step by step.

A core has them where its parameters give the bits of a step (`isa.core`). Which instructions they
execute follows from the meaning, as that of those declared in M and Zbc.
"""

from __future__ import annotations

from functools import cache

from isa.bits import Bits
from isa.core import PIPELINED, Core
from isa.instruction import Instruction
from isa.instruction_set import load_extension

UNITS = {
    "multiplier": ("m", ("mul", "mulh", "mulhsu", "mulhu", "mulw")),
    "carryless": ("zbc", ("clmul", "clmulh", "clmulr")),
    "divider": (
        "m",
        ("div", "divu", "rem", "remu", "divw", "divuw", "remw", "remuw"),
    ),
}
"""Extension and mnemonics of what each unit does, by the parameter of a core that asks for it."""


@cache
def _operations(xlen: int) -> dict[Bits, tuple[str, str]]:
    found = {}
    for unit, (extension, names) in UNITS.items():
        for instruction in load_extension(extension).instructions:
            if instruction.name in names and xlen in instruction.xlens:
                rd = instruction.effects(xlen).rd
                assert rd is not None
                found[rd] = (unit, instruction.name)
    return found


def operation(instruction: Instruction, xlen: int) -> tuple[str, str] | None:
    """The iterative unit that can execute an instruction, and as what; None if none can."""
    if instruction.kind != "alu" or instruction.state:
        return None
    rd = instruction.effects(xlen).rd
    return None if rd is None else _operations(xlen).get(rd)


def operation_of(core: Core, instruction: Instruction) -> tuple[str, str] | None:
    """The iterative unit of a core that executes an instruction, and as what, if one does."""
    iterative = [u for u in UNITS if getattr(core, u) and getattr(core, u) not in PIPELINED]
    if not iterative:
        return None
    found = operation(instruction, core.xlen)
    return found if found and found[0] in iterative else None


def cycles_of(core: Core, unit: str) -> int:
    """Cycles in EX of what a unit does.

    A product takes a cycle for each step and one to hand it on; a division one more, to make its
    dividend positive.
    """
    steps = -(-core.xlen // int(getattr(core, unit)))
    return steps + (2 if unit == "divider" else 1)
