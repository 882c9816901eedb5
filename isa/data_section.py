"""Data section: what assembly places into data memory."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

SIZES = {".byte": 1, ".half": 2, ".word": 4, ".dword": 8}
"""Bytes of each number that a directive places."""
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "\\": "\\", '"': '"'}


@dataclass
class DataSection:
    """Bytes placed one after the other.

    Attributes:
        base: Address of the first byte.
        content: The bytes so far.
        symbols: Addresses by label.
    """

    base: int
    content: bytearray = field(default_factory=bytearray)
    symbols: dict[str, int] = field(default_factory=dict)

    @property
    def end(self) -> int:
        """Address of the next byte."""
        return self.base + len(self.content)

    def place(self, directive: str, rest: str) -> None:
        """Add what a directive says: numbers, a string, zeros, or bytes up to an alignment.

        Raises:
            ValueError: The directive is unknown or its operands are wrong.
        """
        if directive in SIZES:
            size = SIZES[directive]
            for text in rest.split(","):
                value = self._number(text)
                if not -(1 << 8 * size - 1) <= value < 1 << 8 * size:
                    raise ValueError(f"value must fit {8 * size} bits, not {value}")
                self.content += (value % (1 << 8 * size)).to_bytes(size, "little")
        elif directive in (".ascii", ".asciz", ".string"):
            match = _STRING.fullmatch(rest.strip())
            if match is None:
                raise ValueError(f"takes a string in double quotes, not {rest.strip()!r}")
            text = re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[1]), match[1])
            self.content += text.encode() + (b"" if directive == ".ascii" else b"\0")
        elif directive in (".zero", ".space", ".skip"):
            self.content += bytes(self._count(rest, 1 << 24))
        elif directive in (".align", ".p2align", ".balign"):
            count = self._count(rest, 12 if directive != ".balign" else 4096)
            step = count if directive == ".balign" else 1 << count
            self.content += bytes(-len(self.content) % max(step, 1))
        else:
            known = ", ".join((*SIZES, ".ascii", ".asciz", ".zero", ".align"))
            raise ValueError(f"data must be placed by one of {known}, not {directive}")

    def _number(self, text: str) -> int:
        text = text.strip()
        try:
            return int(text, 0)
        except ValueError:
            if text in self.symbols:
                return self.symbols[text]
            raise ValueError(f"value must be an integer or a label above, not {text!r}") from None

    def _count(self, text: str, most: int) -> int:
        value = self._number(text)
        if not 0 <= value <= most:
            raise ValueError(f"count must be 0 to {most}, not {value}")
        return value
