from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyrtl
import pytest

from hw.bitblast import bitblast
from hw.graph import Graph, Kind, sweep

MASK64 = (1 << 64) - 1


def blast(build: Callable[[], None]) -> Graph:
    with pyrtl.temp_working_block():
        build()
        return bitblast(pyrtl.working_block())


def evaluate(graph: Graph, values: dict[str, int]) -> dict[str, int]:
    """Values of all sinks for values of the sources, by definition of the node kinds."""
    value = [0] * len(graph.kind)
    for port in graph.sources:
        for i, literal in enumerate(port.literals):
            value[literal >> 1] = values[port.name] >> i & 1

    def get(literal: int) -> int:
        return value[literal >> 1] ^ (literal & 1)

    for node, kind in enumerate(graph.kind):
        fanin = [get(f) for f in graph.fanin[node]]
        if kind is Kind.AND:
            value[node] = fanin[0] & fanin[1]
        elif kind is Kind.XOR:
            value[node] = fanin[0] ^ fanin[1]
        elif kind is Kind.MUX:
            value[node] = fanin[1] if fanin[0] else fanin[2]
    return {
        port.name: sum(get(literal) << i for i, literal in enumerate(port.literals))
        for port in graph.sinks
    }


def keccak_round() -> None:
    """FIPS 202 section 3.2: theta, rho, pi, chi, iota on 25 lanes of 64 bits."""
    state, constant = pyrtl.Input(1600, "state"), pyrtl.Input(64, "constant")
    offsets = [
        *((0, 36, 3, 41, 18), (1, 44, 10, 45, 2), (62, 6, 43, 15, 61)),
        *((28, 55, 25, 21, 56), (27, 20, 39, 8, 14)),
    ]

    def rotl(word: pyrtl.WireVector, n: int) -> pyrtl.WireVector:
        return pyrtl.concat(word[: 64 - n], word[64 - n :]) if n else word

    lanes = {
        (x, y): state[64 * (x + 5 * y) : 64 * (x + 5 * y) + 64] for x in range(5) for y in range(5)
    }
    column = [lanes[x, 0] ^ lanes[x, 1] ^ lanes[x, 2] ^ lanes[x, 3] ^ lanes[x, 4] for x in range(5)]
    theta = [column[(x - 1) % 5] ^ rotl(column[(x + 1) % 5], 1) for x in range(5)]
    moved = {
        (y, (2 * x + 3 * y) % 5): rotl(lane ^ theta[x], offsets[x][y])
        for (x, y), lane in lanes.items()
    }
    chi = {
        (x, y): moved[x, y] ^ (~moved[(x + 1) % 5, y] & moved[(x + 2) % 5, y])
        for x in range(5)
        for y in range(5)
    }
    chi[0, 0] = chi[0, 0] ^ constant
    result = pyrtl.Output(1600, "result")
    result <<= pyrtl.concat_list([chi[x, y] for y in range(5) for x in range(5)])


def test_a_keccak_round_has_exactly_its_published_operations() -> None:
    # theta 5 * 4 * 64 + 5 * 64 + 25 * 64 XOR, chi 25 * 64 of XOR and of AND, iota 64 XOR.
    graph = blast(keccak_round)
    assert graph.count(Kind.XOR) == 1280 + 320 + 1600 + 1600 + 64 == 4864
    assert graph.count(Kind.AND) == 1600
    assert graph.count(Kind.MUX) == 0


OPERATORS: dict[str, Callable[[int, int, int], int]] = {
    "and": lambda a, b, w: a & b,
    "or": lambda a, b, w: a | b,
    "xor": lambda a, b, w: a ^ b,
    "nand": lambda a, b, w: ~(a & b) & ((1 << w) - 1),
    "not": lambda a, b, w: ~a & ((1 << w) - 1),
    "add": lambda a, b, w: a + b,
    "sub": lambda a, b, w: (a - b) & ((2 << w) - 1),
    "mul": lambda a, b, w: a * b,
    "eq": lambda a, b, w: int(a == b),
    "lt": lambda a, b, w: int(a < b),
    "gt": lambda a, b, w: int(a > b),
    "mux": lambda a, b, w: b if a & 1 else a,
    "concat": lambda a, b, w: a << w | b,
    "reverse": lambda a, b, w: int(f"{a:0{w}b}"[::-1], 2),
}


def every_operator(width: int) -> None:
    a, b = pyrtl.Input(width, "a"), pyrtl.Input(width, "b")
    results = {
        "and": a & b,
        "or": a | b,
        "xor": a ^ b,
        "nand": a.nand(b),
        "not": ~a,
        "add": a + b,
        "sub": a - b,
        "mul": a * b,
        "eq": a == b,
        "lt": a < b,
        "gt": a > b,
        "mux": pyrtl.select(a[0], b, a),
        "concat": pyrtl.concat(a, b),
        "reverse": pyrtl.concat_list(list(reversed(list(a)))),
    }
    for name, wire in results.items():
        output = pyrtl.Output(len(wire), name)
        output <<= wire


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_every_pyrtl_operator_is_right_on_all_operands(width: int) -> None:
    graph = blast(lambda: every_operator(width))
    for a in range(1 << width):
        for b in range(1 << width):
            got = evaluate(graph, {"a": a, "b": b})
            assert got == {name: f(a, b, width) for name, f in OPERATORS.items()}, (a, b)


@pytest.mark.parametrize("width", [8, 31, 32, 64])
def test_every_pyrtl_operator_is_right_on_random_wide_operands(width: int) -> None:
    graph = blast(lambda: every_operator(width))
    draw = random.Random(1)
    corners = [0, 1, (1 << width) - 1, 1 << (width - 1)]
    for _ in range(40):
        a, b = (draw.choice([draw.getrandbits(width), draw.choice(corners)]) for _ in range(2))
        got = evaluate(graph, {"a": a, "b": b})
        assert got == {name: f(a, b, width) for name, f in OPERATORS.items()}, (a, b)


def test_a_rom_becomes_multiplexers_and_reads_its_data() -> None:
    data = [(37 * i + 5) & 0xFF for i in range(60)]

    def build() -> None:
        rom = pyrtl.RomBlock(8, 6, data, asynchronous=True, pad_with_zeros=True)
        output = pyrtl.Output(8, "y")
        output <<= rom[pyrtl.Input(6, "x")]

    graph = blast(build)
    assert not graph.memories
    assert [evaluate(graph, {"x": i})["y"] for i in range(64)] == data + [0] * 4


def test_a_memory_becomes_ports() -> None:
    def build() -> None:
        memory = pyrtl.MemBlock(32, 5, name="registers", max_read_ports=2, asynchronous=True)
        output = pyrtl.Output(32, "sum")
        output <<= memory[pyrtl.Input(5, "a")] ^ memory[pyrtl.Input(5, "b")]
        enable = pyrtl.MemBlock.EnabledWrite(pyrtl.Input(32, "d"), pyrtl.Input(1, "we"))
        memory[pyrtl.Input(5, "w")] <<= enable

    graph = blast(build)
    (memory,) = graph.memories
    assert (memory.words, memory.width, memory.reads, memory.writes) == (32, 32, 2, 1)
    assert graph.count(Kind.MEMORY) == 64
    assert graph.count(Kind.XOR) == 32
    assert {port.name for port in graph.sinks if port.role == "write"} == {
        "registers.write0.address",
        "registers.write0.data",
        "registers.write0.enable",
    }


def test_registers_count_only_where_they_reach_an_output() -> None:
    def build() -> None:
        kept, lost = pyrtl.Register(7, "kept"), pyrtl.Register(9, "lost")
        kept.next <<= kept + 1
        lost.next <<= lost + 1
        output = pyrtl.Output(7, "y")
        output <<= kept

    assert blast(build).flip_flops == 7


def test_equal_logic_is_one_node_and_a_cone_leaves_the_rest_out() -> None:
    def build() -> None:
        a, b, c = (pyrtl.Input(1, name) for name in "abc")
        x, y, z = (pyrtl.Output(1, name) for name in "xyz")
        x <<= a & b
        y <<= ~(~b | ~a)
        z <<= a ^ b ^ c

    graph = blast(build)
    assert (graph.count(Kind.AND), graph.count(Kind.XOR)) == (1, 2)
    cone = sweep(graph, ("x",))
    assert (cone.count(Kind.AND), cone.count(Kind.XOR)) == (1, 0)
    with pytest.raises(ValueError, match=r"^sink must be one of x, y, z, not 'q'$"):
        sweep(graph, ("q",))


def test_the_digest_is_of_structure() -> None:
    def build(prefix: int, operator: str = "xor") -> str:
        def body() -> None:
            for _ in range(prefix):  # PyRTL numbers its own names on from here
                pyrtl.WireVector(1)
            a, b = pyrtl.Input(8, "a"), pyrtl.Input(8, "b")
            hidden = pyrtl.Register(8)
            hidden.next <<= a ^ b if operator == "xor" else a & b
            output = pyrtl.Output(8, "y")
            output <<= hidden

        return blast(body).digest()

    assert build(0) == build(13)
    assert build(0) != build(0, "and")


SCRIPT = """
import pyrtl
from hw.bitblast import bitblast
from hw.units import circuits_for
names = ["alpha", "beta", "gamma", "delta"]
registers = [pyrtl.Register(8, name) for name in names]
x = pyrtl.Input(8, "x")
for register, build in zip(registers, [*circuits_for("aes_sbox").values()] * 2):
    register.next <<= build(x ^ register)
    output = pyrtl.Output(9, register.name + "_out")
    output <<= register + x
print(bitblast(pyrtl.working_block()).digest())
"""


def test_the_graph_does_not_depend_on_the_hash_seed() -> None:
    root = Path(__file__).parents[2]
    digests = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            cwd=root,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4242")
    }
    assert len(digests) == 1


def test_an_open_wire_is_named() -> None:
    with pyrtl.temp_working_block():
        output = pyrtl.Output(1, "y")
        output <<= pyrtl.WireVector(1, "loose")
        block = pyrtl.working_block()
        with pytest.raises(ValueError, match=r"^wire loose must be driven, not left open$"):
            bitblast(block)


def test_a_combinational_loop_is_refused() -> None:
    with pyrtl.temp_working_block():
        a, b = pyrtl.WireVector(1, "a"), pyrtl.WireVector(1, "b")
        a <<= ~b
        b <<= ~a
        output = pyrtl.Output(1, "y")
        output <<= a
        block = pyrtl.working_block()
        with pytest.raises(ValueError, match=r"must not depend on itself without a register$"):
            bitblast(block)
