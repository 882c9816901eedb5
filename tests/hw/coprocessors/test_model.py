"""Netlist, model and schedule of random members, on messages and on whatever a host may do."""

from __future__ import annotations

import random

import pytest

from hw.coprocessors.compute import compute
from hw.coprocessors.schedule import schedule
from isa.coprocessor import ALGORITHM, ALGORITHMS, DESTINATION, KEY, LENGTH, OUTPUT_LENGTH, SOURCE
from tests.hw.coprocessors.bench import BASE
from tests.hw.coprocessors.play import Pair, random_member, random_message

QUICK, SLOW, FULL = range(2), range(2, 14), range(14, 514)


def agrees(seed: int) -> None:
    """One member works on two messages, the second with pauses between the commands."""
    rng = random.Random(seed)
    p, xlen = random_member(rng), rng.choice((32, 32, 64))
    pair = Pair(p, xlen)
    message = random_message(rng, p)
    assert pair.play(message) == compute(
        message.algorithm, message.data, message.key, message.wanted
    )
    found = schedule(p, message.algorithm, len(message.data), message.wanted, xlen)
    assert found.cycles == pair.bench.active_cycles
    if p.mover == "dma":
        assert round(found.bus_utilisation * found.cycles) == pair.bench.beats
    message = random_message(rng, p)
    assert pair.play(message, rng) == compute(
        message.algorithm, message.data, message.key, message.wanted
    )


@pytest.mark.parametrize("seed", QUICK)
def test_netlist_model_and_schedule_agree(seed: int) -> None:
    agrees(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SLOW)
def test_netlist_model_and_schedule_agree_slow(seed: int) -> None:
    agrees(seed)


@pytest.mark.full
@pytest.mark.parametrize("seed", FULL)
def test_netlist_model_and_schedule_agree_full(seed: int) -> None:
    agrees(seed)


def misuse(seed: int, commands: int) -> None:
    """Commands in any order, lengths and algorithms out of place among them."""
    rng = random.Random(seed)
    p, xlen = random_member(rng), rng.choice((32, 64))
    pair = Pair(p, xlen)
    content = rng.randbytes(len(pair.bench.memory))
    pair.bench.memory[:] = pair.memory.content[:] = content
    address = BASE + 0x2000
    for setting in (SOURCE, DESTINATION, KEY):
        pair.command("set", address, setting)
    for _ in range(commands):
        if rng.random() < 0.3:
            pair.bench.idle(rng.randrange(90))
        name = rng.choice(("set", "set", "put", "put", "put", "start", "wait", "get", "get"))
        a, b = rng.getrandbits(32), rng.getrandbits(32)
        if name == "set":
            b = rng.randrange(6)
            a = address + 16 * rng.randrange(64)
            if b == ALGORITHM:
                codes = [ALGORITHMS.index(n) for n in p.algorithms]
                a = rng.choice([*codes, *codes, rng.randrange(16)])
            elif b in (LENGTH, OUTPUT_LENGTH):
                a = rng.choice((0, rng.randrange(300)))
        elif name == "put" and p.attachment == "mapped" and xlen == 32:
            pair.command("low", a)
        pair.command(name, a, b)
    pair.command("wait")
    assert pair.bench.memory == pair.memory.content


@pytest.mark.parametrize("seed", range(3))
def test_any_commands_are_answered_alike(seed: int) -> None:
    misuse(seed, 60)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3, 9))
def test_any_commands_are_answered_alike_slow(seed: int) -> None:
    misuse(seed, 150)
