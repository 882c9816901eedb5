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
    """Code at `TEXT_BASE` and a data image at `DATA_BASE`.

    A kernel program starts with `jal ra, kernel` and `ebreak`; arguments are preset in a0, a1, ...

    Attributes:
        words: 32-bit instruction words.
        data: Initial bytes of data memory, constant tables of the kernel.
        symbols: Addresses by name; `kernel` is the entry.
        comments: What the instruction at an address computes, for people.
        stack_bytes: Most stack in use.
        report: Figures of the compiler, such as spills and register pressure.
    """

    words: tuple[int, ...]
    data: bytes = b""
    symbols: Mapping[str, int] = field(default_factory=dict)
    comments: Mapping[int, str] = field(default_factory=dict)
    stack_bytes: int = 0
    report: Mapping[str, int] = field(default_factory=dict)

    @property
    def entry(self) -> int:
        """Address of the kernel, `TEXT_BASE` where no symbol names it."""
        return self.symbols.get("kernel", TEXT_BASE)

    @property
    def code_bytes(self) -> int:
        """Bytes of code from the entry to the end; the calling stub is not counted."""
        return 4 * len(self.words) - (self.entry - TEXT_BASE)

    @property
    def data_bytes(self) -> int:
        """Bytes of constant data."""
        return len(self.data)

    @cached_property
    def digest(self) -> str:
        """Digest of code and data."""
        digest = hashlib.blake2b(digest_size=16)
        digest.update(b"".join(w.to_bytes(4, "little") for w in self.words))
        digest.update(b"|" + self.data)
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
        )
