"""Program: machine code, its constant data and what is known about both."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from isa.instruction_set import InstructionSet

TEXT_BASE = 0
"""Address of the first instruction, which calls the kernel."""
DATA_BASE = 0x10000
"""Lowest address of data memory; one `lui` reaches it."""
DATA_SIZE = 0x20000
"""Bytes of data memory; the stack grows down from its end."""


@dataclass(frozen=True)
class Program:
    """Code and the memory it works in.

    A kernel program stands at the default addresses and starts with `jal ra, kernel` and `ebreak`;
    arguments are preset in a0, a1, ...

    Attributes:
        words: The code, as 32-bit words of memory. Without compressed instructions, each is one
            instruction; `fetch` and `walk` find instructions in any code.
        data: Initial bytes of data memory, constant tables of the kernel.
        symbols: Addresses by name; `kernel` is the entry.
        comments: What the instruction at an address computes, for people.
        stack_bytes: Most stack in use.
        report: Figures of the compiler, such as spills and register pressure.
        text_base: Address of the first word.
        start: Address of the first instruction executed.
        data_base: Lowest address of data memory, a multiple of 8. Data memory may cover the code,
            which is executed from `words` all the same.
        memory_bytes: Size of data memory, a multiple of 8; the stack grows down from its end.
        padding_bytes: Bytes of the last word that are no code, 0 or 2.
    """

    words: tuple[int, ...]
    data: bytes = b""
    symbols: Mapping[str, int] = field(default_factory=dict)
    comments: Mapping[int, str] = field(default_factory=dict)
    stack_bytes: int = 0
    report: Mapping[str, int] = field(default_factory=dict)
    text_base: int = TEXT_BASE
    start: int = TEXT_BASE
    data_base: int = DATA_BASE
    memory_bytes: int = DATA_SIZE
    padding_bytes: int = 0

    def __post_init__(self) -> None:
        for name in ("data_base", "memory_bytes"):
            if getattr(self, name) % 8:
                raise ValueError(f"{name} must be a multiple of 8, not {getattr(self, name):#x}")

    @property
    def entry(self) -> int:
        """Address of the kernel, `start` where no symbol names it."""
        return self.symbols.get("kernel", self.start)

    @property
    def text_end(self) -> int:
        """First address beyond the code."""
        return self.text_base + 4 * len(self.words) - self.padding_bytes

    @property
    def data_end(self) -> int:
        """First address beyond data memory; the initial stack pointer."""
        return self.data_base + self.memory_bytes

    @cached_property
    def code(self) -> bytes:
        """The code as bytes."""
        text = b"".join(w.to_bytes(4, "little") for w in self.words)
        return text[: len(text) - self.padding_bytes]

    @property
    def code_bytes(self) -> int:
        """Bytes of code from the entry to the end; the calling stub is not counted."""
        return self.text_end - self.entry

    @property
    def data_bytes(self) -> int:
        """Bytes of constant data."""
        return len(self.data)

    @cached_property
    def digest(self) -> str:
        """Digest of code, data and their addresses."""
        digest = hashlib.blake2b(digest_size=16)
        digest.update(self.code)
        digest.update(b"|" + self.data)
        places = (self.text_base, self.start, self.data_base, self.memory_bytes)
        if places != (TEXT_BASE, TEXT_BASE, DATA_BASE, DATA_SIZE):
            digest.update(f"|{places}".encode())
        return digest.hexdigest()

    def to_json(self) -> str:
        """Text from which `from_json` rebuilds the program."""
        return json.dumps(
            {
                "words": self.words,
                "data": self.data.hex(),
                "symbols": self.symbols,
                "comments": {str(k): v for k, v in self.comments.items()},
                "stack_bytes": self.stack_bytes,
                "report": self.report,
                "places": [
                    *(self.text_base, self.start),
                    *(self.data_base, self.memory_bytes, self.padding_bytes),
                ],
            }
        )

    @classmethod
    def from_json(cls, text: str) -> Program:
        """Rebuild a program written by `to_json`."""
        raw = json.loads(text)
        return cls(
            tuple(raw["words"]),
            bytes.fromhex(raw["data"]),
            raw["symbols"],
            {int(k): v for k, v in raw["comments"].items()},
            raw["stack_bytes"],
            raw["report"],
            *raw["places"],
        )


def packed(code: bytes) -> tuple[tuple[int, ...], int]:
    """Code as 32-bit words, and the bytes by which the last one is padded."""
    padding = -len(code) % 4
    padded = code + bytes(padding)
    words = (int.from_bytes(padded[i : i + 4], "little") for i in range(0, len(padded), 4))
    return tuple(words), padding


def fetch(program: Program, instructions: InstructionSet, pc: int) -> int | None:
    """The 16 or 32 bits at an address where an instruction of the set could stand, else None."""
    position = pc - program.text_base
    if position % instructions.alignment or position < 0:
        return None
    if instructions.alignment == 4:
        return program.words[position // 4] if position < 4 * len(program.words) else None
    word = int.from_bytes(program.code[position : position + 4], "little")
    size = instructions.size(word)
    if position + size > len(program.code):
        return None
    return word & ((1 << 8 * size) - 1)


def walk(program: Program, instructions: InstructionSet) -> Iterator[tuple[int, int]]:
    """Address and bits of each instruction, in the order of the code."""
    pc = program.text_base
    while (word := fetch(program, instructions, pc)) is not None:
        yield pc, word
        pc += instructions.size(word)
