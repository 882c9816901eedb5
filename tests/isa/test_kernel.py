from __future__ import annotations

import pytest

from isa.bits import Bits, arg, const, evaluate
from isa.kernel import Builder, Index, KernelError, LoadEffect, LoopEffect, StoreEffect, trace
from isa.table import Table


def test_index_is_affine():
    i, j = Index((("i", 1),)), Index((("j", 1),))
    offset = 4 * (i * 16 + 3 + j) - 8
    assert offset == Index((("i", 64), ("j", 4)), 4)
    assert 10 - i == Index((("i", -1),), 10)
    assert i - i == Index()
    assert i * 0 + 5 == Index((), 5)


def test_index_as_a_value():
    value = (Index((("i", 3),), 5)).bits(8)
    assert evaluate(value, {"i": 7}) == 26


def test_an_index_times_an_index_is_refused():
    i = Index((("i", 1),))
    with pytest.raises(TypeError, match=r"^an Index can be multiplied by an int only, not Index"):
        i * i  # type: ignore[operator]


def counted(k: Builder) -> None:
    a = k.pointer("a")

    def body(i: Index, x: Bits) -> Bits:
        return x ^ k.load(a, 4 * i)

    (x,) = k.loop(9, body, k.word("x"))
    k.store(a, 0, x)


def shape(effects: tuple[object, ...]) -> list[object]:
    return [
        (e.count, shape(e.body)) if isinstance(e, LoopEffect) else type(e).__name__ for e in effects
    ]


@pytest.mark.parametrize(
    ("unroll", "expected"),
    [
        (1, [(9, ["LoadEffect"])]),
        (2, [(4, ["LoadEffect"] * 2), "LoadEffect"]),
        (4, [(2, ["LoadEffect"] * 4), "LoadEffect"]),
        (5, ["LoadEffect"] * 9),
        (9, ["LoadEffect"] * 9),
        ("full", ["LoadEffect"] * 9),
    ],
)
def test_unrolling_repeats_bodies_and_peels_the_rest(unroll, expected):
    kernel = trace(counted, 32, unroll)
    assert shape(kernel.body) == [*expected, "StoreEffect"]


def offsets(effects: tuple[object, ...], i: int) -> list[int]:
    found = []
    for e in effects:
        if isinstance(e, LoadEffect):
            found.append(e.offset.constant + sum(c * i for _, c in e.offset.terms))
        elif isinstance(e, LoopEffect):
            for n in range(e.count):
                found += offsets(e.body, n)
    return found


@pytest.mark.parametrize("unroll", [1, 2, 3, 4, "full"])
def test_every_unrolling_reads_the_same_places_in_order(unroll):
    assert offsets(trace(counted, 32, unroll).body, 0) == [4 * i for i in range(9)]


def test_a_loop_may_refuse_to_be_unrolled_and_no_iteration_is_no_code():
    def build(k: Builder) -> None:
        a = k.pointer("a")
        k.loop(0, lambda i: k.store(a, 0, const(1, 32)))
        k.loop(1, lambda i: k.store(a, 4 * i, const(2, 32)))
        k.loop(3, lambda i: k.store(a, 4 * i, const(3, 32)), unroll=False)
        k.loop(4, lambda i: k.store(a, 4 * i, const(3, 32)), unroll=2)

    kernel = trace(build, 32, "full")
    assert shape(kernel.body) == [
        "StoreEffect",
        (3, ["StoreEffect"]),
        (2, ["StoreEffect", "StoreEffect"]),
    ]


def test_a_store_writes_the_width_of_its_value():
    def build(k: Builder) -> None:
        k.store(k.pointer("a"), 1, arg("x", 8))

    (effect,) = trace(build, 32).body
    assert isinstance(effect, StoreEffect)
    assert effect.width == 8


def nine(k: Builder) -> None:
    for i in range(9):
        k.word(f"w{i}")


CONSTANTS = Table("k", 32, (1, 2))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (nine, r"^a kernel must take at most 8 arguments; w8 is the ninth"),
        (lambda k: (k.word("x"), k.pointer("x")), r"^name 'x' must be used once in a kernel"),
        (
            lambda k: k.load(k.pointer("a"), 2),
            r"^offset of a 32-bit access must be a multiple of 4 bytes",
        ),
        (
            lambda k: k.load(k.pointer("a"), 0, 64),
            r"^width of an access must be 8 to 32 bits, not 64",
        ),
        (
            lambda k: k.load(k.pointer("a"), 0, index=arg("x", 8)),
            r"^index of an access must have 32 bits, not 8",
        ),
        (
            lambda k: k.store(k.pointer("a"), 0, arg("x", 8), 32),
            r"^value stored must have 32 bits, not 8; extend it",
        ),
        (
            lambda k: k.store(k.constants(CONSTANTS), 0, arg("x", 32)),
            r"^constant table k must not be written",
        ),
        (
            lambda k: k.loop(3, lambda i, x: x.slice(0, 8), arg("x", 32)),
            r"^a loop body must return values of \[32\] bits as it took, not \[8\]",
        ),
        (
            lambda k: k.multiply([1] * 31, arg("x", 32)),
            r"^multiply takes 32 rows of 32 bits and a 32-bit value",
        ),
        (
            lambda k: k.anf(1 << 64, arg("x", 32)),
            r"^anf takes a mask of 64 bits and a 32-bit value",
        ),
    ],
)
def test_wrong_kernels_are_refused_in_words(build, message):
    with pytest.raises(KernelError, match=message):
        trace(build, 32)


def test_unroll_must_be_sensible():
    with pytest.raises(KernelError, match=r"^unroll must be a positive int or 'full', not 0"):
        Builder(32, 0)
