"""Padding: a message copied into a stack buffer with constant bytes behind it."""

from __future__ import annotations

from isa.bits import Bits, concat, const
from isa.kernel import Builder, Index, Pointer


def padded_copy(
    k: Builder, message: Pointer, size: int, tail: bytes, name: str = "padded"
) -> Pointer:
    """Copy `size` bytes and append `tail`, so that one loop can process every block alike.

    Args:
        k: Builder.
        message: Buffer of `size` bytes.
        size: Bytes to copy.
        tail: What follows them; size + its length must be a multiple of 8.
        name: Of the buffer, unique in the kernel.

    Returns:
        A stack buffer of size + len(tail) bytes.
    """
    step = k.xlen // 8
    target = k.scratch(name, size + len(tail))

    def copy(i: Index) -> tuple[Bits, ...]:
        k.store(target, step * i, k.load(message, step * i, k.xlen))
        return ()

    whole = size // step * step
    k.loop(whole // step, copy, unroll=4)
    rest = [k.load(message, whole + i, 8).slice(0, 8) for i in range(size - whole)]
    chunk = rest + [const(b, 8) for b in tail[: -size % step]] if rest else []
    if chunk:
        k.store(target, whole, concat(*reversed(chunk)))
    for start in range(whole + len(chunk), size + len(tail), step):
        constant = tail[start - size : start - size + step]
        k.store(target, start, const(int.from_bytes(constant, "little"), k.xlen))
    return target
