"""Orders of little pressure, against all orders of small blocks."""

from __future__ import annotations

import itertools
import random

import pytest

from isa.compiler import compile_kernel
from isa.compiler.beam import Block, beam
from isa.instruction_set import InstructionSet
from isa.kernel import Builder
from workloads import get


def random_block(seed: int, count: int = 6) -> Block:
    """Items that read some of three values from outside and of those made before."""
    rng = random.Random(seed)
    reads = [
        sorted(rng.sample(range(-3, i), min(i + 3, rng.randrange(1, 4)))) for i in range(count)
    ]
    readers = {v: 0 for read in reads for v in read}
    for i, read in enumerate(reads):
        for v in read:
            readers[v] |= 1 << i
    readers[count - 1] = 1 << count
    before = [sum(1 << v for v in read if v >= 0) for read in reads]
    after = [[i for i in range(count) if before[i] >> j & 1] for j in range(count)]
    makes = [int(i in readers) for i in range(count)]
    return Block(before, after, reads, makes, readers, sum(v < 0 for v in readers))


def peak(block: Block, order: tuple[int, ...]) -> int | None:
    """Most values alive, counted from the definition; None where an order is none."""
    done, most = 0, block.live
    for number in order:
        if block.before[number] & ~done:
            return None
        done |= 1 << number
        made = [v for v in block.readers if v < 0 or done >> v & 1]
        most = max(most, sum(bool(block.readers[v] & ~done) for v in made))
    return most


@pytest.mark.parametrize("seed", range(20))
def test_a_wide_beam_finds_the_least_pressure(seed):
    block = random_block(seed)
    every = itertools.permutations(range(len(block.before)))
    least = min(p for p in (peak(block, order) for order in every) if p is not None)
    order, is_proven = beam(block, 1000, 0)
    assert is_proven
    assert peak(block, tuple(order)) == least


@pytest.mark.parametrize("seed", range(20))
def test_a_limit_tells_whether_an_order_stays_below_it(seed):
    block = random_block(seed)
    every = itertools.permutations(range(len(block.before)))
    least = min(p for p in (peak(block, order) for order in every) if p is not None)
    assert beam(block, 1000, 0, least) == (None, True)
    order, is_proven = beam(block, 1000, 0, least + 1)
    assert is_proven
    assert peak(block, tuple(order)) == least


@pytest.mark.parametrize("seed", range(20, 30))
def test_a_narrow_beam_gives_an_order(seed):
    block = random_block(seed, 40)
    order, is_proven = beam(block, 2, 4)
    assert not is_proven
    assert sorted(order) == list(range(40))
    assert peak(block, tuple(order)) is not None


@pytest.mark.parametrize(
    ("name", "extensions", "count"),
    [("ascon-p6", ("zbkb", "xascon"), 267), ("ascon-p6", ("zbb", "zbkb"), 687)],
)
def test_the_rounds_of_ascon_need_no_saved_register(name, extensions, count):
    """Instructions of lwise's assembly: fifteen registers hold the state and all between."""
    instructions = InstructionSet.of(32, "rv32i", *extensions)

    def build(k: Builder) -> None:
        get(name).kernels["plain"].build(k)

    program = compile_kernel(build, instructions, unroll="full")
    assert program.report["saved_registers"] == 0
    assert program.code_bytes == 4 * count
