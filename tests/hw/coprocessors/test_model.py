"""Netlist, model and schedule of random members, on messages and on whatever a host may do."""

from __future__ import annotations

import random
import re

import pytest

from hw.coprocessors.compute import compute
from hw.coprocessors.model import Model
from hw.coprocessors.parameters import Coprocessor
from hw.coprocessors.schedule import schedule
from isa.coprocessor import ALGORITHM, ALGORITHMS, DESTINATION, KEY, LENGTH, OUTPUT_LENGTH, SOURCE
from isa.device import DataMemory, DeviceError
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
        pair.command("set", address + (0x800 if setting == DESTINATION else 0), setting)
    for _ in range(commands):
        if rng.random() < 0.3:
            pair.bench.idle(rng.randrange(90))
        name = rng.choice(("set", "set", "put", "put", "put", "start", "wait", "get", "get"))
        a, b = rng.getrandbits(32), rng.getrandbits(32)
        if name == "set":
            b = rng.randrange(6)
            a = address + 16 * rng.randrange(64) + (0x800 if b == DESTINATION else 0)
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


DMA = Coprocessor(("aes128-encrypt", "sha256"), double_buffer=True, mover="dma", bus_width=64)
START = {ALGORITHM: ALGORITHMS.index("aes128-encrypt"), LENGTH: 64, SOURCE: BASE, KEY: BASE + 256}


def started(changes: dict[int, int]) -> None:
    model, memory = Model(DMA), DataMemory(bytearray(1024), BASE)
    settings = {**START, DESTINATION: BASE + 512, **changes}
    for cycle, (number, value) in enumerate(settings.items()):
        model.command(cycle, "set", value, number, memory)
    model.command(len(settings), "start", 0, 0, memory)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({SOURCE: BASE + 4}, "source must be a multiple of 8 bytes, a beat of the bus, not 0x1004"),
        ({KEY: BASE + 1}, "key must be a multiple of 8 bytes, a beat of the bus, not 0x1001"),
        (
            {DESTINATION: BASE + 1016},
            "transfer must lie in data memory, 0x1000 to 0x1400, not 64 bytes at 0x13f8",
        ),
        (
            {DESTINATION: BASE + 16},
            "destination must not lie within the message behind its first byte, "
            "not 16 bytes behind it",
        ),
    ],
)
def test_what_dma_cannot_do_is_refused_in_one_line(changes: dict[int, int], message: str) -> None:
    with pytest.raises(DeviceError, match=f"^{re.escape(message)}$"):
        started(changes)


def test_commands_that_there_are_not_are_refused() -> None:
    with pytest.raises(
        DeviceError,
        match=r"^command must be one of set, .* a setting from 0 to 5, not set 6$",
    ):
        Model(DMA).command(0, "set", 0, 6, None)


@pytest.mark.parametrize("algorithm", ["aes128-encrypt", "sha256"])
def test_output_may_take_the_place_of_the_message(algorithm: str) -> None:
    pair = Pair(DMA)
    rng = random.Random(algorithm)
    data, key = rng.randbytes(160), rng.randbytes(16)
    for content in (pair.bench.memory, pair.memory.content):
        content[:160], content[256:272] = data, key
    code = ALGORITHMS.index(algorithm)
    settings = {ALGORITHM: code, LENGTH: 160, SOURCE: BASE, DESTINATION: BASE, KEY: BASE + 256}
    for number, value in settings.items():
        pair.command("set", value, number)
    pair.command("start")
    pair.command("wait")
    answer = compute(algorithm, data, key)
    assert pair.bench.memory[: len(answer)] == answer
    assert pair.bench.memory == pair.memory.content
