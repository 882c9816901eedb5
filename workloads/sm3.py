"""SM3 (GB/T 32905-2016): block function, and messages with padding."""

from __future__ import annotations

from collections.abc import Sequence

from isa.bits import Bits, const
from isa.kernel import Builder, Index, Pointer
from isa.sm3 import INITIAL, ROUND_CONSTANTS, compress
from isa.table import Table
from workloads.merkle_damgard import Hash
from workloads.words import Words, load_word, load_words, store_words, swapped

_TABLE = Table("sm3_t", 32, ROUND_CONSTANTS)


# --- Kernels -------------------------------------------------------------------------------------


def _expanded(w16: Bits, w13: Bits, w9: Bits, w6: Bits, w3: Bits) -> Bits:
    """A word of the schedule from those 16, 13, 9, 6 and 3 before it."""
    x = w16 ^ w9 ^ w3.rotl(15)
    return (x ^ x.rotl(15) ^ x.rotl(23)) ^ w13.rotl(7) ^ w6


def _round(s: Sequence[Bits], constant: Bits, w: Bits, w4: Bits, *, early: bool) -> Words:
    a, b, c, d, e, f, g, h = s
    a12 = a.rotl(12)
    ss1 = (a12 + e + constant).rotl(7)
    if early:
        ff, gg = a ^ b ^ c, e ^ f ^ g
    else:
        ff, gg = (a & b) | ((a | b) & c), ((f ^ g) & e) ^ g
    tt1 = ff + d + (ss1 ^ a12) + (w ^ w4)
    tt2 = gg + h + ss1 + w
    return [tt1, a, b.rotl(9), c, tt2 ^ tt2.rotl(9) ^ tt2.rotl(17), e, f.rotl(19), g]


def _add_to_state(k: Builder, state: Pointer, s: Sequence[Bits]) -> None:
    before = load_words(k, state, 8)
    store_words(k, state, [x ^ y for x, y in zip(before, s, strict=True)])


def _plain(k: Builder, state: Pointer, message: Pointer, offset: Index | int) -> None:
    """The whole schedule in memory; the round constant rotates along."""
    schedule = k.scratch("schedule", 272)

    def read(i: Index) -> tuple[Bits, ...]:
        k.store(schedule, 4 * i, swapped(load_word(k, message, offset + 4 * i)))
        return ()

    def expand(i: Index) -> tuple[Bits, ...]:
        old = (load_word(k, schedule, 4 * i + 4 * t) for t in (0, 3, 7, 10, 13))
        k.store(schedule, 4 * i + 64, _expanded(*old))
        return ()

    def rounds(first: int, count: int, constant: int, s: Sequence[Bits]) -> Words:
        def one_round(i: Index, constant: Bits, *s: Bits) -> Words:
            w = load_word(k, schedule, 4 * i + 4 * first)
            w4 = load_word(k, schedule, 4 * i + 4 * first + 16)
            return [constant.rotl(1), *_round(s, constant, w, w4, early=first == 0)]

        return list(k.loop(count, one_round, const(constant, 32), *s))[1:]

    k.loop(16, read)
    k.loop(52, expand)
    s = rounds(0, 16, ROUND_CONSTANTS[0], load_words(k, state, 8))
    _add_to_state(k, state, rounds(16, 48, ROUND_CONSTANTS[16], s))


def _rolling(k: Builder, state: Pointer, message: Pointer, offset: Index | int) -> None:
    """Sixteen words of the schedule in registers, renewed as the rounds use them."""
    constants = k.constants(_TABLE)

    def sixteen(base: Index | int, s: Words, w: Words, *, early: bool, last: bool) -> Words:
        w = list(w)
        for t in range(16):
            if not last or t < 4:  # word t + 16, of which word t + 12 of these is 4 further
                new = _expanded(*(w[(t + ago) % 16] for ago in (0, 3, 7, 10, 13)))
            w4 = w[t + 4] if t < 12 else w[(t + 4) % 16]
            s = _round(s, load_word(k, constants, base + 4 * t), w[t], w4, early=early)
            if not last or t < 4:
                w[t] = new
        return [*s, *w]

    def middle(i: Index, *carried: Bits) -> Words:
        s, w = list(carried[:8]), list(carried[8:])
        return sixteen(64 * i + 64, s, w, early=False, last=False)

    w = [swapped(x) for x in load_words(k, message, 16, offset)]
    carried = sixteen(0, load_words(k, state, 8), w, early=True, last=False)
    carried = list(k.loop(2, middle, *carried))
    carried = sixteen(192, carried[:8], carried[8:], early=False, last=True)
    _add_to_state(k, state, carried[:8])


# --- Workloads -----------------------------------------------------------------------------------

_EXAMPLES = (
    (
        b"abc",
        bytes.fromhex("66c7f0f462eeedd9d1f2d46bdc10e4e24167c4875cf2f7a2297da02b8f4ba8e0"),
        "GB/T 32905-2016 appendix A.1",
    ),
    (
        b"abcd" * 16,
        bytes.fromhex("debe9ff92275b8a138604889c18e5a4d6fdb70e5387e5765293dcba39c0c5732"),
        "GB/T 32905-2016 appendix A.2",
    ),
)

SM3 = Hash(
    "sm3",
    "GB/T 32905-2016",
    4,
    INITIAL,
    compress,
    {
        "plain": (_plain, "schedule of 68 words in memory (GB/T 32905-2016, 5.3)"),
        "rolling": (_rolling, "schedule of 16 words kept in registers"),
    },
    _EXAMPLES,
    64,
)
SM3.register()
