"""The constraint solver's orders, against all orders of small blocks."""

from __future__ import annotations

import itertools

import pytest

from isa.compiler import compile_kernel
from isa.compiler.exact_order import SolverMissing, exact_order
from isa.instruction_set import InstructionSet
from isa.kernel import Builder
from tests.isa.compiler.test_beam import peak, random_block


@pytest.mark.parametrize("seed", range(12))
def test_the_solver_finds_and_proves_the_least_pressure(seed):
    pytest.importorskip("ortools", reason="needs OR-Tools")
    block = random_block(seed)
    numbers = range(len(block.before))
    least = min(p for o in itertools.permutations(numbers) if (p := peak(block, o)) is not None)
    makers = {v: v for v in block.readers if v >= 0}
    order, is_proven = exact_order(block, makers, numbers, 0)
    assert is_proven
    assert peak(block, tuple(order)) == least


def crossing(k: Builder) -> None:
    """Sums of rows and of columns of a square: more values than registers in any order."""
    x, y = k.pointer("x"), k.pointer("y")
    square = [[k.load(x, 20 * i + 4 * j) for j in range(5)] for i in range(5)]
    for i in range(5):
        row, column = square[i][0], square[0][i]
        for j in range(1, 5):
            row, column = row + square[i][j], column ^ square[j][i]
        k.store(y, 8 * i, row)
        k.store(y, 8 * i + 4, column)


def test_the_report_says_what_is_proven():
    pytest.importorskip("ortools", reason="needs OR-Tools")
    instructions = InstructionSet.of(32, "rv32i")
    reports = [
        compile_kernel(crossing, instructions, effort=effort).report
        for effort in ("default", "search", "exact")
    ]
    assert [r["regions"] for r in reports] == [1, 1, 1]
    assert reports[0]["proven"] <= reports[1]["proven"] <= reports[2]["proven"] == 1
    assert reports[2]["executed"] <= reports[0]["executed"]


def test_a_missing_solver_is_said(monkeypatch):
    monkeypatch.setattr("isa.compiler.exact_order.find_spec", lambda _: None)
    with pytest.raises(
        SolverMissing, match=r"^effort exact needs OR-Tools, which is not installed"
    ):
        exact_order(random_block(0), {}, range(6), 0)
