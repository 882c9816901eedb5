"""Contract of co-processors: what holds for any member of the family, whatever engines it has.

A new engine inherits it by a class with one fixture, `p`, that gives members which hold it.
"""

from __future__ import annotations

import random
from functools import lru_cache

import pytest

from hw.coprocessors import engines
from hw.coprocessors.parameters import Coprocessor
from hw.coprocessors.schedule import schedule
from tests.hw.coprocessors.oracles import VECTORS, expected
from tests.hw.coprocessors.play import Message, Pair, random_message
from tests.hw.traces import icarus_trace, needs_icarus


def message_of(rng: random.Random, algorithm: str, size: int) -> Message:
    found = engines.algorithm(algorithm)
    wanted = rng.randrange(1, 400) if found.extendable else 0
    return Message(algorithm, rng.randbytes(size), rng.randbytes(found.key_bytes), wanted)


@lru_cache(maxsize=1)
def built(p: Coprocessor) -> Pair:
    """Netlist and model, which go on from test to test."""
    return Pair(p)


class Contract:
    """Tests of a member; a subclass has the fixture `p`."""

    lengths = 3
    """Random lengths that each algorithm is tried on."""

    @pytest.fixture
    def pair(self, p: Coprocessor) -> Pair:
        return built(p)

    @pytest.fixture
    def rng(self, p: Coprocessor) -> random.Random:
        return random.Random(str(p))

    def test_vectors(self, p: Coprocessor, pair: Pair) -> None:
        for algorithm in p.algorithms:
            for message, answer in VECTORS.get(algorithm, []):
                assert pair.play(message).hex() == answer

    def test_random_lengths(self, p: Coprocessor, pair: Pair, rng: random.Random) -> None:
        for algorithm in self.lengths * p.algorithms:
            message = random_message(rng, p, 250, algorithm)
            assert pair.play(message) == expected(message), message

    def test_message_that_just_fits_and_just_does_not(
        self, p: Coprocessor, pair: Pair, rng: random.Random
    ) -> None:
        for algorithm in p.algorithms:
            found = engines.algorithm(algorithm)
            padding = len(found.padding.tail(0, 1)) if found.padding else 0
            for size in {found.block_bytes - padding, found.block_bytes - padding + 1}:
                message = message_of(rng, algorithm, size)
                assert pair.play(message) == expected(message), message

    def test_message_longer_than_the_buffer(
        self, p: Coprocessor, pair: Pair, rng: random.Random
    ) -> None:
        algorithm = rng.choice(p.algorithms)
        message = message_of(rng, algorithm, 8 * min(p.buffer_words, 64) + rng.randrange(100))
        assert pair.play(message) == expected(message)

    def test_schedule(self, p: Coprocessor, pair: Pair, rng: random.Random) -> None:
        for algorithm in p.algorithms:
            message = message_of(rng, algorithm, rng.randrange(1, 250))
            before = pair.bench.active_cycles
            pair.play(message)
            found = schedule(p, algorithm, len(message.data), message.wanted)
            assert found.cycles == pair.bench.active_cycles - before
            assert 0 < found.unit_utilisation < 1
            assert max(phase.end for phase in found.phases) == found.cycles

    @pytest.mark.slow
    @needs_icarus
    def test_exported_verilog(self, p: Coprocessor, pair: Pair, rng: random.Random) -> None:
        pair.play(message_of(rng, rng.choice(p.algorithms), 70))
        bench, cycles = pair.bench, 700
        answers = icarus_trace(bench.block, bench.stimuli[:cycles])
        assert answers == bench.answers[:cycles]
