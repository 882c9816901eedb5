"""PRESENT-80 encryption of one block from the cipher key, round keys computed between the rounds.

The kernels have the structure of the two PRESENT programs of Uzuner and Kavun (NLU-V, Cryptography
8(1):9, 2024): on plain RV32I an S-box table with one pair of nibbles in each 32-bit word and the
permutation bit by bit; with NLU-V both layers in its units, and the S-box of the key there too.
Blocks and keys are integers in memory, least significant byte first.
"""

from __future__ import annotations

from collections.abc import Callable

from isa.bits import Bits, const, lookup
from isa.kernel import Builder, Index
from isa.table import Table
from workloads import register
from workloads.present import (
    ANF_MASK,
    ANSWERS,
    PLACES,
    ROUNDS,
    SBOX,
    encrypt_block,
    expand_key,
    load_key_80,
    next_key_80,
    permutation_matrix,
)
from workloads.words import load_words, total
from workloads.workload import Buffer, Kernel, Vector, Workload

State = tuple[Bits, ...]
"""The low word and the high word."""
Layers = Callable[[Builder, State], State]
_TOP = 0xF0000000
_WORD_SBOX = Table(
    "present_sbox_words", 32, tuple(SBOX[b & 15] | SBOX[b >> 4] << 4 for b in range(256))
)


def _word_by_table(w: Bits) -> Bits:
    """The S-box layer on a word by four loads."""
    result = lookup(_WORD_SBOX, w.byte(0))
    for i in range(1, 4):
        result = result + (lookup(_WORD_SBOX, w.byte(i)) << 8 * i)
    return result


def _moved(bit: Bits, left: int) -> Bits:
    return bit << left if left >= 0 else bit >> -left


def _permuted(s: State) -> State:
    """The permutation layer, each bit masked and shifted to its place."""
    sources = [PLACES.index(place) for place in range(64)]
    return tuple(
        total(
            *(
                _moved(s[i // 32] & (1 << i % 32), place % 32 - i % 32)
                for place, i in enumerate(sources)
                if place // 32 == target
            )
        )
        for target in range(2)
    )


def _layers_by_table(k: Builder, s: State) -> State:
    def step(_: Index, one: Bits, other: Bits) -> State:
        return (other, _word_by_table(one))

    return _permuted(k.loop(2, step, *s, unroll=False))  # a subroutine, called twice


def _top_by_table(w: Bits) -> Bits:
    pair = lookup(_WORD_SBOX, w.byte(3))
    return (w & ~_TOP & 0xFFFFFFFF) + (pair >> 4 << 28)


def _layers_by_unit(k: Builder, s: State) -> State:
    low, high = (k.anf(ANF_MASK, w) for w in s)
    result = []
    for target in range(2):
        k.multiply(permutation_matrix(target, 0), low)
        result.append(k.multiply(permutation_matrix(target, 1), high, accumulate=True))
    return tuple(result)


def _kernel(layers: Layers, top: Callable[[Builder, Bits], Bits]) -> Callable[[Builder], None]:
    """The whole cipher around its layers and the S-box on the top nibble of a word."""

    def build(k: Builder) -> None:
        source, key, target = k.pointer("input"), k.pointer("key"), k.pointer("output")

        def one_round(i: Index, *state: Bits) -> State:
            low, high, *register = state
            added = (low ^ register[1], high ^ register[0])
            return (
                *layers(k, added),
                *next_key_80(lambda w: top(k, w), (i + 1).bits(32), *register),
            )

        words = k.loop(ROUNDS, one_round, *load_words(k, source, 2), *load_key_80(k, key))
        k.store(target, 0, words[0] ^ words[3])
        k.store(target, 4, words[1] ^ words[2])

    return build


def _top_by_unit(k: Builder, w: Bits) -> Bits:
    return (w & const(_TOP ^ 0xFFFFFFFF, 32)) + (k.anf(ANF_MASK, w) & _TOP)


@register("present80-encrypt-on-the-fly")
def workload() -> Workload:
    """Encryption of one block from its cipher key."""
    return Workload(
        "present80-encrypt-on-the-fly",
        "Bogdanov et al., PRESENT, CHES 2007",
        (
            Buffer("input", 8, "in", secret=True),
            Buffer("key", 10, "in", secret=True),
            Buffer("output", 8, "out", declassified=True),
        ),
        lambda v: {"output": encrypt_block(v["input"], expand_key(v["key"]))},
        {
            "sbox-words": Kernel(
                "sbox-words",
                _kernel(_layers_by_table, lambda _, w: _top_by_table(w)),
                "pairs of nibbles in 32-bit words, permutation bit by bit (Uzuner and Kavun 2024)",
            ),
            "nluv": Kernel(
                "nluv",
                _kernel(_layers_by_unit, _top_by_unit),
                "S-boxes and permutation in NLU-V (Uzuner and Kavun 2024)",
                frozenset({"nnlanf", "nldnl", "nldl", "nmu", "nma1"}),
            ),
        },
        tuple(
            Vector(
                {"input": bytes.fromhex(text) * 8, "key": bytes.fromhex(key) * 10},
                {"output": bytes.fromhex(answer)[::-1]},
                "Bogdanov et al., PRESENT, CHES 2007, appendix I",
            )
            for key, text, answer in ANSWERS[80]
        ),
        message_bytes=8,
    )
