"""Assembly syntax: which operands an instruction is written with, in which order.

Loads, stores and `jalr` are written `lw rd, imm(rs1)`; branches and jumps take a label or a byte
offset; CSR instructions name the register second, as the manual does; everything else lists `rd`,
the source registers, then the immediates.
"""

from __future__ import annotations

from isa.instruction import Instruction

OFFSETS = {"bimm12": 2, "jimm20": 2}
"""Immediates written in bytes that are encoded divided by this."""

SIGNED = ("imm12", "bimm12", "jimm20")
"""Immediates written with a sign."""


def operands(instruction: Instruction) -> tuple[str, ...]:
    """Operand names in the order written; `imm12(rs1)` is one operand."""
    registers = [r for r in ("rd", "rs1", "rs2", "rs3") if r in instruction.encoding.registers]
    immediates = list(instruction.immediates)
    effects = instruction.effects(instruction.xlens[0])
    addressed = effects.load or effects.store or (effects.next_pc and "imm12" in immediates)
    if addressed and "rs1" in registers and "imm12" in immediates:
        value = "rs2" if effects.store else "rd"
        return (value, "imm12(rs1)")
    if not instruction.parameters:
        return ("rd",) if effects.command and effects.command.has_result else ()
    if "csr" in immediates:  # the manual puts it second
        sources = [o for o in (*registers, *immediates) if o not in ("rd", "csr")]
        return ("rd", "csr", *sources)
    return (*registers, *immediates)
