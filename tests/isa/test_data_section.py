from __future__ import annotations

import pytest

from isa.assembler import AssemblyError, assemble
from isa.instruction_set import InstructionSet
from isa.isa_string import instruction_set
from isa.machine import Machine
from isa.program import DATA_BASE

SETS = [InstructionSet.of(32, "rv32i"), instruction_set("rv64imc")]
PROGRAM = """
        .globl _start
        .section .rodata
text:   .asciz "a, b # \\"c\\"\\n"   # a comment
        .align 3
table:  .half 0x1234, -1
        .word table                 // its own address
        .data
        .balign 4
bytes:  .byte 1, 2, 255
        .zero 5
        .text
_start: la a0, text
        lui a1, %hi(table)
        lhu a2, %lo(table)(a1)
        addi a1, a1, %lo(table)
        la a3, bytes
        lbu a4, 2(a3)
        ebreak
"""


@pytest.mark.parametrize("instructions", SETS, ids=["rv32", "rv64c"])
def test_data_are_placed_and_found(instructions: InstructionSet) -> None:
    program = assemble(PROGRAM, instructions)
    text = b'a, b # "c"\n\0'
    table = DATA_BASE + 16
    assert program.data == (
        text.ljust(16, b"\0")
        + b"\x34\x12\xff\xff"
        + table.to_bytes(4, "little")
        + b"\1\2\xff"
        + bytes(5)
    )
    assert (program.symbols["table"], program.symbols["bytes"]) == (table, table + 8)
    x = Machine(instructions, program).run().registers
    assert (x[10], x[11], x[12], x[13], x[14]) == (DATA_BASE, table, 0x1234, table + 8, 255)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (".data\n.byte 256", "2:1: .byte: value must fit 8 bits, not 256"),
        (".data\n.word x", "2:1: .word: value must be an integer or a label above, not 'x'"),
        (".data\n .string hello", "2:2: .string: takes a string in double quotes, not 'hello'"),
        (".data\n.zero -1", "2:1: .zero: count must be 0 to 16777216, not -1"),
        (".data\naddi a0, a0, 1", "2:1: addi: data must be placed by one of .byte, .half, .word, "),
        (
            ".section .init",
            "1:1: .section: section must be .text, .data, .rodata or .bss, not '.in",
        ),
        ("la a0, nowhere", "1:1: lui: label must be defined, not 'nowhere'"),
        (".data\na: .byte 1\n.text\na: nop", "4:1: label 'a' must be defined once"),
    ],
)
def test_bad_data_are_refused(text: str, message: str) -> None:
    with pytest.raises(AssemblyError, match=f"^{message}"):
        assemble(text, SETS[0])
