"""Families: meanings that differ in constants become one instruction with an immediate."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from dse.propose.collection import ideas
from dse.propose.enumeration import enumerate_subgraphs
from dse.propose.graph import Graph
from dse.propose.group import group
from dse.propose.idea import Idea
from dse.propose.proof import prove
from dse.propose.work import Work
from isa.aes import sbox
from isa.bits import Bits, arg, concat, evaluate, lookup
from isa.table import Table

X = [arg(f"x{i}", 32) for i in range(8)]
K = [arg(f"k{i}", 32) for i in range(8)]
RANDOM = Table("random", 32, tuple(pow(i + 3, 5, 0xFFFFFFFB) for i in range(256)))


def found(roots: Sequence[Bits], inputs: int = 2) -> list[Idea]:
    graph = Graph.of(roots)
    groups = group([(graph, enumerate_subgraphs(graph, inputs))], Work(), 32)
    return ideas(groups, 32)


def with_immediates(roots: Sequence[Bits], names: Sequence[str], inputs: int = 2) -> list[Idea]:
    return [i for i in found(roots, inputs) if [n for n, _ in i.immediates] == list(names)]


def placed(x: Bits, byte: int, turn: int) -> Bits:
    return lookup(RANDOM, x.byte(byte)).rotl(turn)


def test_byte_and_placement_in_step_need_one_immediate() -> None:
    roots = [placed(X[i], i, 8 * i) ^ K[i] for i in range(4)]
    best = with_immediates(roots, ["bs"])[0]
    assert best.settings == ((0,), (1,), (2,), (3,))
    assert best.operands == 2
    assert prove(best).is_proof
    for bs in range(4):
        values = {"rs1": 0x0F0F0F0F, "rs2": 0x01234567, "bs": bs}
        entry = RANDOM.entries[0x01234567 >> 8 * bs & 0xFF]
        turned = (entry << 8 * bs | entry >> 32 - 8 * bs) & 0xFFFFFFFF
        assert evaluate(best.root, values) == turned ^ 0x0F0F0F0F


@pytest.mark.parametrize("stride", [8, 16, 24, 0])
def test_any_stride_of_whole_bytes(stride: int) -> None:
    roots = [placed(X[i], i, (5 * 8 + stride * i) % 32) ^ K[i] for i in range(4)]
    best = with_immediates(roots, ["bs"])[0]
    assert len(best.groups) == 4
    assert prove(best).is_proof


def test_an_accumulator_may_turn_instead_of_the_byte() -> None:
    total = K[0]
    for i in (1, 2, 3, 0):
        total = total.rotr(8) ^ placed(X[0], i, 0)
    best = with_immediates([total], ["bs"])[0]
    assert best.formula.startswith("rotr(rs1, 8) ^ ")
    assert best.settings == ((0,), (1,), (2,), (3,))
    assert prove(best).is_proof


def test_placement_out_of_step_needs_a_second_immediate() -> None:
    places = [(0, 0), (1, 0), (1, 16), (2, 8), (3, 24)]
    roots = [placed(X[i], byte, turn) ^ K[i] for i, (byte, turn) in enumerate(places)]
    best = with_immediates(roots, ["bs", "place"])[0]
    assert len(best.groups) >= len(places)
    assert prove(best).is_proof


def test_a_named_s_box_stays_one() -> None:
    roots = [lookup(sbox(), X[i].byte(i)).zext(32) << 8 * i for i in range(4)]
    best = with_immediates(roots, ["bs"], 1)[0]
    assert best.formula == "rotl(aes_sbox[rs1.byte(bs)], 8 * bs)"
    assert prove(best).is_proof


def test_bytes_of_two_registers_that_move_together() -> None:
    roots = [
        placed(X[2 * i], 2 * i, 16 * i) ^ placed(X[2 * i + 1], 2 * i + 1, 16 * i) ^ K[i] ^ K[i + 2]
        for i in range(2)
    ]
    best = next(i for i in with_immediates(roots, ["bs"]) if "bs + 1" in i.formula)
    assert best.settings == ((0,), (2,))
    assert best.operands == 2
    assert prove(best).is_proof
    accumulated = next(i for i in with_immediates(roots, ["bs"], 3) if i.operands == 3)
    assert prove(accumulated).is_proof


@pytest.mark.parametrize(
    ("shape", "operands"),
    [
        (lambda x, k, n: x.rotr(n), 1),
        (lambda x, k, n: x.rotr(n) ^ k, 2),
        (lambda x, k, n: (x + k).rotr(n), 2),
        (lambda x, k, n: x.rotr(n) + (x & k), 2),
    ],
)
def test_rotations_by_different_amounts(shape, operands: int) -> None:  # type: ignore[no-untyped-def]
    roots = [shape(X[i], K[i], n) for i, n in enumerate((3, 11, 25))]
    best = max(with_immediates(roots, ["amount"]), key=lambda i: i.occurrences[0].work)
    assert best.settings == ((3,), (11,), (25,))
    assert best.operands == operands
    assert prove(best).is_proof


def test_order_of_terms_does_not_split_a_family() -> None:
    roots = [X[0] ^ (K[0] ^ X[0].rotr(3)), (X[1].rotr(5) ^ X[1]) ^ K[1]]
    best = max(with_immediates(roots, ["amount"]), key=lambda i: i.occurrences[0].work)
    assert best.settings == ((3,), (5,))


def test_words_cut_from_two_registers() -> None:
    roots = [(X[i] >> n) | (K[i] << 32 - n) for i, n in enumerate((1, 8, 30))]
    (best,) = (i for i in with_immediates(roots, ["amount"]) if i.operands == 2)
    assert best.settings == ((1,), (8,), (30,))
    assert best.root is concat(arg("rs1", 32), arg("rs2", 32)).shr_var(
        arg("amount", 5).zext(6)
    ).slice(0, 32)
    assert prove(best).is_proof


def test_one_member_is_no_family() -> None:
    assert not with_immediates([placed(X[0], 2, 8) ^ K[0]], ["bs"])
    assert not with_immediates([X[0].rotr(3) ^ K[0]], ["amount"])
