"""SHA-256 (FIPS 180-4): block function, and messages with padding."""

from __future__ import annotations

from collections.abc import Sequence

from isa import sha2
from isa.bits import Bits
from isa.kernel import Builder, Index, Pointer
from isa.table import Table
from workloads.merkle_damgard import Hash
from workloads.words import Words, load_word, load_words, store_words, swapped

INITIAL = sha2.SHA256.initial
compress = sha2.SHA256.compress
K = Table("sha256_k", 32, sha2.SHA256.constants)


# --- Kernels -------------------------------------------------------------------------------------


def _expanded(w16: Bits, w15: Bits, w7: Bits, w2: Bits) -> Bits:
    """A word of the schedule from those 16, 15, 7 and 2 before it."""
    s0 = w15.rotr(7) ^ w15.rotr(18) ^ (w15 >> 3)
    s1 = w2.rotr(17) ^ w2.rotr(19) ^ (w2 >> 10)
    return w16 + s0 + w7 + s1


def _round(s: Sequence[Bits], constant: Bits, w: Bits) -> Words:
    a, b, c, d, e, f, g, h = s
    sum1 = e.rotr(6) ^ e.rotr(11) ^ e.rotr(25)
    choice = ((f ^ g) & e) ^ g
    t1 = h + constant + w + choice + sum1
    sum0 = a.rotr(2) ^ a.rotr(13) ^ a.rotr(22)
    majority = ((a ^ b) & (b ^ c)) ^ b  # b ^ c is the a ^ b of the round before
    return [t1 + (sum0 + majority), a, b, c, d + t1, e, f, g]


def _add_to_state(k: Builder, state: Pointer, s: Sequence[Bits]) -> None:
    before = load_words(k, state, 8)
    store_words(k, state, [x + y for x, y in zip(before, s, strict=True)])


def _plain(k: Builder, state: Pointer, message: Pointer, offset: Index | int) -> None:
    """The whole schedule in memory, then 64 rounds."""
    constants = k.constants(K)
    schedule = k.scratch("schedule", 256)

    def read(i: Index) -> tuple[Bits, ...]:
        k.store(schedule, 4 * i, swapped(load_word(k, message, offset + 4 * i)))
        return ()

    def expand(i: Index) -> tuple[Bits, ...]:
        old = (load_word(k, schedule, 4 * i + 4 * t) for t in (0, 1, 9, 14))
        k.store(schedule, 4 * i + 64, _expanded(*old))
        return ()

    def one_round(i: Index, *s: Bits) -> Words:
        return _round(s, load_word(k, constants, 4 * i), load_word(k, schedule, 4 * i))

    k.loop(16, read)
    k.loop(48, expand)
    _add_to_state(k, state, k.loop(64, one_round, *load_words(k, state, 8)))


def _rolling(k: Builder, state: Pointer, message: Pointer, offset: Index | int) -> None:
    """Sixteen words of the schedule in registers, renewed as the rounds use them."""
    constants = k.constants(K)

    def sixteen(base: Index | int, s: Words, w: Words, *, renew: bool) -> Words:
        w = list(w)
        for t in range(16):
            s = _round(s, load_word(k, constants, base + 4 * t), w[t])
            if renew:
                w[t] = _expanded(w[t], w[(t + 1) % 16], w[(t + 9) % 16], w[(t + 14) % 16])
        return [*s, *w]

    def rounds(i: Index, *carried: Bits) -> Words:
        return sixteen(64 * i, list(carried[:8]), list(carried[8:]), renew=True)

    w = [swapped(x) for x in load_words(k, message, 16, offset)]
    carried = list(k.loop(3, rounds, *load_words(k, state, 8), *w))
    last = sixteen(192, carried[:8], carried[8:], renew=False)
    _add_to_state(k, state, last[:8])


# --- Workloads -----------------------------------------------------------------------------------

_EXAMPLES = (
    (
        b"abc",
        bytes.fromhex("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        "FIPS 180-4 example values, SHA-256, one block",
    ),
    (
        b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        bytes.fromhex("248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"),
        "FIPS 180-4 example values, SHA-256, two blocks",
    ),
)

SHA256 = Hash(
    "sha256",
    "FIPS 180-4 (2015)",
    4,
    INITIAL,
    compress,
    {
        "plain": (_plain, "schedule of 64 words in memory, rounds in a loop (FIPS 180-4, 6.2.2)"),
        "rolling": (_rolling, "schedule of 16 words kept in registers (FIPS 180-4, 6.2.3)"),
    },
    _EXAMPLES,
    56,
)
SHA256.register()
