"""GHASH of a block with the table of multiples of the key given, and the making of the table.

The other workloads of GHASH take the key; here making the table is left to a workload of its own,
as key schedules are. The table is that of `workloads.ghash_comb`.
"""

from __future__ import annotations

from isa.bits import Bits, const
from isa.ghash import multiply
from isa.kernel import Builder, Index
from workloads import ghash_comb, register
from workloads.ghash import (
    block_workload,
    load_block,
    load_sum,
    store_block,
)
from workloads.workload import Buffer, Kernel, Values, Vector, Workload

_ROOTS = {8: 1 << 127, 4: 1 << 126, 2: 1 << 125, 1: 1 << 124}
"""1, x, x^2, x^3 by their bit of the index."""


def multiples(h: bytes) -> bytes:
    """The table of the 16 bytes of H (McGrew and Viega, The Galois/Counter Mode, section 4.1)."""
    table = b""
    for n in range(16):
        polynomial = sum(root for bit, root in _ROOTS.items() if n & bit)
        entry = multiply(polynomial, int.from_bytes(h, "big"))
        table += entry.to_bytes(16, "little")
    return table


def multiply_by_table(x: int, table: bytes) -> int:
    """Product of a block and what the table stands for, from the highest powers down."""
    total = 0
    for place in range(0, 128, 4):
        entry = 16 * (x >> place & 15)
        total = multiply(total, 1 << 123) ^ int.from_bytes(table[entry : entry + 16], "little")
    return total


def _golden(values: Values) -> dict[str, bytes]:
    state, block = (int.from_bytes(values[name], "big") for name in ("state", "block"))
    return {"state": multiply_by_table(state ^ block, values["table"]).to_bytes(16, "big")}


def _build_comb(k: Builder) -> None:
    state, block, table = k.pointer("state"), k.pointer("block"), k.pointer("table")
    store_block(k, state, ghash_comb.product(k, load_sum(k, state, block), table), 0)


def _build_looped(k: Builder) -> None:
    """Nibble by nibble from the highest powers down, reduced each time."""
    state, block, table = k.pointer("state"), k.pointer("block"), k.pointer("table")
    result = k.scratch("result", 16)
    step = k.xlen // 8

    def byte(i: Index, *total: Bits) -> tuple[Bits, ...]:
        def nibble(_: Index, x: Bits, *total: Bits) -> tuple[Bits, ...]:
            words = [
                word ^ k.load(table, step * j, k.xlen, index=x << 4 & 0xF0)
                for j, word in enumerate(ghash_comb.times_x4(total))
            ]
            return (x >> 4, *words)

        x = k.load(state, 15 - i, 8) ^ k.load(block, 15 - i, 8)
        return k.loop(2, nibble, x, *total)[1:]

    def reverse(i: Index) -> tuple[Bits, ...]:
        k.store(state, i, k.load(result, 15 - i, 8), 8)
        return ()

    zero = [const(0, k.xlen)] * (16 // step)
    for j, word in enumerate(k.loop(16, byte, *zero)):
        k.store(result, step * j, word)
    k.loop(16, reverse)


_LOOPED = Kernel("looped", _build_looped, "small: a loop over nibbles (McGrew and Viega, 4.1)")
_COMB = Kernel("comb", _build_comb, "eight or sixteen nibbles a step, one reduction (Lim and Lee)")


@register("ghash-block-table")
def table_block_workload() -> Workload:
    """The state times H after adding a block, the multiples of H given."""
    vectors = []
    for vector in block_workload().vectors:
        key = int.from_bytes(vector.inputs["key"], "little")
        h = multiply(key, 1 << 126).to_bytes(16, "big")
        inputs = {name: vector.inputs[name] for name in ("state", "block")}
        vectors.append(Vector({**inputs, "table": multiples(h)}, vector.outputs, vector.source))
    return Workload(
        "ghash-block-table",
        "NIST SP 800-38D section 6.4",
        (
            Buffer("state", 16, "inout", secret=True),
            Buffer("block", 16, "in", secret=True),
            Buffer("table", ghash_comb.TABLE_BYTES, "in", secret=True),
        ),
        _golden,
        {kernel.name: kernel for kernel in (_COMB, _LOOPED)},
        tuple(vectors),
        message_bytes=16,
    )


def _build_table(k: Builder) -> None:
    h, table = k.pointer("h"), k.pointer("table")
    ghash_comb.fill(k, table, load_block(k, h))


@register("ghash-table-schedule")
def table_schedule_workload() -> Workload:
    """The sixteen multiples of H."""
    one = bytes.fromhex("80") + bytes(15)
    entries = (n << 124 for n in range(16))
    return Workload(
        "ghash-table-schedule",
        "NIST SP 800-38D section 6.3",
        (
            Buffer("h", 16, "in", secret=True),
            Buffer("table", ghash_comb.TABLE_BYTES, "out"),
        ),
        lambda v: {"table": multiples(v["h"])},
        {"plain": Kernel("plain", _build_table, "three doublings, eleven sums")},
        (
            Vector(
                {"h": one},
                {"table": b"".join(e.to_bytes(16, "little") for e in entries)},
                "SP 800-38D section 6.3: 1 times the polynomials of degree below 4",
            ),
        ),
    )
