"""GHASH (NIST SP 800-38D): one block, a message, and the preparation of the key.

A block is a polynomial whose bit 0, the most significant bit of its first byte, is the
coefficient of x^0. Kernels hold it as the big-endian integer of its bytes, so bit 127 - i belongs
to x^i. A prepared key is H / x as such an integer, least significant byte first: a carry-less
product of integers stands one place too low, which the division makes good.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from isa.bits import Bits, const
from isa.ghash import REDUCTION, multiply
from isa.kernel import FULL, Builder, Index, Pointer
from workloads import ghash_comb, register
from workloads.words import Words, swapped
from workloads.workload import Buffer, Kernel, Values, Vector, Workload

LARGEST = 16_384
"""Largest message in bytes; it must fit data memory."""
LONGEST_BITWISE = 8
"""Bits to which full unrolling of the bitwise product is held: more of them only cost code."""


# --- Golden --------------------------------------------------------------------------------------


def ghash(key: bytes, data: bytes, state: bytes = bytes(16)) -> bytes:
    """GHASH of whole blocks with a prepared key (SP 800-38D section 6.4)."""
    h = multiply(int.from_bytes(key, "little"), 1 << 126)
    total = int.from_bytes(state, "big")
    for i in range(0, len(data), 16):
        total = multiply(total ^ int.from_bytes(data[i : i + 16], "big"), h)
    return total.to_bytes(16, "big")


def prepared(key: bytes) -> bytes:
    """The prepared key of the 16 bytes of H."""
    h = int.from_bytes(key, "big")
    divided = (h << 1) & (1 << 128) - 1
    if h >> 127:  # 1 / x = x^127 + x^6 + x + 1
        divided ^= ((REDUCTION << 1) & (1 << 128) - 1) | 1
    return divided.to_bytes(16, "little")


# --- Kernels -------------------------------------------------------------------------------------

Product = Callable[[Words], Words]
"""Product of a block, given as registers, lowest first, and the key."""
Multiplier = Callable[[Builder, Pointer], Product]
"""What computes products with a prepared key; what it does first is done once a message."""


def load_block(k: Builder, pointer: Pointer, offset: Index | int = 0) -> Words:
    """The registers of a block, lowest first."""
    step = k.xlen // 8
    return [swapped(k.load(pointer, offset + i, k.xlen)) for i in range(16 - step, -1, -step)]


def store_block(k: Builder, pointer: Pointer, block: Sequence[Bits], offset: Index | int) -> None:
    """Undo `load_block`."""
    step = k.xlen // 8
    for i, word in enumerate(block):
        k.store(pointer, offset + 16 - step * (i + 1), swapped(word))


def _load_key(k: Builder, key: Pointer) -> Words:
    return [k.load(key, i, k.xlen) for i in range(0, 16, k.xlen // 8)]


def _bitwise(k: Builder, key: Pointer) -> Product:
    """Bit by bit, by masks instead of branches."""

    def product(x: Words) -> Words:
        count = len(x)
        z = [const(0, k.xlen)] * count
        v = ghash_comb.times_x(_load_key(k, key))
        for word in reversed(x):

            def step(_: Index, *carried: Bits) -> Words:
                bits, z, v = carried[0], carried[1 : count + 1], carried[count + 1 :]
                mask = bits.sar(bits.width - 1)
                z = tuple(a ^ (b & mask) for a, b in zip(z, v, strict=True))
                return [bits << 1, *z, *ghash_comb.times_x(v)]

            unroll = LONGEST_BITWISE if k.unroll == FULL else None
            carried = k.loop(k.xlen, step, word, *z, *v, unroll=unroll)
            z, v = list(carried[1 : count + 1]), list(carried[count + 1 :])
        return z

    return product


def _table4(k: Builder, key: Pointer) -> Product:
    """Four bits at a time, by a table that is made first."""
    table = k.scratch("multiples", ghash_comb.TABLE_BYTES)
    ghash_comb.fill(k, table, ghash_comb.times_x(_load_key(k, key)))
    return lambda x: ghash_comb.product(k, x, table)


def _school(x: Sequence[Bits], y: Sequence[Bits]) -> Words:
    """Carry-less product, twice as many registers."""
    width = x[0].width
    out = [const(0, width)] * (len(x) + len(y))
    for i, a in enumerate(x):
        for j, b in enumerate(y):
            product = a.clmul(b)
            out[i + j] = out[i + j] ^ product.slice(0, width)
            out[i + j + 1] = out[i + j + 1] ^ product.slice(width, width)
    return out


def _karatsuba(x: Sequence[Bits], y: Sequence[Bits]) -> Words:
    """The same with three products of halves instead of four, at one level."""
    half = len(x) // 2
    low, high = _school(x[:half], y[:half]), _school(x[half:], y[half:])
    sums = [[a ^ b for a, b in zip(v[:half], v[half:], strict=True)] for v in (x, y)]
    middle = _school(*sums)
    out = low + high
    for i in range(half):
        shared = low[half + i] ^ high[i]
        out[half + i] = shared ^ middle[i] ^ low[i]
        out[2 * half + i] = shared ^ middle[half + i] ^ high[half + i]
    return out


def _reduced(q: Words) -> Words:
    """Fold the lower half, which holds x^128 and up, into the upper half, lowest word first."""
    width = q[0].width
    q = list(q)
    count = len(q) // 2
    factor = const(REDUCTION << 1 >> 128 - width, width)  # 1 is added apart
    for i in range(count):
        product = q[i].clmul(factor)
        below, above = i + count - 1, i + count
        q[below] = q[below] ^ product.slice(0, width)
        q[above] = q[above] ^ q[i] ^ product.slice(width, width)
    return q[count:]


def _carryless(product: Callable[[Sequence[Bits], Sequence[Bits]], Words]) -> Multiplier:
    def multiplier(k: Builder, key: Pointer) -> Product:
        return lambda x: _reduced(product(x, _load_key(k, key)))

    return multiplier


_NEEDS = frozenset({"clmul", "clmulh"})
MULTIPLIERS: dict[str, tuple[Multiplier, str, frozenset[str]]] = {
    "bitwise": (_bitwise, "constant time: bit by bit with masks (SP 800-38D, 6.3)", frozenset()),
    "table4": (
        _table4,
        "four bits at a time, by a table of multiples on the stack (SP 800-38D, 6.5)",
        frozenset(),
    ),
    "clmul": (
        _carryless(_school),
        "carry-less products of registers, reduction by products with a constant",
        _NEEDS,
    ),
    "clmul-karatsuba": (
        _carryless(_karatsuba),
        "the same with three products of halves instead of four",
        _NEEDS,
    ),
}


def absorb(product: Product, state: Sequence[Bits], block: Words) -> Words:
    """The state after a block."""
    return product([a ^ b for a, b in zip(state, block, strict=True)])


def load_sum(k: Builder, state: Pointer, block: Pointer) -> Words:
    """State plus block, summed in the order of memory: reversing once is cheaper."""
    step = k.xlen // 8
    return [
        swapped(k.load(state, i, k.xlen) ^ k.load(block, i, k.xlen))
        for i in range(16 - step, -1, -step)
    ]


def _build_looped(k: Builder) -> None:
    """Word by word, reduced as it grows."""
    state, block, key = k.pointer("state"), k.pointer("block"), k.pointer("key")
    width, step = k.xlen, k.xlen // 8
    y, factor = _load_key(k, key), const(REDUCTION << 1 >> 128 - width, width)

    def word(i: Index, *total: Bits) -> Words:
        place = (16 - step) - step * i
        x = swapped(k.load(state, place, width) ^ k.load(block, place, width))
        t = [*total, const(0, width)]
        for j, part in enumerate(y):
            product = x.clmul(part)
            t[j] = t[j] ^ product.slice(0, width)
            t[j + 1] = t[j + 1] ^ product.slice(width, width)
        folded = t[0].clmul(factor)
        t[-2] = t[-2] ^ folded.slice(0, width)
        t[-1] = t[-1] ^ t[0] ^ folded.slice(width, width)
        return t[1:]

    store_block(k, state, k.loop(len(y), word, *[const(0, width)] * len(y)), 0)


# --- Workloads -----------------------------------------------------------------------------------

_H = bytes.fromhex("66e94bd4ef8a2c3b884cfa59ca342b2e")
_CIPHERTEXT = bytes.fromhex("0388dace60b6a392f328c2b971b2fe78")
_LENGTHS = bytes.fromhex("00000000000000000000000000000080")
_FIRST = bytes.fromhex("5e2ec746917062882c85b0685353deb7")
_SECOND = bytes.fromhex("f38cbb1ad69223dcc3457ae5b6b0f885")
_SOURCE = "McGrew and Viega, The Galois/Counter Mode of Operation, test case 2"


@register("ghash-block")
def block_workload() -> Workload:
    """The state times H after adding a block."""

    def golden(values: Values) -> dict[str, bytes]:
        return {"state": ghash(values["key"], values["block"], values["state"])}

    def kernel(name: str, multiplier: Multiplier, summary: str, needs: frozenset[str]) -> Kernel:
        def build(k: Builder) -> None:
            state, block, key = k.pointer("state"), k.pointer("block"), k.pointer("key")
            product = multiplier(k, key)
            store_block(k, state, product(load_sum(k, state, block)), 0)

        return Kernel(name, build, summary, needs)

    return Workload(
        "ghash-block",
        "NIST SP 800-38D section 6.4",
        (
            Buffer("state", 16, "inout", secret=True),
            Buffer("block", 16, "in", secret=True),
            Buffer("key", 16, "in", secret=True),
        ),
        golden,
        {
            **{name: kernel(name, *parts) for name, parts in MULTIPLIERS.items()},
            "clmul-looped": Kernel(
                "clmul-looped", _build_looped, "small: a loop over words of the block", _NEEDS
            ),
        },
        (
            Vector(
                {"state": bytes(16), "block": _CIPHERTEXT, "key": prepared(_H)},
                {"state": _FIRST},
                _SOURCE,
            ),
            Vector(
                {"state": _FIRST, "block": _LENGTHS, "key": prepared(_H)},
                {"state": _SECOND},
                _SOURCE,
            ),
        ),
        message_bytes=16,
    )


@register("ghash", default_bytes=32)
def message_workload(message_bytes: int) -> Workload:
    """GHASH of a message of whole blocks."""
    if message_bytes % 16 or not 16 <= message_bytes <= LARGEST:
        raise ValueError(
            f"message of ghash must be a multiple of 16 bytes in 16 to {LARGEST}, "
            f"not {message_bytes}"
        )

    def golden(values: Values) -> dict[str, bytes]:
        return {"digest": ghash(values["key"], values["message"])}

    def kernel(name: str, multiplier: Multiplier, summary: str, needs: frozenset[str]) -> Kernel:
        def build(k: Builder) -> None:
            message, key, digest = k.pointer("message"), k.pointer("key"), k.pointer("digest")
            product = multiplier(k, key)

            def step(i: Index, *state: Bits) -> Words:
                return absorb(product, state, load_block(k, message, 16 * i))

            zero = [const(0, k.xlen)] * (128 // k.xlen)
            state = k.loop(message_bytes // 16, step, *zero, unroll=False)
            store_block(k, digest, state, 0)

        return Kernel(name, build, summary, needs)

    published = {16: _FIRST, 32: _SECOND}
    vectors: tuple[Vector, ...] = ()
    if message_bytes in published:
        inputs = {"message": (_CIPHERTEXT + _LENGTHS)[:message_bytes], "key": prepared(_H)}
        vectors = (Vector(inputs, {"digest": published[message_bytes]}, _SOURCE),)
    return Workload(
        "ghash",
        "NIST SP 800-38D section 6.4",
        (
            Buffer("message", message_bytes, "in", secret=True),
            Buffer("key", 16, "in", secret=True),
            Buffer("digest", 16, "out", declassified=True),
        ),
        golden,
        {name: kernel(name, *parts) for name, parts in MULTIPLIERS.items()},
        vectors,
        units=message_bytes // 16,
        message_bytes=message_bytes,
    )


def _build_schedule(k: Builder) -> None:
    h, key = k.pointer("h"), k.pointer("key")
    step, width = k.xlen // 8, k.xlen
    block = load_block(k, h)
    mask = block[-1].sar(width - 1)
    for i, word in enumerate(block):
        carried = (word << 1) | (block[i - 1] >> width - 1) if i else word << 1
        added = ((REDUCTION << 1 | 1) >> width * i) & (1 << width) - 1
        k.store(key, step * i, carried ^ (mask & added))


@register("ghash-key-schedule")
def key_schedule_workload() -> Workload:
    """The prepared key of H."""
    return Workload(
        "ghash-key-schedule",
        "NIST SP 800-38D section 6.3",
        (Buffer("h", 16, "in", secret=True), Buffer("key", 16, "out")),
        lambda v: {"key": prepared(v["h"])},
        {"plain": Kernel("plain", _build_schedule, "shift and masked addition")},
        (
            Vector(
                {"h": bytes.fromhex("80000000000000000000000000000000")},
                {"key": bytes.fromhex("010000000000000000000000000000c2")},
                "SP 800-38D section 6.3: 1, and 1 / x = x^127 + x^6 + x + 1",
            ),
        ),
    )
