"""Hex file: words of code as `$readmemh` of Verilog reads them, from address 0.

Numbers of eight digits are words; `//` and `/* */` start comments, `@` and a number the index of
the next word. Some tools write the bytes of a word in the order of memory; a file is read so where
more of its words are instructions that way. As nothing else can end a program without host calls,
a jump to itself does: it is replaced by `ebreak`.
"""

from __future__ import annotations

import re

from isa.instruction_set import InstructionSet
from isa.program import Program

MEMORY_BYTES = 1 << 20
"""Memory from address 0; the code stands in it, and the stack grows down from its end."""
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_WORD = re.compile(r"[0-9a-fA-F]{1,8}")


class HexError(ValueError):
    """A hex file cannot be read; the message starts with the line."""


def read_hex(text: str, instructions: InstructionSet) -> Program:
    """Read a hex file as a program that starts at 0.

    Raises:
        HexError: Something is no word of up to eight digits, or lies beyond memory.
    """
    text = _COMMENT.sub(lambda m: "\n" * m[0].count("\n"), text)
    placed: dict[int, int] = {}
    position = 0
    for number, line in enumerate(text.splitlines(), 1):
        for item in line.split():
            digits = item.removeprefix("@")
            if not _WORD.fullmatch(digits):
                raise HexError(f"{number}: word must be 1 to 8 hexadecimal digits, not {item!r}")
            if item != digits:
                position = int(digits, 16)
                continue
            if position >= MEMORY_BYTES // 4:
                raise HexError(
                    f"{number}: index of a word must be below {MEMORY_BYTES // 4:#x}, "
                    f"not {position:#x}"
                )
            placed[position] = int(digits, 16)
            position += 1
    if not placed:
        raise HexError("1: file must hold at least one word")
    words = [placed.get(i, 0) for i in range(max(placed) + 1)]
    swapped = [int.from_bytes(w.to_bytes(4, "big"), "little") for w in words]

    def decoded(candidate: list[int]) -> int:
        return sum(instructions.decode(w) is not None for w in candidate)

    if decoded(swapped) > decoded(words):
        words = swapped
    words = [_ended(w, instructions) for w in words]
    image = b"".join(w.to_bytes(4, "little") for w in words)
    return Program(tuple(words), image, data_base=0, memory_bytes=MEMORY_BYTES)


def _ended(word: int, instructions: InstructionSet) -> int:
    """The word, but `ebreak` for a jump to itself."""
    found = instructions.decode(word)
    if found is None or found[0].kind != "jump" or "ebreak" not in instructions:
        return word
    instruction, fields = found
    is_still = instruction.immediates == ("jimm20",) and not fields["jimm20"] and not fields["rd"]
    return instructions.by_name["ebreak"].encode() if is_still else word
