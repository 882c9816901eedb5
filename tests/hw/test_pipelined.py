"""Pipelined multipliers: their gates in stages, and what waits for what on cores with them."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from functools import cache, reduce
from itertools import product
from operator import xor

import numpy as np
import pyrtl
import pytest
from numpy.typing import NDArray

from hw.area import estimate
from hw.bitblast import bitblast
from hw.core import build_core
from hw.cosim import Netlist, compare
from hw.decoder import Decoder
from hw.extension import build_datapath
from hw.graph import Graph, Kind, Port
from hw.pipelined import pipelined_units
from hw.stages import NEARBY, staged
from hw.technology import technology
from isa.assembler import assemble
from isa.compiler.waits import Waits
from isa.core import PIPELINED, Core
from isa.instruction_set import InstructionSet
from isa.iterative import operation_of
from isa.machine import Machine
from isa.pipelined import delay_of, unit_of
from isa.timing import price

GE = technology("ge")
SETS = {xlen: InstructionSet.of(xlen, f"rv{xlen}i", "m", "zbc") for xlen in (32, 64)}
LANES = 2048
CYCLES = 16


def signed(value: int, xlen: int) -> int:
    return value - (value >> (xlen - 1) << xlen)


def carryless(a: int, b: int) -> int:
    return reduce(xor, (a << i for i in range(b.bit_length()) if b >> i & 1), 0)


MEANINGS: dict[str, Callable[[int, int, int], int]] = {
    "mul": lambda a, b, n: a * b,
    "mulh": lambda a, b, n: signed(a, n) * signed(b, n) >> n,
    "mulhsu": lambda a, b, n: signed(a, n) * b >> n,
    "mulhu": lambda a, b, n: a * b >> n,
    "mulw": lambda a, b, n: signed(a * b % 2**32, 32),
    "clmul": lambda a, b, n: carryless(a, b),
    "clmulh": lambda a, b, n: carryless(a, b) >> n,
    "clmulr": lambda a, b, n: carryless(a, b) >> (n - 1),
}


def unit(name: str, xlen: int, way: str) -> tuple[Graph, list[str], int]:
    """The gates and registers of a unit, its instructions and stages."""
    plain = Core(xlen=xlen)
    is_plain = name == "multiplier"
    core = replace(plain, multiplier=way) if is_plain else replace(plain, carryless=way)
    (made,) = pipelined_units(core, Decoder(SETS[xlen], core))
    with pyrtl.temp_working_block():
        word = pyrtl.Input(32, "word")
        rs1, rs2 = (pyrtl.Input(xlen, name) for name in ("rs1", "rs2"))
        result = pyrtl.Output(xlen, "result")
        result <<= made.build(word, rs1, rs2)
        graph = bitblast(pyrtl.working_block())
    return graph, [i.name for i in made.instructions], made.stages


def columns(words: list[int], width: int) -> list[int]:
    """For each bit of the words a number whose bits are that of every word."""
    data = b"".join(w.to_bytes(width // 8, "little") for w in words)
    bits: NDArray[np.uint8] = np.unpackbits(
        np.frombuffer(data, np.uint8).reshape(len(words), -1), axis=1, bitorder="little"
    )
    packed = np.packbits(bits.T, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in packed]


def step(graph: Graph, sources: dict[str, list[int]]) -> dict[tuple[str, str], list[int]]:
    """One cycle for all lanes: what arrives at the sinks by role and name."""
    every = (1 << LANES) - 1
    at = [0] * len(graph.kind)

    def value(literal: int) -> int:
        return at[literal >> 1] ^ (every if literal & 1 else 0)

    for port in graph.sources:
        for literal, bits in zip(port.literals, sources[port.name], strict=True):
            at[literal >> 1] = bits
    for node, kind in enumerate(graph.kind):
        if kind is Kind.AND:
            a, b = graph.fanin[node]
            at[node] = value(a) & value(b)
        elif kind is Kind.XOR:
            a, b = graph.fanin[node]
            at[node] = value(a) ^ value(b)
        elif kind is Kind.MUX:
            select, one, zero = map(value, graph.fanin[node])
            at[node] = select & one | (every ^ select) & zero
    return {(p.role, p.name): [value(f) for f in p.literals] for p in graph.sinks}


def widths(ports: list[Port], role: str) -> dict[str, int]:
    return {p.name: len(p.literals) for p in ports if p.role == role}


@pytest.mark.parametrize(
    ("name", "xlen", "way"),
    [
        ("carryless", 32, "pipelined_4"),
        *(
            pytest.param(name, 32, way, marks=pytest.mark.slow)
            for name in ("carryless", "multiplier")
            for way in PIPELINED
            if (name, way) != ("carryless", "pipelined_4")
        ),
        pytest.param("multiplier", 64, "pipelined_3", marks=pytest.mark.full),
    ],
)
def test_a_unit_answers_each_cycle_stages_later(name: str, xlen: int, way: str) -> None:
    graph, names, stages = unit(name, xlen, way)
    assert stages == PIPELINED[way]
    registers = widths(graph.sources, "register")
    assert len({n.split("_stage_")[1].split("[")[0] for n in registers}) == stages - 1
    rng = random.Random(stages)
    edges = [0, 1, 2 ** (xlen - 1), 2**xlen - 1, 2 ** (xlen - 1) - 1, 0x80000000]
    held = {n: [0] * w for n, w in registers.items()}
    expected: list[list[int]] = []
    for cycle in range(CYCLES + stages - 1):
        mnemonic = names[cycle % len(names)]
        encoded = SETS[xlen].by_name[mnemonic].encode(rd=1, rs1=2, rs2=3)
        pairs = [(a, b) for a in edges for b in edges]
        pairs += [(rng.getrandbits(xlen), rng.getrandbits(xlen)) for _ in range(LANES - len(pairs))]
        found = step(
            graph,
            {
                "word": columns([encoded] * LANES, 32),
                "rs1": columns([a for a, _ in pairs], xlen),
                "rs2": columns([b for _, b in pairs], xlen),
                **held,
            },
        )
        mean = MEANINGS[mnemonic]
        expected.append(columns([mean(a, b, xlen) % 2**xlen for a, b in pairs], xlen))
        held = {n: found["next", n] for n in registers}
        if cycle >= stages - 1:
            assert found["output", "result"] == expected[cycle - stages + 1], (mnemonic, cycle)


@pytest.mark.parametrize("stages", [2, 3, 4])
def test_stages_share_the_path(stages: int) -> None:
    """A cut may be moved a little, and falls between two gates."""
    whole = build_datapath([SETS[32].by_name["mul"]], 32, {})
    cut = staged(whole, stages)
    with pyrtl.temp_working_block():
        inputs = {p.name: pyrtl.Input(len(p.literals), p.name) for p in cut.graph.sources}
        result = pyrtl.Output(32, "result")
        result <<= cut.build("staged", inputs)["result"]
        longest = estimate(pyrtl.working_block(), GE).delay_fo4
    path = estimate(whole, GE).delay_fo4
    assert path / stages <= longest <= path / stages + NEARBY * path + GE.xor_fo4


def test_any_gates_can_be_in_stages() -> None:
    with pyrtl.temp_working_block():
        a, b = pyrtl.Input(3, "a"), pyrtl.Input(3, "b")
        sink = pyrtl.Output(4, "sink")
        sink <<= pyrtl.select(a[0] ^ b[2], a + b, pyrtl.concat(b, ~a[1]))
        found = staged(pyrtl.working_block(), 3)
    assert found.graph.count(Kind.MUX) > 0
    with pyrtl.temp_working_block():
        a, b = pyrtl.Input(3, "a"), pyrtl.Input(3, "b")
        sink = pyrtl.Output(4, "sink")
        sink <<= found.build("staged", {"a": a, "b": b})["sink"]
        simulation = pyrtl.FastSimulation(tracer=None, block=pyrtl.working_block())
    expected = []
    for x, y in product(range(8), repeat=2):
        simulation.step({"a": x, "b": y})
        expected.append(x + y if (x ^ y >> 2) & 1 else y << 1 | (~x >> 1 & 1))
        if len(expected) > 2:
            assert simulation.inspect("sink") == expected[-3]


CORES = {
    "5": Core(carryless="pipelined_4"),
    "5-decode": Core(carryless="pipelined_4", branch="decode"),
    "5-plain": Core(carryless="pipelined_4", forwarding=False),
    "3": Core(carryless="pipelined_4", pipeline=3),
    "2": Core(carryless="pipelined_4", pipeline=2),
}


@cache
def netlist(name: str) -> Netlist:
    return Netlist(CORES[name], InstructionSet.of(32, "rv32i", "zbc"))


INDEPENDENT = "clmul a2, a0, a1\n clmulh a3, a0, a1\n clmulr a4, a1, a1\n clmul a5, a1, a1"
DEPENDENT = "clmul a2, a0, a1\n clmul a2, a2, a1\n xor a0, a2, a1"
IN_TURN = "clmul a2, a0, a1\n addi a3, a0, 1\n addi a4, a0, 2"
TURN_OR_RESULT = "clmul a2, a0, a1\n addi a3, a0, 1\n xor a0, a2, a1"
COMPARED = "clmul a2, a0, a1\n beq a2, zero, 8"
# The last of 4 stages is 1, 2 or 3 cycles behind that in which others retire, with 5, 3 or 2
# stages of the core, where 2, 1 or 0 lie behind EX. Nothing else delays the host call at the end.
COUNTED = {
    INDEPENDENT: {"5": 4 + 1 + 1, "5-plain": 4 + 1 + 1, "3": 4 + 2 + 1, "2": 4 + 3 + 1},
    DEPENDENT: {"5": 4 + 4 + 1 + 1, "5-plain": 10, "3": 10, "2": 10},
    IN_TURN: {"5": 1 + 1 + 3, "5-plain": 1 + 1 + 3, "3": 1 + 2 + 3, "2": 1 + 3 + 3},
    # In EX in cycle 5, when the result is there, or behind what waited for its turn.
    TURN_OR_RESULT: {"5": 5 + 1, "5-plain": 5 + 1, "3": 2 + 2 + 1 + 1, "2": 2 + 3 + 1 + 1},
    COMPARED: {"5": 5 + 1, "5-decode": 6 + 1, "3": 5 + 1, "2": 5 + 1},
}


@pytest.mark.parametrize("body", COUNTED, ids=str.split)
def test_cycles_by_hand(body: str) -> None:
    for name, cycles in COUNTED[body].items():
        on = netlist(name)
        program = assemble(f"{body}\n ebreak\n ebreak", on.instructions)
        run = Machine(on.instructions, program).run([7, 5])
        assert price(run.blocks, run.trace, on.core) == cycles, name
        (first, _), *_, (last, _) = on.run(program, [7, 5]).retirements
        assert last - first == cycles - 1 - delay_of(on.core, 4), name
        assert compare(on, program, [7, 5]).equal


@pytest.mark.parametrize("name", CORES)
def test_all_retire_in_order(name: str) -> None:
    body = "clmul a0, a1, a1\n addi a0, zero, 3\n clmul a2, a1, a1\n lw a2, -4(sp)\n sw a1, -8(sp)"
    program = assemble(f"{body}\n clmul a3, a1, a1\n addi a4, a3, 1\n ebreak", SETS[32])
    run = netlist(name).run(program, [7, 5])
    assert [pc for _, pc in run.retirements] == list(range(0, 32, 4))
    assert run.registers[10:15] == (3, 5, 0, 17, 18)  # 5 is x^2 + 1, its square x^4 + 1


@pytest.mark.parametrize("name", CORES)
@pytest.mark.parametrize("leave", ["beq zero, zero, over", "j over", "jalr zero, 0(a5)"])
def test_wrong_path_leaves_nothing(name: str, leave: str) -> None:
    """No result, and no wait: the cycles are those with anything else behind the jump."""
    cycles = []
    for behind in ("clmul a0, a1, a1", "addi t0, a1, 1"):
        body = "\n ".join([leave, behind, behind, "over: addi a3, a0, 1", "ebreak"])
        program = assemble(body, SETS[32])
        args = (7, 5, 0, 0, 0, 12)
        run = netlist(name).run(program, args)
        assert (run.registers[10], run.registers[13]) == (7, 8)
        assert compare(netlist(name), program, args).equal
        cycles.append(run.retirements[-1][0] - run.retirements[0][0])
    assert cycles[0] == cycles[1]


@pytest.mark.parametrize("name", [n for n in CORES if n != "5-decode"])
def test_the_compiler_knows_how_far_a_product_is_from_its_use(name: str) -> None:
    """So many products between two that depend cost nothing, and one more costs a cycle."""

    def cycles(between: int) -> int:
        body = "clmul a2, a0, a1\n" + "clmul a3, a0, a1\n" * between + "clmul a2, a2, a1\n ebreak"
        run = Machine(SETS[32], program := assemble(body, SETS[32])).run([7, 5])
        return price(run.blocks, run.trace, CORES[name], entry=program.entry)

    waits = Waits.of(CORES[name])
    enough = waits.after(SETS[32].by_name["clmul"], is_load=False)
    assert enough == 3
    assert cycles(0) == cycles(enough) == cycles(enough + 1) - 1
    assert waits.after(SETS[32].by_name["add"], is_load=False) == waits.other
    assert waits.own
    assert not Waits.of(Core(multiplier=8, carryless=8)).own


def test_one_unit_may_be_pipelined_and_the_other_iterative() -> None:
    core = Core(multiplier="pipelined_2", carryless=8)
    mul, clmul = (SETS[32].by_name[name] for name in ("mul", "clmul"))
    assert (unit_of(core, mul), operation_of(core, mul)) == ("multiplier", None)
    assert (unit_of(core, clmul), operation_of(core, clmul)) == (None, ("carryless", "clmul"))


def test_what_cannot_be_built_is_refused() -> None:
    with pytest.raises(ValueError, match="latency of clmul must be left to the pipelined unit"):
        build_core(CORES["5"], SETS[32], {"clmul": 3})
    with pytest.raises(ValueError, match=r"multiplier must be one of \[0, 2, .* not 'pipelined_5'"):
        Core(multiplier="pipelined_5")
