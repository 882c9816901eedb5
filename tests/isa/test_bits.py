"""Operators against independent formulas; folding rules exhaustively at small widths."""

from __future__ import annotations

import itertools
import random

import pytest

from isa.bits import (
    Bits,
    apply,
    arg,
    concat,
    const,
    evaluate,
    fold,
    lookup,
    mux,
    node,
    substitute,
    topological,
)
from isa.ops import OPS, WidthError
from isa.table import Table


def signed(value: int, width: int) -> int:
    return value - (1 << width) if value >> width - 1 else value


def rotate(value: int, amount: int, width: int) -> int:
    bits = f"{value:0{width}b}"
    amount %= width
    return int(bits[width - amount :] + bits[: width - amount], 2)


def polynomial_product(a: int, b: int, width: int) -> int:
    result = 0
    for i in range(width):
        if b >> i & 1:
            result ^= a << i
    return result


# name -> function of (a, b, width); written from the definition, not from the templates
BINARY = {
    "and": lambda a, b, w: int("".join(str(int(x == y == "1")) for x, y in pairs(a, b, w)), 2),
    "or": lambda a, b, w: int("".join(str(int("1" in (x, y))) for x, y in pairs(a, b, w)), 2),
    "xor": lambda a, b, w: int("".join(str(int(x != y)) for x, y in pairs(a, b, w)), 2),
    "add": lambda a, b, w: (a + b) % 2**w,
    "sub": lambda a, b, w: (a - b) % 2**w,
    "mul": lambda a, b, w: a * b % 2**w,
    "mul_wide": lambda a, b, _: a * b,
    "clmul": polynomial_product,
    "shl_var": lambda a, b, w: a * 2**b % 2**w,
    "shr_var": lambda a, b, _: a // 2**b,
    "sar_var": lambda a, b, w: (signed(a, w) // 2**b) % 2**w,
    "rotr_var": rotate,
    "eq": lambda a, b, _: int(a == b),
    "ult": lambda a, b, _: int(a < b),
    "slt": lambda a, b, w: int(signed(a, w) < signed(b, w)),
}


def pairs(a: int, b: int, width: int) -> zip[tuple[str, str]]:
    return zip(f"{a:0{width}b}", f"{b:0{width}b}", strict=True)


UNARY = {
    "not": lambda a, w, _: 2**w - 1 - a,
    "shl": lambda a, w, k: a * 2**k % 2**w,
    "shr": lambda a, _, k: a // 2**k,
    "sar": lambda a, w, k: (signed(a, w) // 2**k) % 2**w,
    "rotr": lambda a, w, k: rotate(a, k, w),
}


def test_every_operator_is_covered_here() -> None:
    others = {"arg", "const", "concat", "slice", "zext", "sext", "mux", "lookup"}
    assert set(BINARY) | set(UNARY) | others == set(OPS)
    assert len(OPS) < 30


@pytest.mark.parametrize("width", [1, 2, 4, 8, 32, 64])
@pytest.mark.parametrize("op", sorted(BINARY))
def test_binary_operator(op: str, width: int) -> None:
    second = width.bit_length() - 1 if op.endswith("_var") else width
    if second == 0:
        pytest.skip("a one-bit value has no shift amount")
    rng = random.Random(op)
    values = [0, 1, 2**width - 1, 2 ** (width - 1)] + [rng.getrandbits(width) for _ in range(30)]
    amounts = sorted({v % 2**second for v in values})
    x, y = arg("x", width), arg("y", second)
    for a, b in itertools.product(values, amounts if second != width else values):
        expected = BINARY[op](a % 2**width, b, width)
        assert evaluate(node(op, x, y), {"x": a % 2**width, "y": b}) == expected


@pytest.mark.parametrize("width", [1, 2, 5, 32, 64])
@pytest.mark.parametrize("op", sorted(UNARY))
def test_unary_operator(op: str, width: int) -> None:
    rng = random.Random(op)
    x = arg("x", width)
    for amount in [None] if op == "not" else sorted({0, 1 % width, width // 2, width - 1}):
        for a in [0, 1, 2**width - 1, *(rng.getrandbits(width) for _ in range(20))]:
            n = node(op, x, attr=amount)
            assert evaluate(n, {"x": a}) == UNARY[op](a, width, amount)


def test_widening_and_selection() -> None:
    x = arg("x", 8)
    for a in range(256):
        values = {"x": a}
        assert evaluate(x.zext(12), values) == a
        assert evaluate(x.sext(12), values) == signed(a, 8) % 2**12
        assert evaluate(x.slice(2, 3), values) == a // 4 % 8
        assert evaluate(concat(x.slice(0, 4), x.slice(4, 4)), values) == a % 16 * 16 + a // 16
        assert evaluate(mux(x.bit(0), x, ~x), values) == (a if a % 2 else 255 - a)


def test_lookup_reads_the_indexed_entry() -> None:
    table = Table("squares", 8, tuple(i * i % 251 for i in range(16)))
    x = arg("x", 4)
    for i in range(16):
        assert evaluate(lookup(table, x), {"x": i}) == i * i % 251


@pytest.mark.parametrize("width", [1, 2, pytest.param(4, marks=pytest.mark.slow)])
def test_folding_changes_no_value(width: int) -> None:
    """Every rule of `node`, on all operands that trigger one and all values of the arguments."""
    x, y = arg("x", width), arg("y", width)
    pool = [x, y, ~x, x + 1, x + y, *(const(v, width) for v in range(1 << width))]
    if width > 1:
        half = width // 2
        pool += [
            concat(x.slice(half, half), x.slice(0, half)),
            concat(y.slice(0, half), x.slice(0, half)),
            concat(const(0, half), x.slice(0, half)),
            x.slice(0, half).zext(width),
            x.slice(0, half).sext(width),
        ]
    cases: list[tuple[str, tuple[Bits, ...], int | None, int | None]] = []
    for a, b in itertools.product(pool, repeat=2):
        cases += [(op, (a, b), None, None) for op in BINARY if not op.endswith("_var")]
        cases.append(("concat", (a, b), None, None))
        cases += [("mux", (c, a, b), None, None) for c in (x.bit(0), const(0, 1), const(1, 1))]
    for a in pool:
        cases.append(("not", (a,), None, None))
        for k in range(width):
            cases += [(op, (a,), k, None) for op in ("shl", "shr", "sar", "rotr")]
            if width > 1:
                amount = const(k, width.bit_length() - 1)
                cases += [(op, (a, amount), None, None) for op in BINARY if op.endswith("_var")]
        cases += [(op, (a,), None, w) for op in ("zext", "sext") for w in (width, width + 1)]
        cases += [
            ("slice", (a,), low, w) for low in range(width) for w in range(1, width - low + 1)
        ]
        cases += [
            ("slice", (concat(a, y),), low, w)
            for low in range(2 * width)
            for w in range(1, 2 * width - low + 1)
        ]
        cases += [
            ("slice", (a.zext(2 * width),), low, w)
            for low in range(2 * width)
            for w in range(1, 2 * width - low + 1)
        ]
    values = [{"x": vx, "y": vy} for vx, vy in itertools.product(range(1 << width), repeat=2)]
    known: dict[Bits, list[int]] = {}

    def column(n: Bits) -> list[int]:
        """Its value for all values of the arguments, each node evaluated once."""
        if n not in known:
            columns = [column(a) for a in n.args]
            known[n] = (
                [v[str(n.attr)] for v in values]
                if n.op == "arg"
                else applied(n.op, n.width, n.attr, n.args, columns)
            )
        return known[n]

    def applied(op, w, attr, args, columns) -> list[int]:  # type: ignore[no-untyped-def]
        rows = zip(*columns, strict=True) if columns else itertools.repeat((), len(values))
        return [apply(op, w, attr, args, list(row)) for row in rows]

    folded = 0
    for op, args, attr, stated in cases:
        n = node(op, *args, attr=attr, width=stated)
        if (n.op, n.attr, *map(id, n.args)) != (op, attr, *map(id, args)):
            folded += 1
            expected = applied(op, n.width, attr, args, [column(a) for a in args])
            assert column(n) == expected, (op, args, attr)
    assert folded > len(cases) / 4


def test_equal_expressions_are_one_object() -> None:
    x = arg("x", 32)
    assert x.rotr(7) ^ 5 is x.rotr(39) ^ 5
    assert arg("x", 32) is x
    assert arg("x", 16) is not x


def test_depth_is_no_limit() -> None:
    x = arg("x", 32)
    n = x
    for _ in range(20_000):
        n = n ^ n.rotr(1)
    assert len(topological([n])) == 40_001


def test_sharing_is_visited_once() -> None:
    n = arg("x", 32)
    for _ in range(60):  # as a tree this has 2^60 nodes
        n = n + n.rotr(3)
    visits: list[Bits] = []
    fold([n], lambda m, _: visits.append(m))
    assert len(visits) == 121


def test_substitution_folds() -> None:
    x, k = arg("x", 32), arg("k", 5)
    assert substitute(x.shr_var(k), {k: const(4, 5)}) is x >> 4


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda x, b: x ^ b, r"^xor: operands must be of equal width, not \[32, 8\] bits"),
        (lambda x, b: x.shl_var(b), r"^shl_var: amount of a variable shift of 32 bits must be"),
        (lambda x, _: x << 32, r"^shl: shift amount must be 0 to 31, not 32"),
        (lambda x, _: x.slice(30, 3), r"^slice: bits must lie in 0 to 31, not 3 bits from 30"),
        (lambda x, _: x.zext(8), r"^zext: width must be at least 32, not 8"),
        (lambda x, b: mux(b, x, x), r"^mux: condition of a mux must be 1 bit wide, not 8"),
    ],
)
def test_width_errors(build, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(WidthError, match=message):
        build(arg("x", 32), arg("b", 8))


def test_truth_value_and_equality_are_refused() -> None:
    x = arg("x", 1)
    with pytest.raises(TypeError, match=r"choose with mux"):
        bool(x)
    with pytest.raises(TypeError, match=r"compare two Bits with a\.eq\(b\)"):
        _ = x == x
