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
RV64, SIXTY_FOUR = InstructionSet.of(64, "rv64i"), Core(xlen=64)


def names(block: pyrtl.Block, kind: type) -> set[str]:
    return {w.name for w in block.wirevector_subset(kind)}


def test_base_set_needs_no_unit() -> None:
    assert Decoder(BASE).units == []
    assert Decoder(RV64).units == []


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
    with pytest.raises(ValueError, match="instructions of core icicle must have 32 bits, not 16"):
        build_core(PRESETS["icicle"], InstructionSet.of(32, "rv32i", "zca"))
    with pytest.raises(
        ValueError, match="xlen of core and instruction set must be the same, not 64 "
    ):
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


def test_three_operands_need_three_ports() -> None:
    ternary = InstructionSet.of(32, "rv32i", "xzbt")
    with pytest.raises(ValueError, match="read_ports must be 3 for an instruction that reads rs3"):
        build_core(FIVE, ternary)
    block = core_block(Core(read_ports=3), ternary)
    assert "unit_rs3" in names(block, pyrtl.Output)
    assert "unit_rs3" not in names(core_block(Core(read_ports=3), ZKNE), pyrtl.Output)
    (registers,) = bitblast(block).memories
    assert (registers.reads, registers.writes) == (3, 1)


def test_compressed_instructions_need_a_quick_memory_of_their_own() -> None:
    short = InstructionSet.of(32, "rv32i", "zca")
    for slow in (Core(memory="shared"), Core(memory_latency=2)):
        with pytest.raises(ValueError, match="memory of a core with compressed instructions must"):
            build_core(slow, short)


@pytest.mark.parametrize("pipeline", [2, 3, 5])
def test_a_shared_port_is_that_of_the_data(pipeline: int) -> None:
    block = core_block(Core(xlen=64, pipeline=pipeline, memory="shared"), RV64)
    assert names(block, pyrtl.Output) == {"dmem_address", "dmem_data", "dmem_bytes", "dmem_write"}
    assert {w.name: len(w) for w in block.wirevector_subset(pyrtl.Input)} == {"dmem_word": 64}


def test_what_predicts_and_compares_costs_area() -> None:
    plain = estimate(core_block(FIVE, BASE), GE).area_ge
    for other in ({"branch": "decode"}, {"prediction": "backward-taken"}, {"memory": "shared"}):
        assert estimate(core_block(Core(**other), BASE), GE).area_ge > plain  # type: ignore[arg-type]
    waiting = estimate(core_block(Core(prediction="none"), BASE), GE).area_ge
    assert plain < waiting < plain + 20


def test_twice_the_width_costs_about_twice_the_area() -> None:
    narrow, wide = (estimate(core_block(c, i), GE) for c, i in ((FIVE, BASE), (SIXTY_FOUR, RV64)))
    assert 1.8 < wide.area_ge / narrow.area_ge < 2.4
    assert wide.delay_fo4 > narrow.delay_fo4
