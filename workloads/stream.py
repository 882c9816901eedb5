"""Stream: a message added to a key stream that stands in a stack buffer."""

from __future__ import annotations

from isa.bits import Bits, const
from isa.kernel import Builder, Index, Pointer
from workloads.words import load_word


def add_message(
    k: Builder,
    stream: Pointer,
    offset: int,
    source: Pointer,
    target: Pointer,
    size: int,
    *,
    keep_input: bool = False,
) -> int:
    """Replace the key stream by the ciphertext, padded with zeros to whole blocks of 16 bytes.

    Args:
        k: Builder.
        stream: Buffer with the key stream.
        offset: Where it starts; the ciphertext takes its place.
        source: The message.
        target: Where its sum with the key stream goes.
        size: Bytes of the message.
        keep_input: The message is the ciphertext, not the sum.

    Returns:
        Offset of the end of the padding.
    """

    def word(i: Index) -> tuple[Bits, ...]:
        given = load_word(k, source, 4 * i)
        mixed = load_word(k, stream, 4 * i + offset) ^ given
        k.store(stream, 4 * i + offset, given if keep_input else mixed)
        k.store(target, 4 * i, mixed)
        return ()

    k.loop(size // 4, word, unroll=4)
    for i in range(size // 4 * 4, size):
        given = k.load(source, i, 8).slice(0, 8)
        mixed = k.load(stream, offset + i, 8).slice(0, 8) ^ given
        k.store(stream, offset + i, given if keep_input else mixed)
        k.store(target, i, mixed)
    end = offset + (size + 15) // 16 * 16
    for i in range(offset + size, end):
        k.store(stream, i, const(0, 8))
    return end
