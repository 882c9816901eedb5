"""Disassembler: words to text that the assembler reads back to the same words.

A compressed instruction is shown as the one it stands for; the assembler compresses it again. (It
compresses what other tools may have left long, too; such code does not come back word for word.)
"""

from __future__ import annotations

from isa.instruction_set import InstructionSet
from isa.program import Program, walk
from isa.registers import NAMES
from isa.syntax import OFFSETS, SIGNED, operands


def disassemble_word(word: int, instructions: InstructionSet) -> str:
    """One instruction; a word that encodes none is shown as `.word`, 16 bits as `.half`."""
    decoded = instructions.decode(word)
    if decoded is None:
        return f".half {word:#06x}" if instructions.size(word) == 2 else f".word {word:#010x}"
    instruction, values = decoded
    widths = {i.name: i.width for i in instruction.encoding.immediates}

    def immediate(name: str) -> str:
        value = values[name]
        if name in SIGNED and value >> widths[name] - 1:
            value -= 1 << widths[name]
        return str(value * OFFSETS.get(name, 1))

    parts = []
    for name in operands(instruction):
        if name == "imm12(rs1)":
            parts.append(f"{immediate('imm12')}({NAMES[values['rs1']]})")
        elif name in instruction.encoding.registers:
            parts.append(NAMES[values[name]])
        else:
            parts.append(immediate(name))
    return f"{instruction.name} {', '.join(parts)}".rstrip()


def disassemble(program: Program, instructions: InstructionSet) -> str:
    """The whole program, with symbols, addresses and the comments of its compiler."""
    labels: dict[int, list[str]] = {}
    for name, address in program.symbols.items():
        labels.setdefault(address, []).append(name)
    lines = []
    for pc, word in walk(program, instructions):
        lines += [f"{label}:" for label in labels.get(pc, ())]
        text = f"    {disassemble_word(word, instructions)}"
        comment = program.comments.get(pc)
        lines.append(f"{text:<40}# {pc:#06x} {comment or ''}".rstrip())
    return "\n".join(lines) + "\n"
