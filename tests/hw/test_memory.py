from __future__ import annotations

import pyrtl
import pytest

from hw.area import mapped
from hw.graph import Memory
from hw.memory import memory_cost, register_file, sram
from hw.technology import technology

GE = technology("ge")


def register_file_block(words: int, width: int, reads: int) -> pyrtl.Block:
    """Return the same register file made of flip-flops and multiplexers."""
    size = words.bit_length() - 1
    address, enable = pyrtl.Input(size, "w"), pyrtl.Input(1, "we")
    data = pyrtl.Input(width, "d")
    registers = []
    for i in range(words):
        register = pyrtl.Register(width, f"x{i}")
        register.next <<= pyrtl.select(enable & (address == i), data, register)
        registers.append(register)
    for port in range(reads):
        output = pyrtl.Output(width, f"q{port}")
        output <<= pyrtl.mux(pyrtl.Input(size, f"r{port}"), *registers)
    return pyrtl.working_block()


@pytest.mark.parametrize(("words", "reads"), [(32, 2), (16, 1), (32, 3)])
def test_a_register_file_costs_what_its_netlist_costs(words: int, reads: int) -> None:
    with pyrtl.temp_working_block():
        cost = mapped(register_file_block(words, 32, reads), GE)
    model = register_file(words, 32, reads, 1, GE)
    assert model.area_ge == pytest.approx(cost.area_ge, rel=model.error)
    reading = max(cost.arrival(f"q{port}") for port in range(reads))
    assert model.access_fo4 == pytest.approx(reading, rel=model.error)


def test_more_ports_and_words_cost_more() -> None:
    small = register_file(32, 32, 2, 1, GE)
    assert register_file(32, 32, 3, 1, GE).area_ge > small.area_ge
    assert register_file(32, 32, 2, 2, GE).area_ge > small.area_ge
    assert register_file(64, 32, 2, 1, GE).access_fo4 > small.access_fo4


def test_an_sram_bit_is_far_smaller_than_a_flip_flop() -> None:
    cost = sram(4096, 32, 1, GE)
    assert 0.3 < cost.area_ge / (4096 * 32) < 1.0
    assert 4 < cost.access_fo4 < 20
    assert sram(4096, 32, 2, GE).area_ge > cost.area_ge


def test_the_size_decides_what_a_memory_is() -> None:
    assert memory_cost(Memory("x", 32, 32, 2, 1), GE) == register_file(32, 32, 2, 1, GE)
    assert memory_cost(Memory("m", 32768, 32, 1, 1), GE) == sram(32768, 32, 1, GE)


def test_impossible_memories_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^a register file must have at least 1 word, bit"):
        register_file(0, 32, 2, 1, GE)
    with pytest.raises(ValueError, match=r"^an SRAM must have at least 1 word, bit and port"):
        sram(16, 8, 0, GE)
