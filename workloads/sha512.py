"""SHA-512 (FIPS 180-4): block function, and messages with padding.

On RV32 a 64-bit word is a pair of registers, low part first in memory.
"""

from __future__ import annotations

from collections.abc import Sequence

from isa import sha2
from isa.bits import Bits
from isa.kernel import Builder, Index, Pointer, UnsupportedKernel
from isa.table import Table
from workloads.long import Long, flat, load_long, store_long, unflat
from workloads.merkle_damgard import Hash
from workloads.words import constant_words

CONSTANTS = sha2.SHA512.constants
_K = constant_words("sha512_k", 64, CONSTANTS)
_FIRST_K = Table("sha512_k_first", 64, CONSTANTS[:64])
_LAST_K = Table("sha512_k_last", 64, CONSTANTS[64:])


# --- Kernels -------------------------------------------------------------------------------------


def _expanded(w16: Long, w15: Long, w7: Long, w2: Long) -> Long:
    """A word of the schedule from those 16, 15, 7 and 2 before it."""
    s0 = w15.rotr(1) ^ w15.rotr(8) ^ (w15 >> 7)
    s1 = w2.rotr(19) ^ w2.rotr(61) ^ (w2 >> 6)
    return w16 + s0 + w7 + s1


def _round(s: Sequence[Long], constant: Long, w: Long) -> list[Long]:
    a, b, c, d, e, f, g, h = s
    sum1 = e.rotr(14) ^ e.rotr(18) ^ e.rotr(41)
    choice = ((f ^ g) & e) ^ g
    t1 = h + constant + w + choice + sum1
    sum0 = a.rotr(28) ^ a.rotr(34) ^ a.rotr(39)
    majority = ((a ^ b) & (b ^ c)) ^ b  # b ^ c is the a ^ b of the round before
    return [t1 + (sum0 + majority), a, b, c, d + t1, e, f, g]


def _load_state(k: Builder, state: Pointer) -> list[Long]:
    return [load_long(k, state, 8 * i) for i in range(8)]


def _add_to_state(k: Builder, state: Pointer, s: Sequence[Long]) -> None:
    for i, (x, y) in enumerate(zip(_load_state(k, state), s, strict=True)):
        store_long(k, state, x + y, 8 * i)


def _plain(k: Builder, state: Pointer, message: Pointer, offset: Index | int) -> None:
    """The whole schedule in memory, then 80 rounds."""
    constants = k.constants(_K)
    schedule = k.scratch("schedule", 640)

    def read(i: Index) -> tuple[Bits, ...]:
        store_long(k, schedule, load_long(k, message, offset + 8 * i).swapped(), 8 * i)
        return ()

    def expand(i: Index) -> tuple[Bits, ...]:
        old = [load_long(k, schedule, 8 * i + 8 * t) for t in (0, 1, 9, 14)]
        store_long(k, schedule, _expanded(*old), 8 * i + 128)
        return ()

    def one_round(i: Index, *s: Bits) -> tuple[Bits, ...]:
        constant, w = load_long(k, constants, 8 * i), load_long(k, schedule, 8 * i)
        return flat(_round(unflat(s), constant, w))

    k.loop(16, read)
    k.loop(64, expand)
    s = k.loop(80, one_round, *flat(_load_state(k, state)))
    _add_to_state(k, state, unflat(s))


def _rolling(k: Builder, state: Pointer, message: Pointer, offset: Index | int) -> None:
    """RV64: sixteen words of the schedule in registers, renewed as the rounds use them."""
    if k.xlen != 64:
        raise UnsupportedKernel("kernel needs RV64: 24 words of 64 bits must fit registers")
    first, final = k.constants(_FIRST_K), k.constants(_LAST_K)

    def sixteen(
        constants: Pointer, base: Index | int, s: list[Long], w: list[Long], *, renew: bool
    ) -> list[Long]:
        w = list(w)
        for t in range(16):
            s = _round(s, load_long(k, constants, base + 8 * t), w[t])
            if renew:
                w[t] = _expanded(w[t], w[(t + 1) % 16], w[(t + 9) % 16], w[(t + 14) % 16])
        return [*s, *w]

    def rounds(i: Index, *carried: Bits) -> tuple[Bits, ...]:
        values = unflat(carried)
        return flat(sixteen(first, 128 * i, values[:8], values[8:], renew=True))

    w = [load_long(k, message, offset + 8 * i).swapped() for i in range(16)]
    carried = unflat(k.loop(4, rounds, *flat(_load_state(k, state) + w)))
    last = sixteen(final, 0, carried[:8], carried[8:], renew=False)
    _add_to_state(k, state, last[:8])


def _ring(k: Builder, state: Pointer, message: Pointer, offset: Index | int) -> None:
    """Sixteen words of the schedule in memory, renewed as the rounds use them."""
    first, final = k.constants(_FIRST_K), k.constants(_LAST_K)
    ring = k.scratch("ring", 128)

    def sixteen(constants: Pointer, base: Index | int, s: list[Long], *, renew: bool) -> list[Long]:
        for t in range(16):
            w = load_long(k, ring, 8 * t)
            s = _round(s, load_long(k, constants, base + 8 * t), w)
            if renew:
                old = [load_long(k, ring, 8 * ((t + ago) % 16)) for ago in (1, 9, 14)]
                store_long(k, ring, _expanded(w, *old), 8 * t)
        return s

    def read(i: Index) -> tuple[Bits, ...]:
        store_long(k, ring, load_long(k, message, offset + 8 * i).swapped(), 8 * i)
        return ()

    def rounds(i: Index, *s: Bits) -> tuple[Bits, ...]:
        return flat(sixteen(first, 128 * i, unflat(s), renew=True))

    k.loop(16, read)
    s = unflat(k.loop(4, rounds, *flat(_load_state(k, state))))
    _add_to_state(k, state, sixteen(final, 0, s, renew=False))


# --- Workloads -----------------------------------------------------------------------------------

_EXAMPLES = (
    (
        b"abc",
        bytes.fromhex(
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
            "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
        ),
        "FIPS 180-4 example values, SHA-512, one block",
    ),
    (
        b"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
        b"hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
        bytes.fromhex(
            "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018"
            "501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909"
        ),
        "FIPS 180-4 example values, SHA-512, two blocks",
    ),
)

SHA512 = Hash(
    "sha512",
    "FIPS 180-4 (2015)",
    8,
    sha2.SHA512.initial,
    sha2.SHA512.compress,
    {
        "plain": (_plain, "schedule of 80 words in memory, rounds in a loop (FIPS 180-4, 6.4.2)"),
        "ring": (_ring, "schedule of 16 words in memory (FIPS 180-4, 6.2.3 and 6.4.3)"),
        "rolling": (_rolling, "RV64: schedule of 16 words kept in registers (FIPS 180-4, 6.4.3)"),
    },
    _EXAMPLES,
    112,
    {"rolling": frozenset({"ld"})},
)
SHA512.register()
