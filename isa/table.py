"""Table: a named constant array that a `lookup` reads, such as an S-box."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Table:
    """A constant array of 2^n entries.

    Attributes:
        name: Identifier; circuits for the table are registered under it.
        width: Width of an entry in bits.
        entries: The values; entry i is read by index i.
    """

    name: str
    width: int
    entries: tuple[int, ...]
    index_width: int = field(init=False, compare=False)
    _hash: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        size = len(self.entries)
        if size < 2 or size & (size - 1):
            raise ValueError(f"length of table {self.name} must be a power of two, not {size}")
        for i, entry in enumerate(self.entries):
            if not 0 <= entry < 1 << self.width:
                raise ValueError(
                    f"entry {i} of table {self.name} must fit {self.width} bits, not {entry:#x}"
                )
        object.__setattr__(self, "index_width", size.bit_length() - 1)
        object.__setattr__(self, "_hash", hash((self.name, self.width, self.entries)))

    def __hash__(self) -> int:
        return self._hash
