"""AES-128 encryption of one block from the cipher key, round keys computed between the rounds.

The kernels have the structure of the two AES programs of Uzuner and Kavun (NLU-V, Cryptography
8(1):9, 2024): words taken one after the other by shared code, MixColumns on unpacked bytes with
each product with x worked out where it is used, and on plain RV32I an S-box table with one byte in
each 32-bit word.
"""

from __future__ import annotations

from collections.abc import Callable

from isa.aes import sbox
from isa.aes_block import encrypt_block, expand_key
from isa.bits import Bits, concat, const, lookup
from isa.kernel import Builder, Index
from isa.table import Table
from workloads import register
from workloads.aes import ROUNDS
from workloads.words import load_words
from workloads.workload import Buffer, Kernel, Vector, Workload

_WORD_SBOX = Table("aes_sbox_words", 32, sbox().entries)
_POLYNOMIAL = 0x11B  # FIPS 197 section 4.2


def _substitute_by_table(w: Bits) -> Bits:
    """SubBytes of a word by four loads."""
    total = lookup(_WORD_SBOX, w.byte(0))
    for row in range(1, 4):
        total = total + (lookup(_WORD_SBOX, w.byte(row)) << 8 * row)
    return total


def _substitute_by_unit(w: Bits) -> Bits:
    """SubBytes of a word by `nnlaese`."""
    return concat(*(lookup(sbox(), w.byte(row)) for row in reversed(range(4))))


def _double(a: Bits) -> Bits:
    """Product with x of one byte in a word."""
    return (a << 1) ^ ((const(0, 32) - (a >> 7)) & _POLYNOMIAL)


def _mix_column(k: Builder, w: Bits) -> Bits:
    """MixColumns of one column on four unpacked bytes, row by row; two products with x a row."""

    def row(_: Index, mixed: Bits, *a: Bits) -> tuple[Bits, ...]:
        total = _double(a[0]) ^ _double(a[1]) ^ a[1] ^ a[2] ^ a[3]
        return ((mixed << 8) + total, a[3], *a[:3])

    unpacked = [(w << 24 - 8 * row) >> 24 for row in range(4)]
    return k.loop(4, row, const(0, 32), unpacked[3], *unpacked[:3], unroll=False)[0]


def _shift_rows(s: tuple[Bits, ...]) -> tuple[Bits, ...]:
    """ShiftRows, one row after the other: delete its byte of each column, write the moved one."""
    for row in range(1, 4):
        mask = 0xFF << 8 * row
        moved = [s[(column + row) % 4] & mask for column in range(4)]
        s = tuple((w & (mask ^ 0xFFFFFFFF)) | byte for w, byte in zip(s, moved, strict=True))
    return s


def _each(k: Builder, apply: Callable[[Bits], Bits], *words: Bits) -> tuple[Bits, ...]:
    """Apply a function to words in a loop that is never unrolled, as a subroutine would."""

    def step(_: Index, *w: Bits) -> tuple[Bits, ...]:
        return (*w[1:], apply(w[0]))

    return k.loop(len(words), step, *words, unroll=False)


def _kernel(substitute: Callable[[Bits], Bits], *, is_looped: bool) -> Callable[[Builder], None]:
    """The whole cipher around a SubBytes of one word, looped over the words or written out."""

    def build(k: Builder) -> None:
        source, key, target = k.pointer("input"), k.pointer("key"), k.pointer("output")

        def mix_column(word: Bits) -> Bits:
            return _mix_column(k, word)

        def sub_bytes(*words: Bits) -> tuple[Bits, ...]:
            return _each(k, substitute, *words) if is_looped else tuple(map(substitute, words))

        def substituted(
            rcon: Bits, s: tuple[Bits, ...], w: tuple[Bits, ...]
        ) -> tuple[tuple[Bits, ...], tuple[Bits, ...]]:
            """SubBytes and ShiftRows of the state, and the next round key."""
            *columns, word = sub_bytes(*s, w[3].rotr(8))
            first = w[0] ^ word ^ rcon
            second = first ^ w[1]
            third = second ^ w[2]
            return _shift_rows(tuple(columns)), (first, second, third, third ^ w[3])

        def add(s: tuple[Bits, ...], w: tuple[Bits, ...]) -> tuple[Bits, ...]:
            return tuple(a ^ b for a, b in zip(s, w, strict=True))

        def one_round(_: Index, rcon: Bits, *state: Bits) -> tuple[Bits, ...]:
            s, w = substituted(rcon, state[:4], state[4:])
            return (_double(rcon), *add(_each(k, mix_column, *s), w), *w)

        w = tuple(load_words(k, key, 4))
        s = add(tuple(load_words(k, source, 4)), w)
        rcon, *state = k.loop(ROUNDS - 1, one_round, const(1, 32), *s, *w)
        for i, word in enumerate(add(*substituted(rcon, tuple(state[:4]), tuple(state[4:])))):
            k.store(target, 4 * i, word)

    return build


def _vector(key: str, text: str, answer: str, source: str) -> Vector:
    inputs = {"input": bytes.fromhex(text), "key": bytes.fromhex(key)}
    return Vector(inputs, {"output": bytes.fromhex(answer)}, source)


@register("aes128-encrypt-on-the-fly")
def workload() -> Workload:
    """Encryption of one block from its cipher key."""
    return Workload(
        "aes128-encrypt-on-the-fly",
        "FIPS 197 (2001, updated 2023)",
        (
            Buffer("input", 16, "in", secret=True),
            Buffer("key", 16, "in", secret=True),
            Buffer("output", 16, "out", declassified=True),
        ),
        lambda v: {"output": encrypt_block(v["input"], expand_key(v["key"]))},
        {
            "sbox-words": Kernel(
                "sbox-words",
                _kernel(_substitute_by_table, is_looped=True),
                "S-box bytes in 32-bit words, MixColumns byte by byte (Uzuner and Kavun 2024)",
            ),
            "nluv": Kernel(
                "nluv",
                _kernel(_substitute_by_unit, is_looped=False),
                "SubBytes on words, MixColumns byte by byte (Uzuner and Kavun 2024)",
                frozenset({"nnlaese"}),
            ),
        },
        (
            _vector(
                "2b7e151628aed2a6abf7158809cf4f3c", "3243f6a8885a308d313198a2e0370734",
                "3925841d02dc09fbdc118597196a0b32", "FIPS 197 appendix B",
            ),
            _vector(
                "000102030405060708090a0b0c0d0e0f", "00112233445566778899aabbccddeeff",
                "69c4e0d86a7b0430d8cdb78070b4c55a", "FIPS 197 appendix C.1",
            ),
            _vector(
                "00" * 16, "f34481ec3cc627bacd5dc3fb08f273e6",
                "0336763e966d92595a567cc9ce537f5e", "NIST AESAVS, GFSbox, encrypt, count 0",
            ),
        ),
        message_bytes=16,
    )  # fmt: skip
