from __future__ import annotations

import random
from itertools import combinations

import pyrtl
import pytest

from hw.area import estimate, mapped
from hw.extension import build_datapath, build_extension
from hw.inversion import BOXES, isomorphisms
from hw.lower import Circuits
from hw.sharing import share_lookups
from hw.technology import technology
from hw.units import Member, circuits_for
from isa import aes, sm4
from isa.bits import Bits, arg, evaluate, lookup, topological
from isa.instruction import Instruction
from isa.instruction_set import InstructionSet
from isa.table import Table

GE = technology("ge")
TABLES = {t.name: t for t in (aes.sbox(), aes.inverse_sbox(), sm4.sbox())}


def chosen(name: str) -> Circuits:
    return {table: circuits_for(table)[name] for table in TABLES}


GROUPS = [group for n in (1, 2, 3) for group in combinations(sorted(TABLES), n)]


@pytest.mark.parametrize("group", GROUPS, ids="+".join)
def test_a_joint_circuit_is_each_of_its_tables(group: tuple[str, ...]) -> None:
    member = circuits_for(group[0])["shared"]
    assert isinstance(member, Member)
    width = 8 + (len(group) - 1).bit_length()
    with pyrtl.temp_working_block():
        output = pyrtl.Output(8, "y")
        output <<= member.of(group)(pyrtl.Input(width, "x"))
        simulation = pyrtl.FastSimulation(tracer=None)
        for rank, name in enumerate(group):
            for x in range(256):
                simulation.step({"x": rank << 8 | x})
                assert simulation.inspect("y") == TABLES[name].entries[x], (name, x)


def test_a_joint_circuit_is_smaller_than_its_parts() -> None:
    def area(group: tuple[str, ...]) -> float:
        member = circuits_for(group[0])["shared"]
        assert isinstance(member, Member)
        with pyrtl.temp_working_block():
            output = pyrtl.Output(8, "y")
            index = pyrtl.Input(8 + (len(group) - 1).bit_length(), "x")
            output <<= member.of(group)(index)
            return mapped(pyrtl.working_block(), GE).area_ge

    apart = sum(area((name,)) for name in sorted(TABLES))
    # Satoh et al. save a third of the two AES S-boxes.
    assert area(("aes_inv_sbox", "aes_sbox")) < 0.8 * (apart - area(("sm4_sbox",)))
    assert area(tuple(sorted(TABLES))) < 0.7 * apart


def count(values: list[Bits]) -> int:
    return sum(n.op == "lookup" for n in topological(values))


def test_lookups_of_different_choices_become_one() -> None:
    x, y = arg("x", 8), arg("y", 8)
    s, t, u = (arg(name, 1) for name in "stu")
    a, b = lookup(aes.sbox(), x), lookup(aes.sbox(), y)
    choices = [(a ^ b, s), (b + 1, t), (lookup(aes.sbox(), x ^ y), u)]
    shared, circuits = share_lookups(choices, {})
    assert circuits == {}
    assert (count([v for v, _ in choices]), count([v for v, _ in shared])) == (3, 2)
    draw = random.Random(1)
    for _ in range(50):
        values = {"x": draw.getrandbits(8), "y": draw.getrandbits(8)}
        for i, ((before, _), (after, _)) in enumerate(zip(choices, shared, strict=True)):
            selects = {name: int(i == k) for k, name in enumerate("stu")}
            assert evaluate(after, {**values, **selects}) == evaluate(before, values)


def test_nothing_is_selected_where_nothing_differs() -> None:
    x = arg("x", 8)
    a = lookup(aes.sbox(), x)
    choices = [(a, arg("s", 1)), (a ^ 1, arg("t", 1))]
    assert share_lookups(choices, {})[0] == choices
    both = [(a, arg("s", 1)), (lookup(aes.inverse_sbox(), x), arg("t", 1))]
    assert count([v for v, _ in share_lookups(both, chosen("table"))[0]]) == 2
    (first, _), (second, _) = share_lookups(both, chosen("shared"))[0]
    assert first is second
    # Ranks go by name, so the forward S-box is read where its select is 1.
    assert {n.attr for n in topological([first]) if n.op == "arg"} == {"x", "s"}


def test_small_tables_and_chained_lookups_are_left_alone() -> None:
    small = Table("small", 4, tuple(range(16)))
    x, y = arg("x", 4), arg("y", 4)
    s, t = arg("s", 1), arg("t", 1)
    choices = [(lookup(small, x), s), (lookup(small, y), t)]
    assert share_lookups(choices, {})[0] == choices
    w, z = arg("w", 8), arg("z", 8)
    twice = lookup(aes.sbox(), lookup(aes.sbox(), w))
    shared, _ = share_lookups([(twice, s), (lookup(aes.sbox(), z), t)], {})
    assert count([v for v, _ in shared]) == 2
    assert (
        evaluate(shared[0][0], {"w": 5, "z": 0, "s": 1, "t": 0})
        == TABLES["aes_sbox"].entries[TABLES["aes_sbox"].entries[5]]
    )


def instructions(xlen: int, *parts: str) -> tuple[Instruction, ...]:
    return InstructionSet.of(xlen, *parts).instructions


@pytest.mark.parametrize("circuit", ["shared", "table"])
@pytest.mark.parametrize(
    ("xlen", "parts"), [(32, ("zkne", "zknd", "zksed")), (64, ("zkne", "zknd", "zksed", "zbkb"))]
)
def test_instructions_with_shared_boxes_do_what_their_meaning_says(
    xlen: int, parts: tuple[str, ...], circuit: str
) -> None:
    units = instructions(xlen, *parts)
    block = build_datapath(units, xlen, chosen(circuit))
    simulation = pyrtl.FastSimulation(tracer=None, block=block)
    inputs = {w.name: len(w) for w in block.wirevector_subset(pyrtl.Input)}
    draw = random.Random(7)
    for instruction in units * 25:
        values = {name: draw.getrandbits(width) for name, width in sorted(inputs.items())}
        values |= {name: 0 for name in inputs if name.startswith("op_")}
        values[f"op_{instruction.name}"] = 1
        simulation.step(values)
        rd = instruction.effects(xlen).rd
        assert rd is not None
        assert simulation.inspect("result") == evaluate(rd, values), instruction.name


def test_rv64_aes_needs_eight_boxes_and_not_twelve() -> None:
    # aes64es reads 8 bytes, aes64ks1i 4; one of them is selected.
    several = estimate(build_extension(instructions(64, "zkne"), 64, chosen("table")), GE)
    rounds = tuple(i for i in instructions(64, "zkne") if i.name != "aes64ks1i")
    fewer = estimate(build_extension(rounds, 64, chosen("table")), GE)
    assert several.area_ge - fewer.area_ge < 2 * 800


def test_fields_of_one_size_are_mapped_onto_each_other() -> None:
    maps = isomorphisms(sm4.POLYNOMIAL, aes.POLYNOMIAL)
    assert len(maps) == 8

    def apply(matrix: tuple[int, ...], x: int) -> int:
        return sum(((row & x).bit_count() & 1) << i for i, row in enumerate(matrix))

    draw = random.Random(3)
    for change in maps:
        for _ in range(40):
            a, b = draw.getrandbits(8), draw.getrandbits(8)
            image = aes.multiply(apply(change, a), apply(change, b))
            assert apply(change, sm4_product(a, b)) == image
    assert set(BOXES) == set(TABLES)


def sm4_product(a: int, b: int) -> int:
    result = 0
    for i in range(8):
        if b >> i & 1:
            result ^= a << i
    for i in range(14, 7, -1):
        if result >> i & 1:
            result ^= sm4.POLYNOMIAL << (i - 8)
    return result
