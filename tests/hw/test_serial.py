from __future__ import annotations

import random

import pyrtl
import pytest

from hw.serial import SERIAL, serial_clmul, serial_crc
from isa.bits import evaluate
from isa.instruction_set import find_instruction

CLMUL = ("clmul", "clmulh", "clmulr")
CRC = tuple(f"{name}.{size}" for name in ("crc32", "crc32c") for size in "bhw")
SIZES = {"b": 1, "h": 2, "w": 4}


def meaning(name: str, xlen: int, rs1: int, rs2: int) -> int:
    value = find_instruction(name, xlen).effects(xlen).rd
    assert value is not None
    return evaluate(value, {"rs1": rs1, "rs2": rs2})


@pytest.mark.parametrize(("xlen", "cycles"), [(32, 4), (32, 8), (64, 8)])
def test_a_product_is_there_in_the_last_cycle(xlen: int, cycles: int) -> None:
    block = serial_clmul(CLMUL, xlen, cycles)
    simulation = pyrtl.FastSimulation(block=block, tracer=None)
    rng = random.Random(xlen + cycles)
    for number in range(60):
        name = CLMUL[number % 3]
        rs1, rs2 = rng.getrandbits(xlen), rng.choice((rng.getrandbits(xlen), 0, (1 << xlen) - 1))
        held = {"rs1": rs1, "rs2": rs2, **{f"op_{n}": int(n == name) for n in CLMUL}}
        for cycle in range(cycles):
            simulation.step({**held, "start": int(cycle == 0)})
        assert simulation.inspect("result") == meaning(name, xlen, rs1, rs2), (name, rs1, rs2)


def test_a_crc_is_there_after_its_last_byte() -> None:
    simulation = pyrtl.FastSimulation(block=serial_crc(CRC, 32, 4), tracer=None)
    rng = random.Random(5)
    for number in range(60):
        name, rs1 = CRC[number % 6], rng.getrandbits(32)
        held = {"rs1": rs1, **{f"op_{n}": int(n == name) for n in CRC}}
        for cycle in range(SIZES[name[-1]] + 1):
            simulation.step({**held, "start": int(cycle == 0)})
        assert simulation.inspect("result") == meaning(name, 32, rs1, 0), (name, rs1)


def test_units_are_found_by_what_they_do() -> None:
    assert SERIAL[frozenset(CLMUL)] is serial_clmul
    assert SERIAL[frozenset(CRC)] is serial_crc
    with pytest.raises(
        ValueError, match=r"^a serial CRC takes 4 cycles for 32 bits, not 2 for 32$"
    ):
        serial_crc(CRC, 32, 2)
