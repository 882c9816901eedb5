"""Compute: what a co-processor makes of a message, in plain Python."""

from __future__ import annotations

from hw.coprocessors import engines
from hw.coprocessors.engines.engine import Algorithm, Operation

__all__ = ["block", "blocks", "compute", "output_size"]


def blocks(algorithm: Algorithm, size: int) -> int:
    """Number of blocks that a message of `size` bytes is processed in.

    At least one where only the last block has an output.
    """
    behind = len(algorithm.padding.tail(size, algorithm.block_bytes)) if algorithm.padding else 0
    count = -(-(size + behind) // algorithm.block_bytes)
    return count if algorithm.per_block else max(1, count)


def output_size(algorithm: Algorithm, size: int, wanted: int) -> int:
    """Bytes of output for a message of `size` bytes; `wanted` of extendable algorithms."""
    if algorithm.extendable:
        return wanted
    return algorithm.output_bytes * (blocks(algorithm, size) if algorithm.per_block else 1)


def block(algorithm: Algorithm, message: bytes | bytearray, size: int, number: int) -> bytes:
    """Return a block as the engine gets it, padded.

    Args:
        algorithm: Algorithm.
        message: The message, as far as the block reaches at least; what is behind it is ignored.
        size: Its bytes.
        number: Number of the block from 0.
    """
    length = algorithm.block_bytes
    first = number * length
    content = bytes(message[first : min(size, first + length)])
    if len(content) < length and algorithm.padding is not None:
        content += algorithm.padding.tail(size, length)[max(0, first - size) :][:length]
    return content[:length].ljust(length, b"\0")


def compute(name: str, message: bytes, key: bytes = b"", output_length: int = 0) -> bytes:
    """Return the output for a message.

    Args:
        name: Algorithm.
        message: Message; where the algorithm does not pad it, zeros fill its last block.
        key: Key of a block cipher.
        output_length: Bytes wanted of an extendable algorithm.
    """
    engine = engines.engine_of(name)
    algorithm = engine.algorithms[name]
    state = engine.initial(name)
    if algorithm.key_bytes:
        state = engine.step(name, state, key, Operation.KEY)
    output = bytearray()
    for number in range(blocks(algorithm, len(message))):
        data = block(algorithm, message, len(message), number)
        state = engine.step(name, state, data)
        if algorithm.per_block:
            output += engine.output(name, state)
    if not algorithm.per_block:
        output += engine.output(name, state)
    wanted = output_size(algorithm, len(message), output_length)
    while len(output) < wanted:
        state = engine.step(name, state, b"", Operation.SQUEEZE)
        output += engine.output(name, state)
    return bytes(output[:wanted])
