"""What datapaths can share at most, against every way of sharing."""

from __future__ import annotations

import random
from itertools import permutations

from hw.merge_bound import Operator, alone, least_area, most_shared, operators
from isa.bits import arg, const, lookup
from isa.table import Table

X, Y = arg("x", 32), arg("y", 32)


def best_sharing(a: list[Operator], b: list[Operator]) -> float:
    """Every injection of the smaller datapath into the larger."""
    small, large = sorted((a, b), key=len)
    return max(
        sum(
            min(p.area_ge, q.area_ge)
            for p, q in zip(small, chosen, strict=True)
            if p.kind == q.kind
        )
        for chosen in permutations(large, len(small))
    )


def test_two_datapaths_share_what_the_best_of_all_pairings_does() -> None:
    generator = random.Random(1)
    for _ in range(60):
        a, b = (
            [
                Operator(generator.choice("ab"), float(generator.randint(1, 9)))
                for _ in range(generator.randint(1, 5))
            ]
            for _ in range(2)
        )
        assert most_shared([a, b]) == best_sharing(a, b)


def test_one_operator_serves_all_datapaths() -> None:
    adder, xor = Operator("add", 10.0), Operator("xor", 3.0)
    assert most_shared([[adder], [adder, xor], [adder, adder]]) == 20.0
    assert least_area([10.0, 13.0, 20.0], [[adder], [adder, xor], [adder, adder]]) == 23.0
    assert least_area([], []) == 0.0
    assert least_area([5.0, 9.0], [[adder], [adder]]) == 9.0  # not below the larger alone


def test_operators_are_priced_with_their_constants() -> None:
    box = Table("box", 8, tuple(range(256)))
    root = lookup(box, (X + Y).byte(0)).zext(32) ^ (X & const(0xFF, 32)) ^ X.rotr(3)

    def area(n):  # type: ignore[no-untyped-def]
        return {"add": 9.0, "lookup": 50.0, "xor": 2.0}.get(n.op, 0.0)

    kinds = [o.kind for o in operators([root], area)]
    assert sorted(map(str, kinds)) == sorted(
        map(str, [("add", None), ("lookup", "box"), ("xor", None), ("xor", None)])
    )
    assert alone(X & 0xFF) is alone(Y & 0xFF)
    assert alone(X & 0xFF) is not alone(Y & 0xF)
