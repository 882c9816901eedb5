"""Program: machine code, its constant data and what is known about both."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

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
        words: 32-bit instruction words.
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
        return self.text_base + 4 * len(self.words)

    @property
    def data_end(self) -> int:
        """First address beyond data memory; the initial stack pointer."""
        return self.data_base + self.memory_bytes

    def word(self, pc: int) -> int | None:
        """The word at an address, None where there is no instruction."""
        position, remainder = divmod(pc - self.text_base, 4)
        if remainder or not 0 <= position < len(self.words):
            return None
        return self.words[position]

    @property
    def code_bytes(self) -> int:
        """Bytes of code from the entry to the end; the calling stub is not counted."""
        return 4 * len(self.words) - (self.entry - self.text_base)

    @property
    def data_bytes(self) -> int:
        """Bytes of constant data."""
        return len(self.data)

    @cached_property
    def digest(self) -> str:
        """Digest of code, data and their addresses."""
        digest = hashlib.blake2b(digest_size=16)
        digest.update(b"".join(w.to_bytes(4, "little") for w in self.words))
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
                "places": [self.text_base, self.start, self.data_base, self.memory_bytes],
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
