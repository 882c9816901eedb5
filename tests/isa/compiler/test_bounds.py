"""Bounds: never above what a program takes, and met where nothing is in the way."""

from __future__ import annotations

import pytest

import workloads
from dse.measure.known_answers import cases
from isa.bits import Bits
from isa.compiler import compile_kernel
from isa.compiler.bounds import bounds
from isa.instruction_set import InstructionSet
from isa.kernel import Builder, Index
from isa.machine import Machine
from isa.timing import Core, price

RV32 = InstructionSet.of(32, "rv32i")
KERNELS = [
    ("aes128-encrypt", "ttable", (), 1),
    ("aes128-encrypt", "sbox", ("zkne",), 1),
    ("sha256", "plain", ("zbb",), 1),
    ("sha256-block", "rolling", ("zknh",), 1),
    ("ascon-p12", "plain", ("zbkb",), "full"),
    ("chacha20-block", "plain", (), 1),
    ("ghash-block", "clmul", ("zbkb", "zbkc"), 1),
    ("ghash-block-table", "comb", (), 1),
    ("present80-encrypt", "table", (), 2),
]


@pytest.mark.parametrize(("name", "kernel", "extensions", "unroll"), KERNELS)
def test_bounds_hold(name, kernel, extensions, unroll):
    workload = workloads.get(name)
    instructions = InstructionSet.of(32, "rv32i", *extensions)
    build = workload.kernels[kernel].build
    latencies = {"sha256sum0": 3, "aes32esmi": 2, "clmul": 4, "xor": 1}
    latencies = {n: c for n, c in latencies.items() if n in instructions.by_name}
    found = bounds(build, instructions, unroll=unroll, latencies=latencies)
    program = compile_kernel(build, instructions, unroll=unroll, latencies=latencies)
    case = cases(workload, program)[0]
    run = Machine(instructions, program).run(case.arguments, case.memory)
    assert found.instructions <= run.kernel_instructions
    for core in (Core(), Core(pipeline=2), Core(pipeline=3, forwarding=False)):
        assert found.cycles <= price(run.blocks, run.trace, core, latencies, entry=program.entry)
    assert found.instructions > 0.7 * run.kernel_instructions


def chain(k: Builder) -> None:
    """One chain of 60 operations around a loop."""
    a = k.pointer("a")

    def step(i: Index, x: Bits) -> Bits:
        for n in range(5):
            x = (x << 1) + x.rotr(1 + n) if n == 4 else x + 1 ^ n
        return x

    (x,) = k.loop(12, step, k.load(a))
    k.store(a, 0, x)


def test_a_chain_is_followed_around_a_loop():
    """Ten operations for each of twelve steps, a load and a store."""
    assert bounds(chain, RV32).path == bounds(chain, RV32, unroll="full").path


def test_chains_are_continued_where_they_are_not_followed(monkeypatch):
    exact = bounds(chain, RV32)
    monkeypatch.setattr("isa.compiler.bounds.FOLLOWED", 1)
    monkeypatch.setattr("isa.compiler.bounds.LONGEST_CYCLE", 3)
    assert 0.9 * exact.path <= bounds(chain, RV32).path <= exact.path


def test_straight_code_without_spills_meets_the_bound():
    def build(k: Builder) -> None:
        a = k.pointer("a")
        k.store(a, 8, (k.load(a) ^ k.load(a, 4)) + 0x12345678)

    found = bounds(build, RV32)
    assert found.instructions == compile_kernel(build, RV32).code_bytes // 4 == 8
    assert found.path == 4  # load, sum, sum, store


@pytest.mark.parametrize("effort", ["default", "search"])
@pytest.mark.parametrize("unroll", [1, "full"])
def test_the_report_counts_what_is_executed(unroll, effort):
    """Counted from the code before it runs; two loops, one inside the other."""
    workload = workloads.get("chacha20-block")
    build = workload.kernels["looped"].build
    program = compile_kernel(build, RV32, unroll=unroll, effort=effort)
    case = cases(workload, program)[0]
    run = Machine(RV32, program).run(case.arguments, case.memory)
    assert program.report["executed"] == run.kernel_instructions
    assert 0 <= run.kernel_instructions - program.report["least"] < 300


def test_a_loop_too_long_for_its_branch_is_counted():
    """Its branch is jumped over the last time."""

    def build(k: Builder) -> None:
        a = k.pointer("a")

        def step(i: Index, x: Bits) -> Bits:
            for n in range(1200):
                x = (x + n) ^ 5
            return x

        (x,) = k.loop(3, step, k.load(a))
        k.store(a, 0, x)

    program = compile_kernel(build, RV32)
    run = Machine(RV32, program).run([0x1_1000], {0x1_1000: bytes(4)})
    assert program.report["executed"] == run.kernel_instructions


@pytest.mark.slow
def test_a_search_finds_more():
    """Fewer spills in the S-boxes, and less waiting for loads."""
    build = workloads.get("aes128-encrypt").kernels["bitsliced"].build
    default, search = (
        compile_kernel(build, RV32, unroll=1, effort=e).report for e in ("default", "search")
    )
    assert search["least"] <= search["executed"] < default["executed"]
    assert search["waits"] <= default["waits"]
    with pytest.raises(
        ValueError, match=r"^effort must be one of default, search, exact, not 'hard'"
    ):
        compile_kernel(build, RV32, effort="hard")
