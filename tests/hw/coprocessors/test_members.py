"""Members of the family under the contract: each engine, and every value of every parameter."""

from __future__ import annotations

import random

import pytest

from hw.coprocessors import engines
from hw.coprocessors.parameters import CHOICES, Coprocessor
from hw.units import circuit_names
from tests.hw.coprocessors.contract import Contract
from tests.hw.coprocessors.play import random_member

ENGINES = engines.engines()


def traits(p: Coprocessor) -> set[tuple[str, object]]:
    """Parameters and their values, algorithms one by one, as far as they matter."""
    p = p.canonical()
    found = {(name, getattr(p, name)) for name in CHOICES}
    if p.mover == "cpu":
        found -= {("bus_width", p.bus_width), ("burst_length", p.burst_length)}
    if "aes" in p.engine_names():
        found.add(("aes_sbox", p.aes_sbox))
    return found | {("algorithm", name) for name in p.algorithms}


def covering() -> list[Coprocessor]:
    """Few members with one or two algorithms each that have every value of every parameter."""
    rng = random.Random(2026)
    left: set[tuple[str, object]] = {(n, v) for n, values in CHOICES.items() for v in values}
    left |= {("aes_sbox", name) for name in circuit_names("aes_sbox")}
    left |= {("algorithm", name) for name in engines.algorithm_names()}
    members = []
    while left:
        drawn = [random_member(rng, most=2) for _ in range(40)]
        best = max(drawn, key=lambda p: len(left & traits(p)))
        members.append(best)
        left -= traits(best)
    return members


COVERING = covering()


class TestHash(Contract):
    @pytest.fixture
    def p(self) -> Coprocessor:
        return Coprocessor(tuple(ENGINES["hash"].algorithms), buffer_words=16)


class TestAes(Contract):
    @pytest.fixture
    def p(self) -> Coprocessor:
        return Coprocessor(tuple(ENGINES["aes"].algorithms), double_buffer=True, width=32)


class TestKeccak(Contract):
    @pytest.fixture
    def p(self) -> Coprocessor:
        algorithms = tuple(ENGINES["keccak"].algorithms)
        return Coprocessor(algorithms, mover="dma", bus_width=128, bus_latency=3, burst_length=4)


class TestSm4(Contract):
    @pytest.fixture
    def p(self) -> Coprocessor:
        algorithms = tuple(ENGINES["sm4"].algorithms)
        return Coprocessor(algorithms, rounds_per_cycle=4, mover="dma", bus_width=64)


class TestGhash(Contract):
    @pytest.fixture
    def p(self) -> Coprocessor:
        return Coprocessor(tuple(ENGINES["ghash"].algorithms), stages=2, attachment="mapped")


class TestAscon(Contract):
    @pytest.fixture
    def p(self) -> Coprocessor:
        return Coprocessor(tuple(ENGINES["ascon"].algorithms), buffer="bram", double_buffer=True)


class TestOutputOfOneWord(Contract):
    """Eight bytes an operation leave by a bus of half their width."""

    @pytest.fixture
    def p(self) -> Coprocessor:
        return Coprocessor(("ascon-hash256",), mover="dma", buffer_words=16, burst_length=4)


@pytest.mark.slow
class TestAllAtOnce(Contract):
    @pytest.fixture
    def p(self) -> Coprocessor:
        return Coprocessor(
            engines.algorithm_names(),
            buffer_words=64,
            double_buffer=True,
            mover="dma",
            attachment="mapped",
            bus_latency=2,
            burst_length=16,
        )


class EveryValue(Contract):
    @pytest.fixture(scope="class", params=range(len(COVERING)))  # one netlist for all tests
    @classmethod
    def p(cls, request: pytest.FixtureRequest) -> Coprocessor:
        return COVERING[request.param]


@pytest.mark.slow
class TestEveryValue(EveryValue):
    lengths = 5


@pytest.mark.full
class TestEveryValueFull(EveryValue):
    lengths = 200
