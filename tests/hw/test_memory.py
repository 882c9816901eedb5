from __future__ import annotations

import pyrtl
import pytest

from hw.area import mapped
from hw.fabric import fabric
from hw.graph import Memory
from hw.memory import block_rams, memory_cost, memory_luts, register_file, sram
from hw.technology import technology
from hw.verilog import verilog

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
    small, file = memory_cost(Memory("x", 32, 32, 2, 1), GE), register_file(32, 32, 2, 1, GE)
    assert (small.area_ge, small.access_fo4, small.brams) == (file.area_ge, file.access_fo4, 0)
    large, array = memory_cost(Memory("m", 32768, 32, 1, 1), GE), sram(32768, 32, 1, GE)
    assert (large.area_ge, large.access_fo4, large.luts) == (array.area_ge, array.access_fo4, 0)


def memory_block(words: int, width: int, reads: int, *, is_registered: bool) -> pyrtl.Block:
    """Return a memory with one write port alone."""
    size = words.bit_length() - 1
    memory = pyrtl.MemBlock(width, size, "m", asynchronous=True, max_read_ports=reads)
    for port in range(reads):
        address = pyrtl.Input(size, f"r{port}")
        if is_registered:
            held = pyrtl.Register(size, f"held{port}")
            held.next <<= address
            address = held
        output = pyrtl.Output(width, f"q{port}")
        output <<= memory[address]
    data, enable = pyrtl.Input(width, "d"), pyrtl.Input(1, "we")
    memory[pyrtl.Input(size, "w")] <<= pyrtl.MemBlock.EnabledWrite(data, enable)
    return pyrtl.working_block()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "width", "reads"), [(32, 32, 2), (32, 64, 2), (32, 32, 3), (64, 32, 1)]
)
def test_a_register_file_takes_the_luts_that_synthesis_gives_it(
    words: int, width: int, reads: int
) -> None:
    with pyrtl.temp_working_block():
        module = verilog(memory_block(words, width, reads, is_registered=False), initial=False)
    part = fabric(module.text, module.module)
    assert memory_luts(words, width, reads) == pytest.approx(part.memory_luts, rel=0.1)
    assert part.luts == 0


@pytest.mark.slow
@pytest.mark.parametrize(("words", "width"), [(1024, 32), (256, 32), (512, 64), (4096, 8)])
def test_a_large_memory_takes_the_block_rams_that_synthesis_gives_it(
    words: int, width: int
) -> None:
    with pyrtl.temp_working_block():
        module = verilog(memory_block(words, width, 1, is_registered=True), initial=False)
    assert block_rams(words, width) == fabric(module.text, module.module).brams


def test_memories_of_a_part_have_its_access_times() -> None:
    for words, picoseconds in ((32, 942), (4096, 2454)):
        cost = memory_cost(Memory("m", words, 32, 1, 1), technology("xc7"))
        assert cost.access_fo4 * 50 == pytest.approx(picoseconds)


def test_impossible_memories_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^a register file must have at least 1 word, bit"):
        register_file(0, 32, 2, 1, GE)
    with pytest.raises(ValueError, match=r"^an SRAM must have at least 1 word, bit and port"):
        sram(16, 8, 0, GE)
