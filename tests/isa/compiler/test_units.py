"""Units with state: found by their meaning, filled as planned, used in the kernel's order."""

from __future__ import annotations

import random

import pytest

from isa.bits import Bits
from isa.compiler import compile_kernel
from isa.compiler.banks import BankPlan
from isa.compiler.gather import matrix_content
from isa.compiler.units import find_mask_unit, find_matrix_unit
from isa.instruction_set import InstructionSet, load_extension
from isa.kernel import Builder, Index, UnsupportedKernel, trace
from tests.isa.compiler.interpreter import Interpreter
from tests.workloads.interpret import Interpreter as Reference

BASE = InstructionSet.of(32, "rv32i")
RANDOM = random.Random(3)
MATRICES = [tuple(RANDOM.getrandbits(32) for _ in range(32)) for _ in range(5)]
MASK = 0xE39498F421BC4A80
"""The S-box of PRESENT as the published NLU-V program gives it."""


def with_banks(banks: int, push: int = 16, readback: int = 0) -> InstructionSet:
    return BASE + load_extension("nluv", banks=banks, push=push, readback=readback)


@pytest.mark.parametrize("banks", [1, 2, 4])
def test_the_matrix_unit_is_found_by_its_meaning(banks):
    unit = find_matrix_unit(with_banks(banks))
    assert unit is not None
    assert unit.banks == tuple(f"lrg{b}" for b in range(banks))
    assert [u.instruction.name for u in unit.uses] == ["nmu"] * banks
    assert [u.instruction.name for u in unit.accumulates] == ["nma1"] * banks
    assert [u.instruction.name for u in unit.pushes] == ["nldl"] * banks
    assert unit.history == ("rl0", "rl1", "rl2", "rl3")
    assert unit.chunks(0x1234 << 1008 | 0x5678, 1024)[:2] == [0x1234, 0]
    assert unit.chunks(0x1234 << 1008 | 0x5678, 32) == [0, 0x5678]


@pytest.mark.parametrize("readback", [0, 1])
def test_a_push_of_a_register_is_found_by_its_meaning(readback):
    instructions = with_banks(2, 32, readback)
    matrix, mask = find_matrix_unit(instructions), find_mask_unit(instructions)
    assert matrix is not None
    assert mask is not None
    pushes = [(u.instruction.name, dict(u.fixed), u.data) for u in matrix.pushes]
    assert pushes == [("nldl", {"bank": 0}, ""), ("nldl", {"bank": 1}, "")]
    assert [(u.instruction.name, u.data) for u in mask.pushes] == [("nldnl", "")]
    assert matrix.chunk == mask.chunk == 32
    assert matrix.chunks(0x12345678 << 992 | 0x5678, 1024)[:2] == [0x12345678, 0]


def test_the_mask_unit_is_found_by_its_meaning():
    unit = find_mask_unit(with_banks(1))
    assert unit is not None
    assert [u.instruction.name for u in unit.uses] == ["nnlanf"]
    assert [u.instruction.name for u in unit.pushes] == ["nldnl"]


def test_plain_sets_have_no_units():
    assert find_matrix_unit(BASE) is None
    assert find_mask_unit(BASE) is None


def products(matrices: int, rounds: int):
    """A chain of products in a loop, some accumulated."""

    def build(k: Builder) -> None:
        a = k.pointer("a")

        def body(i: Index, x: Bits, y: Bits) -> tuple[Bits, Bits]:
            for m in range(matrices):
                x = k.multiply(MATRICES[m], x ^ y, accumulate=m % 3 == 1)
            return y, x ^ k.load(a, 4 * i)

        x, y = k.loop(rounds, body, k.load(a), k.load(a, 4), unroll=False)
        z = k.multiply(MATRICES[0], x)
        k.store(a, 0, z ^ y)
        k.store(a, 4, k.anf(MASK, z))

    return build


@pytest.mark.parametrize("matrices", [1, 2, 3, 5])
@pytest.mark.parametrize(("banks", "push"), [(1, 16), (2, 16), (4, 16), (1, 32), (4, 32)])
def test_products_in_loops_with_any_number_of_banks(banks, push, matrices):
    build = products(matrices, 6)
    instructions = with_banks(banks, push)
    program = compile_kernel(build, instructions)
    data = random.Random(banks).randbytes(32)
    run = Interpreter(program, instructions)
    run.write(0x20000, data)
    run.run([0x20000])
    kernel = trace(build, 32)
    reference = Reference(kernel, {"a": bytearray(data)})
    reference.run(kernel.body, {})
    assert run.read(0x20000, 32) == bytes(reference.memory["a"])
    if matrices <= banks:  # filled once, outside the loop
        assert run.mnemonics.count("nldl") == 1024 // push * matrices
    elif banks > 1:  # all banks but one are kept
        assert run.mnemonics.count("nldl") < 1024 // push * (6 * matrices + 1)


def test_present_s_box_from_its_published_mask():
    """Bogdanov et al. 2007, table 1."""
    s_box = [0xC, 5, 6, 0xB, 9, 0, 0xA, 0xD, 3, 0xE, 0xF, 8, 4, 7, 1, 2]

    def build(k: Builder) -> None:
        a = k.pointer("a")
        k.store(a, 4, k.anf(MASK, k.load(a)))

    instructions = with_banks(1)
    run = Interpreter(compile_kernel(build, instructions), instructions)
    run.write(0x20000, (0x76543210).to_bytes(4, "little") + bytes(4))
    run.run([0x20000])
    expected = sum(s_box[n] << 4 * n for n in range(8))
    assert run.read(0x20004, 4) == expected.to_bytes(4, "little")
    assert run.mnemonics.count("nldnl") == 4


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (products(1, 2), r"^kernel multiplies with matrices, for which the instruction set has no"),
        (
            lambda k: k.store(k.pointer("a"), 0, k.anf(MASK, k.word("x"))),
            r"^kernel substitutes by a mask, for which the instruction set has no unit; add nluv",
        ),
    ],
)
def test_sets_without_the_unit_are_refused(build, message):
    with pytest.raises(UnsupportedKernel, match=message):
        compile_kernel(build, BASE)


def plan_of(build, banks: int) -> tuple[list[int], list[tuple[int, int]]]:
    """Bank of every product, and fills in order as (bank, number of the matrix)."""
    kernel = trace(build, 32)
    contents = [sum(row << 32 * i for i, row in enumerate(m)) for m in MATRICES]
    plan = BankPlan(kernel.body, banks, 1024, 16, matrix_content)
    fills = [(f.bank, contents.index(f.content)) for found in plan.before.values() for f in found]
    return list(plan.bank_of.values()), fills


def test_what_fits_is_filled_once():
    banks, fills = plan_of(products(2, 3), 2)
    assert banks == [0, 1, 0]
    assert fills == [(0, 0), (1, 1)]


def test_one_bank_is_refilled_where_a_matrix_changes():
    _, fills = plan_of(products(3, 3), 1)
    assert fills == [(0, 0), (0, 1), (0, 2), (0, 0)]


def test_all_banks_but_one_are_kept_where_not_all_fit():
    banks, fills = plan_of(products(3, 3), 2)
    assert fills[0] == (0, 0)
    assert sorted(fills[1:]) == [(1, 1), (1, 2)]
    assert banks == [0, 1, 1, 0]


@pytest.mark.parametrize("rounds", [1, 2, 6])
def test_rows_that_stand_in_a_bank_are_not_pushed_again(rounds):
    """The second matrix is the first moved up 8 rows, the third the second moved up 16."""
    low = (1 << 1024) - 1
    first = RANDOM.getrandbits(1024)
    second = (first << 256 | RANDOM.getrandbits(256)) & low
    third = (second << 512 | RANDOM.getrandbits(256) << 256 | first >> 768) & low
    chain = [tuple(c >> 32 * i & 0xFFFFFFFF for i in range(32)) for c in (first, second, third)]

    def build(k: Builder) -> None:
        a = k.pointer("a")

        def body(i: Index, x: Bits) -> tuple[Bits, ...]:
            for matrix in chain:
                x = k.multiply(matrix, x) ^ k.load(a, 4 * i)
            return (x,)

        k.store(a, 0, k.loop(rounds, body, k.load(a, 28), unroll=False)[0])

    instructions = with_banks(1)
    data = random.Random(rounds).randbytes(32)
    run = Interpreter(compile_kernel(build, instructions), instructions)
    run.write(0x20000, data)
    run.run([0x20000])
    kernel = trace(build, 32)
    reference = Reference(kernel, {"a": bytearray(data)})
    reference.run(kernel.body, {})
    assert run.read(0x20000, 32) == bytes(reference.memory["a"])
    assert run.mnemonics.count("nldl") == 16 + (48 + 16 + 32) * rounds
