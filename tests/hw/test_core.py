from __future__ import annotations

import math

import pyrtl
import pytest

from hw.area import estimate
from hw.bitblast import bitblast
from hw.core import build_core, core_block
from hw.decoder import Decoder
from hw.technology import technology
from isa.bits import Bits
from isa.core import PRESETS, Core
from isa.instruction import Effects, Extension, Load
from isa.instruction_set import InstructionSet

GE = technology("ge")
BASE = InstructionSet.of(32, "rv32i")
ZKNE = InstructionSet.of(32, "rv32i", "zkne")
FIVE, FIVE_PLAIN = Core(), Core(forwarding=False)
THREE, TWO = Core(pipeline=3), Core(pipeline=2)


def names(block: pyrtl.Block, kind: type) -> set[str]:
    return {w.name for w in block.wirevector_subset(kind)}


def test_base_set_needs_no_unit() -> None:
    assert Decoder(BASE).units == []


def test_everything_beyond_the_base_goes_to_units() -> None:
    full = InstructionSet.of(32, "rv32i", "m", "zbb", "zbkx", "zkne", "zknh", "nluv")
    assert Decoder(full).units == list(full.extras())


def test_same_meaning_needs_no_unit() -> None:
    alias = Extension("alias", source="this test")

    @alias.instruction("plus rd rs1 rs2 31..25=1 14..12=0 6..0=0x0B")
    def plus(rs1: Bits, rs2: Bits) -> Bits:
        return rs1 + rs2

    decoder = Decoder(InstructionSet.of(32, "rv32i", alias))
    assert decoder.units == []
    assert decoder.flags["plus"] == decoder.flags["add"]


OPEN = {"unit_word", "unit_rs1", "unit_rs2", "unit_commit"}


@pytest.mark.parametrize("core", [FIVE, FIVE_PLAIN, THREE, TWO])
def test_area_view_has_ports_for_memories_and_units(core: Core) -> None:
    memory = {"imem_address", "dmem_address", "dmem_data", "dmem_bytes", "dmem_write"}
    words = {"imem_word", "dmem_word"}
    plain, slot = core_block(core, BASE), core_block(core, ZKNE)
    joined = core_block(core, ZKNE, joined=True)
    assert names(plain, pyrtl.Output) == names(joined, pyrtl.Output) == memory
    assert names(plain, pyrtl.Input) == names(joined, pyrtl.Input) == words
    assert names(slot, pyrtl.Output) == memory | OPEN
    assert names(slot, pyrtl.Input) == words | {"unit_result", "unit_writes_rd"}
    for block in (plain, slot, joined):
        (registers,) = bitblast(block).memories
        assert (registers.words, registers.width) == (32, 32)
        assert (registers.reads, registers.writes) == (2, 1)


def test_deeper_pipelines_and_forwarding_cost_area() -> None:
    costs = [estimate(core_block(c, BASE), GE) for c in (TWO, THREE, FIVE_PLAIN, FIVE)]
    areas = [c.area_ge for c in costs]
    assert areas == sorted(areas)
    assert costs[0].ffs < costs[1].ffs < costs[2].ffs == costs[3].ffs
    joined = estimate(core_block(FIVE, ZKNE, joined=True), GE).area_ge
    assert joined > estimate(core_block(FIVE, ZKNE), GE).area_ge > areas[3]


def test_same_core_costs_the_same() -> None:
    costs = {estimate(core_block(THREE, ZKNE, joined=True), GE).area_ge for _ in range(3)}
    assert len(costs) == 1


def test_units_with_latency_add_a_counter() -> None:
    single = estimate(core_block(FIVE, ZKNE), GE)
    longer = estimate(core_block(FIVE, ZKNE, {"aes32esmi": 3}), GE)
    assert longer.ffs == single.ffs + 2


def test_operands_and_writeback_can_be_timed() -> None:
    ready = [estimate(core_block(c, ZKNE), GE).arrival("unit_rs1") for c in (FIVE, THREE)]
    assert ready[0] < 2 < ready[1]  # a register; a register file and a multiplexer
    graph = bitblast(core_block(THREE, ZKNE))
    starts = {p.name: 0.0 if p.name == "unit_result" else -math.inf for p in graph.sources}
    assert 1 < estimate(graph, GE, starts=starts).delay_fo4 < 10


def test_what_cannot_be_built_is_refused() -> None:
    with pytest.raises(ValueError, match="core to be built must be one with a netlist, not 'icicl"):
        build_core(PRESETS["icicle"], BASE)
    with pytest.raises(ValueError, match="xlen of core and instruction set must be 32, not 64 and"):
        build_core(Core(xlen=64), BASE)
    with pytest.raises(ValueError, match=r"latency must be at least 1 cycle, .* not 2 of 'sha"):
        build_core(FIVE, BASE, {"sha256sig0": 2})
    with pytest.raises(
        ValueError, match=r"latency must be at least 1 cycle, .* not 0 of 'aes32esi"
    ):
        build_core(FIVE, ZKNE, {"aes32esi": 0})
    with pytest.raises(
        ValueError, match=r"latency above 1 must be of an instruction .* not of 'lw'"
    ):
        build_core(FIVE, BASE, {"lw": 2})


def test_other_addressing_is_refused() -> None:
    indexed = Extension("indexed", source="this test")

    @indexed.instruction("lwx rd rs1 rs2 31..25=1 14..12=0 6..0=0x0B")
    def lwx(rs1: Bits, rs2: Bits) -> Effects:
        return Effects(load=Load(rs1 + rs2, 32, signed=True))

    with pytest.raises(ValueError, match=r"a load of the core must take its address as .* as lwx"):
        build_core(FIVE, InstructionSet.of(32, "rv32i", indexed))


def test_three_operands_are_refused() -> None:
    ternary = Extension("ternary", source="this test")

    @ternary.instruction("cmix rd rs1 rs2 rs3 26..25=3 14..12=1 6..0=0x33")
    def cmix(rs1: Bits, rs2: Bits, rs3: Bits) -> Bits:
        return (rs1 & rs2) | (rs3 & ~rs2)

    with pytest.raises(ValueError, match="must read at most rs1 and rs2, not rs3 as cmix"):
        build_core(FIVE, InstructionSet.of(32, "rv32i", ternary))
