from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pyrtl
import pytest

from hw.area import bitblast, estimate, mapped
from hw.extension import build_extension, extension_logic, matches, unit_arrivals
from hw.graph import Graph
from hw.lower import Circuits
from hw.technology import technology
from hw.units import circuits_for
from isa.bits import evaluate
from isa.encoding import REGISTERS
from isa.instruction import Extension, Instruction
from isa.instruction_set import InstructionSet, load_extension

GE = technology("ge")
MASK32 = (1 << 32) - 1


def circuits(name: str) -> Circuits:
    return {table: circuits_for(table)[name] for table in ("aes_sbox", "aes_inv_sbox")}


def instructions(*parts: str | Extension) -> tuple[Instruction, ...]:
    return InstructionSet.of(32, *parts).instructions


SETS = {
    "zkne": instructions("zkne"),
    "zkne zknd zbkb zbkx": instructions("zkne", "zknd", "zbkb", "zbkx"),
    "xkyber": instructions("xkyber"),
    "zbb zbkb xzbp": instructions("zbb", "zbkb", "xzbp"),
    "nluv 1": instructions(load_extension("nluv", banks=1)),
    "nluv 2": instructions(load_extension("nluv", banks=2)),
    "nluv 2, words, exchanges": instructions(load_extension("nluv", banks=2, push=32, readback=1)),
}


class Unit:
    """A simulated extension block; remembers nothing but what its registers hold."""

    def __init__(self, chosen: tuple[Instruction, ...], circuit: str = "boyar_peralta") -> None:
        self.block = build_extension(chosen, 32, circuits(circuit))
        self.registers = self.block.wirevector_subset(pyrtl.Register)
        self.simulation = pyrtl.FastSimulation(tracer=None, block=self.block)

    def step(self, word: int, rs1: int = 0, rs2: int = 0, base: int = 0, commit: int = 1) -> int:
        values = {"instr": word, "rs1": rs1, "rs2": rs2, "base_result": base, "commit": commit}
        self.simulation.step(values)
        return int(self.simulation.inspect("result"))

    def state(self) -> dict[str, int]:
        """Return the state as the next instruction sees it, by a cycle that does nothing."""
        self.step(0, commit=0)
        return {r.name: int(self.simulation.inspect(r.name)) for r in self.registers}


@pytest.mark.parametrize("name", sorted(SETS))
def test_random_instructions_do_what_their_meaning_says(name: str) -> None:
    chosen = SETS[name]
    unit = Unit(chosen)
    state = dict.fromkeys((s for i in chosen for s in i.state), 0)
    draw = random.Random(5)
    for _ in range(400):
        instruction = draw.choice(chosen)
        encoding = instruction.encoding
        fields = {i.name: draw.choice(i.values) for i in encoding.immediates}
        word = encoding.encode(**fields, **{r: draw.getrandbits(5) for r in encoding.registers})
        operands = {  # x0 reads as 0
            r: draw.getrandbits(32) * bool(word >> REGISTERS[r] & 31) for r in ("rs1", "rs2")
        }
        commit, base = draw.random() < 0.9, draw.getrandbits(32)
        effects = instruction.effects(32)
        values = {**operands, **fields, **state}
        expected = base if effects.rd is None else evaluate(effects.rd, values)
        result = unit.step(word, operands["rs1"], operands["rs2"], base, int(commit))
        assert (result, unit.simulation.inspect("is_ext")) == (expected, 1), instruction
        if commit:
            state.update({n: evaluate(value, values) for n, value in effects.state})
        held = unit.state()
        assert held == {n: state[n] for n in held}, instruction


@pytest.mark.parametrize("name", sorted(SETS))
def test_other_words_pass_the_base_result_and_change_nothing(name: str) -> None:
    chosen = SETS[name]
    unit = Unit(chosen)
    base_set = InstructionSet.of(32, "rv32i").instructions
    draw = random.Random(6)
    for instruction in base_set * 3:
        encoding = instruction.encoding
        fields = {i.name: draw.choice(i.values) for i in encoding.immediates}
        word = encoding.encode(**fields, **{r: draw.getrandbits(5) for r in encoding.registers})
        base = draw.getrandbits(32)
        if any(not (word ^ i.encoding.match) & i.encoding.mask for i in chosen):
            continue
        assert unit.step(word, draw.getrandbits(32), draw.getrandbits(32), base) == base
        assert unit.simulation.inspect("is_ext") == 0
    assert not any(unit.state().values())


@pytest.mark.parametrize("circuit", ["boyar_peralta", "composite", "table"])
def test_nluv_gives_its_published_values(circuit: str) -> None:
    # nlu_test.s and PRESENTNLUV.s of the NLU-V publication (Cryptography 8(1):9, 2024).
    by_name = {i.name: i for i in SETS["nluv 1"]}
    unit = Unit(SETS["nluv 1"], circuit)
    for piece in (0xE394, 0x98F4, 0x21BC, 0x4A80):
        unit.step(by_name["nldnl"].encode(sel=0, imm20=piece))
    assert unit.state()["nlrg"] == 0xE39498F421BC4A80
    anf = by_name["nnlanf"].encode(rd=10, rs1=11)
    assert unit.step(anf, 0x01234567) == 0xC56B90AD
    assert unit.step(anf, 0x89ABCDEF) == 0x3EF84712
    assert unit.step(by_name["nnlaese"].encode(rd=10, rs1=11), 0x93F5BAE9) == 0xDCE6F41E
    assert unit.step(by_name["nnlaesd"].encode(rd=10, rs1=11), 0x26880BA3) == 0x23979E71


def test_the_published_register_count_of_nluv() -> None:
    # 64 + 1024 of S-box mask and matrix (as the paper counts), and four 32-bit accumulators.
    for name, flip_flops in (("nluv 1", 64 + 1024 + 128), ("nluv 2", 64 + 2048 + 128)):
        block = build_extension(SETS[name], 32, circuits("boyar_peralta"))
        assert estimate(block, GE).ffs == flip_flops


def graph(*names: str, circuit: str = "boyar_peralta") -> Graph:
    return bitblast(build_extension(instructions(*names), 32, circuits(circuit)))


@pytest.mark.parametrize(("names", "published"), [(["zkne"], 630), (["zkne", "zknd"], 1149)])
def test_the_aes_unit_has_the_published_area(names: list[str], published: int) -> None:
    # Marshall et al., "The design of scalar AES instruction set extensions for RISC-V", TCHES
    # 2021(1), variant 3 (which became Zkne and Zknd): NAND2 equivalents of its unit.
    cost = mapped(graph(*names), GE)
    assert cost.area_ge == pytest.approx(published, rel=0.1)


def test_instructions_share_what_they_have_in_common() -> None:
    both = estimate(graph("zkne", "zknd"), GE).area_ge
    alone = estimate(graph("zkne"), GE).area_ge + estimate(graph("zknd"), GE).area_ge
    assert both < alone
    # Both instructions of Zkne look up the same byte: one S-box (32 AND of Boyar and Peralta).
    esmi, esi = instructions("zkne")
    one = estimate(build_extension([esmi], 32, circuits("boyar_peralta")), GE).area_ge
    two = estimate(build_extension([esmi, esi], 32, circuits("boyar_peralta")), GE).area_ge
    assert two - one < estimate(graph("zkne"), GE).area_ge / 2


def test_the_circuit_decides_area_and_delay() -> None:
    small, fast = (estimate(graph("zkne", circuit=c), GE) for c in ("boyar_peralta", "table"))
    assert small.area_ge < 0.65 * fast.area_ge
    assert fast.delay_fo4 < 0.65 * small.delay_fo4


def test_arrivals_are_per_instruction_and_follow_the_operands() -> None:
    chosen = SETS["zkne zknd zbkb zbkx"]
    arrivals = unit_arrivals(chosen, 32, circuits("boyar_peralta"), GE)
    assert list(arrivals) == [i.name for i in chosen]
    assert arrivals["andn"] < arrivals["ror"] < arrivals["aes32esmi"]
    exact = unit_arrivals(chosen, 32, circuits("boyar_peralta"), GE, rung=mapped)
    for name in ("aes32esmi", "aes32esi", "aes32dsmi", "aes32dsi"):
        assert arrivals[name] == pytest.approx(exact[name], rel=0.15), name
    late = unit_arrivals(chosen, 32, circuits("boyar_peralta"), GE, {"rs1": 20.0, "rs2": 20.0})
    assert late["andn"] == pytest.approx(arrivals["andn"] + 20)
    stateful = unit_arrivals(SETS["nluv 1"], 32, circuits("boyar_peralta"), GE)
    assert stateful["nldl"] > 0


def test_immediates_of_equal_name_and_other_bits_are_kept_apart() -> None:
    made = Extension("made", source="here", xlens=(32,))

    @made.instruction("high rd rs1 pick 14..12=0 6..0=0x0b", fields={"pick": (31, 30)})
    def high(rs1, pick):  # type: ignore[no-untyped-def]
        return rs1 ^ pick.zext(32)

    @made.instruction("low rd rs1 pick 14..12=1 6..0=0x0b", fields={"pick": (21, 20)})
    def low(rs1, pick):  # type: ignore[no-untyped-def]
        return rs1 + pick.zext(32)

    unit = Unit(tuple(made.instructions))
    first, second = made.instructions
    assert unit.step(first.encode(rd=1, rs1=2, pick=3), 8) == 11
    assert unit.step(second.encode(rd=1, rs1=2, pick=2), 7) == 9


def test_an_instruction_that_the_core_must_execute_is_refused() -> None:
    loads = [i for i in InstructionSet.of(32, "rv32i").instructions if i.name == "lw"]
    with pytest.raises(
        ValueError,
        match=r"^instruction of an extension unit must compute rd or state, not lw, a load;",
    ):
        build_extension(loads, 32, {})


def test_no_instruction_makes_a_block_that_passes_the_base_result() -> None:
    with pyrtl.temp_working_block():
        one = pyrtl.Input(1, "one")
        logic = extension_logic([], 32, {}, instr=pyrtl.Input(32, "instr"), operands={}, commit=one)
        assert (len(logic.result), len(logic.is_ext)) == (32, 1)
    unit = Unit(())
    assert unit.step(0x33, 1, 2, 77) == 77


def test_decoding_is_exact() -> None:
    chosen = SETS["zkne zknd zbkb zbkx"]
    draw = random.Random(7)
    with pyrtl.temp_working_block():
        found = matches(pyrtl.Input(32, "instr"), chosen)
        for name, wire in found.items():
            output = pyrtl.Output(1, f"is {name}")
            output <<= wire
        simulation = pyrtl.FastSimulation(tracer=None)
        for instruction in chosen * 4:
            word = instruction.encoding.match | draw.getrandbits(32) & ~instruction.encoding.mask
            for flip in (0, 1 << draw.randrange(32)):
                simulation.step({"instr": word ^ flip})
                expected = {
                    i.name: int(((word ^ flip) & i.encoding.mask) == i.encoding.match)
                    for i in chosen
                }
                assert {n: simulation.inspect(f"is {n}") for n in found} == expected


SCRIPT = """
from hw.area import bitblast
from hw.extension import build_extension
from hw.units import circuits_for
from isa.instruction_set import InstructionSet
chosen = InstructionSet.of(32, "zkne", "zknd", "zbkb", "nluv").instructions
circuits = {t: circuits_for(t)["composite"] for t in ("aes_sbox", "aes_inv_sbox")}
print(bitblast(build_extension(chosen, 32, circuits)).digest())
"""


def test_the_block_does_not_depend_on_the_hash_seed() -> None:
    digests = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            cwd=Path(__file__).parents[2],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4242")
    }
    assert len(digests) == 1
