"""Merkle-Damgård hashes: workloads of a block function and of a message, from a compression.

Words of a message are big-endian; padding is a 1 bit, zeros and the length in bits.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from isa.bits import Bits, const
from isa.kernel import Builder, Index, Pointer
from workloads import register
from workloads.long import load_long, store_long
from workloads.padding import padded_copy
from workloads.words import swapped
from workloads.workload import Buffer, Kernel, Values, Vector, Workload

Compression = Callable[[Builder, Pointer, Pointer, "Index | int"], None]
"""Kernel of one block: builder, state (updated in memory), message, offset of the block."""

LARGEST = 65_536
"""Largest message in bytes; one that does not fit data memory can only be extrapolated."""


@dataclass(frozen=True)
class Hash:
    """A hash function over 16-word blocks.

    Attributes:
        name: Name of the message workload; the block function is `<name>-block`.
        source: Standard.
        word_bytes: 4 or 8.
        initial: Initial state.
        compress: Golden block function on the state and the bytes of a block.
        kernels: Variants: the compression and one line about it.
        examples: Published (message, digest, source), the first of them one block with padding.
        default_bytes: Message size where none is given.
        requires: Mnemonics that a variant cannot be compiled without.
    """

    name: str
    source: str
    word_bytes: int
    initial: tuple[int, ...]
    compress: Callable[[tuple[int, ...], bytes], tuple[int, ...]]
    kernels: Mapping[str, tuple[Compression, str]]
    examples: tuple[tuple[bytes, bytes, str], ...]
    default_bytes: int
    requires: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @property
    def block_bytes(self) -> int:
        """Bytes of a block."""
        return 16 * self.word_bytes

    def padding(self, size: int) -> bytes:
        """What follows a message of `size` bytes."""
        zeros = -(size + 1 + 2 * self.word_bytes) % self.block_bytes
        return b"\x80" + bytes(zeros) + (8 * size).to_bytes(2 * self.word_bytes, "big")

    def digest(self, message: bytes) -> bytes:
        """The hash of a message."""
        data = message + self.padding(len(message))
        state = self.initial
        for i in range(0, len(data), self.block_bytes):
            state = self.compress(state, data[i : i + self.block_bytes])
        return b"".join(s.to_bytes(self.word_bytes, "big") for s in state)

    def pack(self, state: tuple[int, ...]) -> bytes:
        """A state as it stands in memory: little-endian words."""
        return b"".join(s.to_bytes(self.word_bytes, "little") for s in state)

    def unpack(self, data: bytes) -> tuple[int, ...]:
        """Undo `pack`."""
        return struct.unpack(f"<8{'I' if self.word_bytes == 4 else 'Q'}", data)

    def block_workload(self) -> Workload:
        """The block function: state updated by one block."""

        def golden(values: Values) -> dict[str, bytes]:
            state = self.compress(self.unpack(values["state"]), values["block"])
            return {"state": self.pack(state)}

        def kernel(name: str, compression: Compression, summary: str) -> Kernel:
            def build(k: Builder) -> None:
                state, block = k.pointer("state"), k.pointer("block")
                compression(k, state, block, 0)

            return Kernel(name, build, summary, self.requires.get(name, frozenset()))

        message, digest, source = self.examples[0]
        final = tuple(
            int.from_bytes(digest[i : i + self.word_bytes], "big")
            for i in range(0, len(digest), self.word_bytes)
        )
        return Workload(
            f"{self.name}-block",
            self.source,
            (
                Buffer("state", 8 * self.word_bytes, "inout", secret=True),
                Buffer("block", self.block_bytes, "in", secret=True),
            ),
            golden,
            {name: kernel(name, *parts) for name, parts in self.kernels.items()},
            (
                Vector(
                    {
                        "state": self.pack(self.initial),
                        "block": message + self.padding(len(message)),
                    },
                    {"state": self.pack(final)},
                    source,
                ),
            ),
            message_bytes=self.block_bytes,
        )

    def message_workload(self, message_bytes: int) -> Workload:
        """The hash of a message of 1 byte or more, with padding; units are its blocks."""
        if not 1 <= message_bytes <= LARGEST:
            raise ValueError(
                f"message of {self.name} must have 1 to {LARGEST} bytes, not {message_bytes}"
            )
        tail = self.padding(message_bytes)
        blocks = (message_bytes + len(tail)) // self.block_bytes

        def kernel(name: str, compression: Compression, summary: str) -> Kernel:
            def build(k: Builder) -> None:
                message, digest = k.pointer("message"), k.pointer("digest")
                padded = padded_copy(k, message, message_bytes, tail)
                step = k.xlen // 8
                start = self.pack(self.initial)
                for i in range(0, len(start), step):
                    value = int.from_bytes(start[i : i + step], "little")
                    k.store(digest, i, const(value, k.xlen))

                def one_block(i: Index) -> tuple[Bits, ...]:
                    compression(k, digest, padded, self.block_bytes * i)
                    return ()

                k.loop(blocks, one_block, unroll=False)
                self._finish(k, digest)

            return Kernel(name, build, summary, self.requires.get(name, frozenset()))

        return Workload(
            self.name,
            self.source,
            (
                Buffer("message", message_bytes, "in", secret=True),
                Buffer("digest", 8 * self.word_bytes, "out", declassified=True),
            ),
            lambda v: {"digest": self.digest(v["message"])},
            {name: kernel(name, *parts) for name, parts in self.kernels.items()},
            tuple(
                Vector({"message": message}, {"digest": digest}, source)
                for message, digest, source in self.examples
                if len(message) == message_bytes
            ),
            units=blocks,
            message_bytes=message_bytes,
        )

    def _finish(self, k: Builder, digest: Pointer) -> None:
        """Turn the words of the state into big-endian bytes, in place."""
        width = 8 * self.word_bytes
        for i in range(8):
            if width > k.xlen:
                value = load_long(k, digest, 8 * i)
                store_long(k, digest, value.swapped(), 8 * i)
            else:
                word = k.load(digest, self.word_bytes * i, width).slice(0, width)
                k.store(digest, self.word_bytes * i, swapped(word))

    def register(self) -> None:
        """Make both workloads known."""
        register(f"{self.name}-block")(self.block_workload)
        register(self.name, default_bytes=self.default_bytes)(self.message_workload)
