"""Extrapolation: long messages from three shorter ones that grow by equal increments.

What is counted for n, n + p and n + 2p bytes must grow by the same from each to the next; then the
whole message counts as much more as it is longer. n leaves the remainder of the message modulo p,
so that the last block and the padding are the same; it is no less than a buffer holds, so that
what is filled only once has been filled, and so long that stating sizes takes as many instructions
as in programs for more.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import workloads
from hw.coprocessors import engines
from hw.coprocessors.parameters import WORD_BYTES, Coprocessor
from workloads import Workload
from workloads.coprocessor_driver import algorithms_of
from workloads.driver_text import MOST_REPEATED

LONGEST = 4096
"""Bytes of a message up to which it is run whole."""
LEAST = 128
"""Bytes that loops over a message move in one iteration at most; the period is a multiple."""
LONG_CONSTANT = 2048
"""Bytes from which on a program needs two instructions to state a size or an offset."""
MOST_PERIODS = 3
"""Periods that are tried."""


@dataclass(frozen=True)
class Sizes:
    """Which messages are run for one that is not.

    Attributes:
        bytes: Its size.
        first: The shortest that is run.
        period: Bytes from each to the next.
    """

    bytes: int
    first: int
    period: int

    @property
    def run(self) -> tuple[int, int, int]:
        """The sizes that are run."""
        return (self.first, self.first + self.period, self.first + 2 * self.period)

    @property
    def text(self) -> str:
        """Words for people."""
        a, b, c = self.run
        return f"from {a:,}, {b:,} and {c:,} bytes, which grow by equal increments"


def shorter_sizes(
    workload: Workload, kernel: str, unroll: int | str, coprocessor: Coprocessor | None
) -> Iterator[Sizes]:
    """Yield sizes to run instead of a long message, the shortest period first.

    Nothing is yielded for a message of at most `LONGEST` bytes, and no sizes that together are as
    long as the message itself.

    Args:
        workload: What is run.
        kernel: Its variant.
        unroll: Of the compiler; periods of driver programs are multiples of what a loop moves.
        coprocessor: What does it, if not a program alone.
    """
    size = workload.message_bytes
    if size <= LONGEST or not workloads.is_sized(workload.name):
        return
    if coprocessor is None:
        period, filled = math.lcm(_block_bytes(workload), LEAST), LONG_CONSTANT
    else:
        repeat = MOST_REPEATED if unroll == "full" else min(int(unroll), MOST_REPEATED)
        capacity = coprocessor.buffer_words * WORD_BYTES
        burst = coprocessor.burst_beats * coprocessor.transfer_bits // 8
        used = algorithms_of(workload.name, kernel)
        blocks = [engines.algorithm(name).block_bytes for name in used]
        period = math.lcm(*blocks, repeat * WORD_BYTES, burst)
        if coprocessor.double_buffer:
            period *= 2
        else:
            period = math.lcm(period, capacity)
        filled = max(capacity, LONG_CONSTANT)
    for times in range(1, MOST_PERIODS + 1):
        step = times * period
        first = size % step + step * max(1, -(-filled // step))
        sizes = Sizes(size, first, step)
        if sum(sizes.run) < size:
            yield sizes


def _block_bytes(workload: Workload) -> int:
    """Bytes by which a message grows for one more of the workload's units."""
    size, units = workload.message_bytes, workload.units
    for period in range(8, size // 4, 8):
        try:
            fewer = [workloads.get(workload.name, size - i * period).units for i in (1, 2, 4)]
        except ValueError:  # no whole blocks
            continue
        if [units - n for n in fewer] == [1, 2, 4]:
            return period
    return size


def extrapolated(sizes: Sizes, ran: Sequence[Mapping[str, int]]) -> dict[str, int] | None:
    """Counts for the whole message; None where the increments are not equal."""
    first, second, third = ran
    steps = (sizes.bytes - sizes.first) // sizes.period
    found = {}
    for name, start in first.items():
        growth = second[name] - start
        if third[name] - second[name] != growth:
            return None
        found[name] = start + steps * growth
    return found
