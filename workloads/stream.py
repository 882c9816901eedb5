"""Stream: a message added to a key stream that stands in a stack buffer."""

from __future__ import annotations

from isa.bits import Bits, const
from isa.kernel import Builder, Index, Pointer
from workloads.words import load_word


def add_message(
    k: Builder, stream: Pointer, offset: int, source: Pointer, target: Pointer, size: int
) -> int:
    """Replace the key stream by the ciphertext, padded with zeros to whole blocks of 16 bytes.

    Args:
        k: Builder.
        stream: Buffer with the key stream.
        offset: Where it starts; the ciphertext takes its place.
        source: The message.
        target: Where the ciphertext goes as well.
        size: Bytes of the message.

    Returns:
        Offset of the end of the padding.
    """

    def word(i: Index) -> tuple[Bits, ...]:
        mixed = load_word(k, stream, 4 * i + offset) ^ load_word(k, source, 4 * i)
        k.store(stream, 4 * i + offset, mixed)
        k.store(target, 4 * i, mixed)
        return ()

    k.loop(size // 4, word, unroll=4)
    for i in range(size // 4 * 4, size):
        byte = k.load(stream, offset + i, 8).slice(0, 8) ^ k.load(source, i, 8).slice(0, 8)
        k.store(stream, offset + i, byte)
        k.store(target, i, byte)
    end = offset + (size + 15) // 16 * 16
    for i in range(offset + size, end):
        k.store(stream, i, const(0, 8))
    return end
