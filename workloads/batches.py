"""Batches: the blocks of a message, as many at a time as a kernel processes at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from isa.bits import Bits
from isa.kernel import Builder, Index

Body = Callable[..., Sequence[Bits] | None]
"""Takes the number of the first block, how many, and the carried values; returns the next ones."""


def in_batches(
    k: Builder, blocks: int, at_once: int, body: Body, *carried: Bits
) -> tuple[Bits, ...]:
    """Loop over `blocks` blocks, `at_once` a step; what is left over goes in one step more."""

    def step(i: Index, *values: Bits) -> Sequence[Bits] | None:
        return body(at_once * i, at_once, *values)

    values = k.loop(blocks // at_once, step, *carried, unroll=False)
    rest = blocks % at_once
    if rest:
        values = tuple(body(Index.of(blocks - rest), rest, *values) or ())
    return values
