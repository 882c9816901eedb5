from __future__ import annotations

from collections.abc import Callable

import pyrtl
import pytest

from hw.area import mapped
from hw.bitblast import bitblast
from hw.graph import Graph
from hw.luts import read_luts
from hw.synthesis import synthesise
from hw.technology import technology
from hw.units import circuits_for

XC7 = technology("xc7")


def blast(build: Callable[[], None]) -> Graph:
    with pyrtl.temp_working_block():
        build()
        return bitblast(pyrtl.working_block())


def sbox(name: str) -> Callable[[], None]:
    def build() -> None:
        output = pyrtl.Output(8, "y")
        output <<= circuits_for("aes_sbox")[name](pyrtl.Input(8, "x"))

    return build


def adders(width: int, operands: int) -> Callable[[], None]:
    def build() -> None:
        total = pyrtl.Input(width, "x0")
        for i in range(1, operands):
            # An adder that something else reads too is no part of a longer sum.
            total = (total + pyrtl.Input(width, f"x{i}"))[:width]
            output = pyrtl.Output(width, f"y{i}")
            output <<= total

    return build


@pytest.mark.parametrize("name", ["boyar_peralta", "composite", "low_depth", "table"])
def test_our_timing_of_luts_equals_abc(name: str) -> None:
    graph = blast(sbox(name))
    assert mapped(graph, XC7).delay_fo4 * 50 == pytest.approx(synthesise(graph).lut_delay_ps)


@pytest.mark.parametrize(("width", "picoseconds"), [(32, 2084), (64, 2996)])
def test_an_adder_takes_the_time_of_its_carry_chain(width: int, picoseconds: int) -> None:
    # What abc9 reports for a + b in synth_xilinx of yosys 0.70 (benchmarks/data/area.json).
    def build() -> None:
        output = pyrtl.Output(width + 1, "y")
        output <<= pyrtl.Input(width, "a") + pyrtl.Input(width, "b")

    assert mapped(blast(build), XC7).delay_fo4 * 50 == pytest.approx(picoseconds)


def test_later_bits_of_a_chain_wait_for_earlier_ones_and_not_the_other_way() -> None:
    def build() -> None:
        low, high = pyrtl.Input(16, "low"), pyrtl.Input(16, "high")
        total = pyrtl.concat(high, low) + pyrtl.Input(32, "b")
        for name, part in (("first", total[:16]), ("last", total[16:32])):
            output = pyrtl.Output(16, name)
            output <<= part

    graph = blast(build)
    plain = mapped(graph, XC7)
    late = mapped(graph, XC7, starts={"high": 100.0})
    assert late.arrival("first") == plain.arrival("first")
    assert late.arrival("last") > 100 + 20
    late = mapped(graph, XC7, starts={"low": 100.0})
    assert late.arrival("last") > plain.arrival("last") + 95


def test_a_second_adder_starts_at_its_lowest_bit() -> None:
    one, two = (mapped(blast(adders(32, n)), XC7).delay_fo4 * 50 for n in (2, 3))
    # A LUT and the entry into a chain, not a whole chain.
    assert 700 < two - one < 1300


def test_every_output_can_be_reached_from_its_luts() -> None:
    graph = blast(adders(24, 3))
    luts = synthesise(graph).luts
    known = set(range(luts.inputs + 1))
    for lut in luts.luts:
        assert set(lut.inputs) <= known
        known.add(lut.output)
    assert {literal >> 1 for literal in luts.outputs} <= known


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"aag 1 1 0 1 0\n2\n2\n", "^an AIGER file must begin with 'aig' and counts, not b'aag 1"),
        (b"aig 1 1 0 1 0\n2\ni0 x\nc\nmade by hand\n", "^an AIGER file must hold a mapping"),
    ],
)
def test_a_file_of_another_kind_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_luts(data)
