from __future__ import annotations

import pytest

from isa.hex_file import HexError, read_hex
from isa.instruction_set import InstructionSet
from isa.machine import Machine

SET = InstructionSet.of(32, "rv32i")
PROGRAM = "00500513 // li a0, 5\n00150513 /* addi\n a0, a0, 1 */\n@4 0000006f\n@2 0080006f"


def test_words_run_from_zero() -> None:
    program = read_hex(PROGRAM, SET)
    assert program.words == (0x00500513, 0x00150513, 0x0080006F, 0, 0x00100073)
    run = Machine(SET, program).run()
    assert run.registers[10] == 6
    assert run.read(0, 4) == b"\x13\x05\x50\x00"


def test_bytes_in_the_order_of_memory_are_recognised() -> None:
    assert read_hex("13055000 13051500\n6f000000", SET).words == (0x00500513, 0x00150513, 0x100073)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: file must hold at least one word"),
        ("13\nxyz", "2: word must be 1 to 8 hexadecimal digits, not 'xyz'"),
        ("/* a\n b */ 123456789", "2: word must be 1 to 8 hexadecimal digits, not '123456789'"),
        ("@40000 13", "1: index of a word must be below 0x40000, not 0x40000"),
        ("@", "1: word must be 1 to 8 hexadecimal digits, not '@'"),
    ],
)
def test_bad_text_is_refused(text: str, message: str) -> None:
    with pytest.raises(HexError, match=f"^{message}$"):
        read_hex(text, SET)
