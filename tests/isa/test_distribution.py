"""The second view: the same function, with one table look-up for each S-box of a packed sum."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest

import workloads
from dse.measure.measurement import cases
from isa.aes import sbox
from isa.bits import Bits, arg, arguments, concat, const, evaluate, lookup, topological
from isa.compiler import compile_kernel
from isa.distribution import distribute, turn
from isa.instruction_set import InstructionSet
from isa.machine import Machine
from isa.timing import Core
from isa.view import changes

X, Y, K = (arg(name, 32) for name in ("x", "y", "k"))


def substituted(w: Bits) -> Bits:
    return concat(*(lookup(sbox(), w.byte(i)) for i in reversed(range(4))))


def double_by_borrow(w: Bits) -> Bits:
    high = w & 0x80808080
    return ((w ^ high) << 1) ^ ((high - (high >> 7)) & 0x1B1B1B1B)


def double_by_product(w: Bits) -> Bits:
    return ((w & 0x7F7F7F7F) << 1) ^ (((w & 0x80808080) >> 7) * 0x1B)


def mix(w: Bits, double) -> Bits:  # type: ignore[no-untyped-def]
    pair = w ^ w.rotr(8)
    return double(pair) ^ w.rotr(8) ^ pair.rotr(16)


def check_equal(a: Bits, b: Bits) -> None:
    generator = random.Random(1)
    names = {str(n.attr): n.width for n in arguments([a, b])}
    for _ in range(50):
        values = {name: generator.getrandbits(width) for name, width in names.items()}
        assert evaluate(a, values) == evaluate(b, values)


def lookups(roots: Iterable[Bits]) -> list[Bits]:
    return [n for n in topological(roots) if n.op == "lookup"]


@pytest.mark.parametrize(
    "root",
    [
        substituted(X) ^ K,
        mix(substituted(X), double_by_borrow) ^ K,
        mix(substituted(X), double_by_product) ^ K,
        mix(substituted(X ^ Y), double_by_borrow) ^ K ^ 0x1234,
        substituted(X).rotl(13) ^ substituted(X) ^ substituted(Y).rotl(23),
    ],
)
def test_packed_sums_come_apart(root: Bits) -> None:
    (view,) = distribute([root])
    assert view is not root
    check_equal(view, root)
    for n in topological([view]):  # nothing but a sum of tables and plain values is left
        assert n.op in ("xor", "lookup", "slice", "arg", "const")
    assert all(n.attr.width == 32 for n in lookups([view]))  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "root",
    [
        X.rotr(3) ^ Y,
        (X + Y).rotr(3) ^ X,
        (lookup(sbox(), X.byte(0)).zext(32) << 8) ^ lookup(sbox(), Y.byte(1)).zext(32) ^ K,
        substituted(X) + K,
    ],
)
def test_what_is_no_packed_sum_stays(root: Bits) -> None:
    (view,) = distribute([root])
    assert view is root


def test_arithmetic_that_carries_is_not_linear() -> None:
    w = substituted(X)
    root = ((w & 0x80808080) - (w & 0x01010101)) ^ K
    (view,) = distribute([root])
    check_equal(view, root)
    assert any(n.op == "sub" for n in topological([view]))


def test_selected_values_are_kept_whole() -> None:
    inner = mix(substituted(X), double_by_borrow) ^ K
    root = mix(substituted(inner), double_by_borrow) ^ Y
    (view,) = distribute([root])
    check_equal(view, root)
    assert len(lookups([view])) == 8
    indices = {n.args[0].args[0] for n in lookups([view])}
    assert len(indices) == 2  # x and the column after the first round


def test_constants_are_carried_along() -> None:
    root = (substituted(X) ^ const(0x01020304, 32)).rotr(4) ^ Y
    (view,) = distribute([root])
    check_equal(view, root)


def turns(root: Bits) -> list[int]:
    """Amounts of the rotations on the way to the end of the sum."""
    found = []
    while root.op == "xor" or root.op == "rotr":
        if root.op == "rotr":
            assert isinstance(root.attr, int)
            found.append(root.attr)
        root = root.args[0]
    return found


def test_a_sum_is_turned_once_around() -> None:
    for root in (mix(substituted(X), double_by_borrow) ^ K, substituted(X) ^ K ^ Y):
        (view,) = turn([root])
        check_equal(view, root)
        assert turns(view) == [8, 8, 8, 8]
        assert len({n.attr for n in lookups([view])}) == 1


def test_what_cannot_be_turned_stays_beside() -> None:
    three = concat(const(0, 8), *(lookup(sbox(), X.byte(i)) for i in reversed(range(3))))
    assert turn([three ^ K]) == [three ^ K]
    whole = mix(substituted(X), double_by_borrow) ^ lookup(sbox(), Y.byte(1)).zext(32) ^ K
    (view,) = turn([whole])
    check_equal(view, whole)
    assert turns(view) == [8, 8, 8, 8]


@pytest.mark.parametrize("view", ["distributed", "turned"])
@pytest.mark.parametrize("name", ["aes128-encrypt", "aes128-decrypt"])
def test_a_kernel_in_another_view_gives_the_known_answers(name: str, view: str) -> None:
    workload = workloads.get(name)
    assert changes(workload.kernels["sbox"].build, view, 32)
    second = workload.kernel(f"sbox-{view}")
    assert second.name == f"sbox-{view}"
    instructions = InstructionSet.of(32, "rv32i")
    program = compile_kernel(second.build, instructions, Core(), unroll=1, latencies={})
    machine = Machine(instructions, program)
    for case in cases(workload, program):
        run = machine.run(case.arguments, case.memory)
        for address, expected in case.expected.items():
            assert run.read(address, len(expected)) == expected, case.source


@pytest.mark.parametrize(("name", "kernel"), [("aes128-encrypt", "ttable"), ("sm3-block", "plain")])
def test_kernels_written_so_have_no_second_view(name: str, kernel: str) -> None:
    assert not changes(workloads.get(name).kernels[kernel].build, "distributed", 32)
