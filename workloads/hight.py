"""HIGHT (Hong et al., CHES 2006; ISO/IEC 18033-3): encryption, decryption and key schedule.

Byte 7 of the specification stands first in a block, byte 15 first in a key. Round keys are the 8
whitening keys, then the 128 subkeys, a byte each.
"""

from __future__ import annotations

from collections.abc import Sequence

from isa.bits import Bits, concat, const
from isa.kernel import Builder, Index, Pointer
from isa.table import Table
from workloads.block_cipher import BlockCipher, Example, ScheduleVariant, Variant
from workloads.words import Words, load_word

ROUNDS = 32


def _deltas() -> tuple[int, ...]:
    """Constants of the key schedule: a shift register of 7 bits (CHES 2006, section 2.2)."""
    bits = [0, 1, 0, 1, 1, 0, 1]
    while len(bits) < 127 + 7:
        i = len(bits) - 6
        bits.append(bits[i + 2] ^ bits[i - 1])
    return tuple(sum(bits[i + j] << j for j in range(7)) for i in range(128))


DELTAS = _deltas()


# --- Golden --------------------------------------------------------------------------------------


def _rotl(x: int, n: int) -> int:
    return (x << n | x >> 8 - n) & 0xFF


def _f0(x: int) -> int:
    return _rotl(x, 1) ^ _rotl(x, 2) ^ _rotl(x, 7)


def _f1(x: int) -> int:
    return _rotl(x, 3) ^ _rotl(x, 4) ^ _rotl(x, 6)


def expand_key(key: bytes) -> bytes:
    """Round keys of a 16-byte key, 136 bytes (CHES 2006, section 2.2)."""
    mk = key[::-1]
    subkeys = [
        (mk[(j - i) % 8 + 8 * half] + DELTAS[16 * i + 8 * half + j]) & 0xFF
        for i in range(8)
        for half in range(2)
        for j in range(8)
    ]
    return bytes([*mk[12:], *mk[:4], *subkeys])


def encrypt_block(block: bytes, keys: bytes) -> bytes:
    """Encrypt 8 bytes with 136 bytes of round keys (CHES 2006, section 2.3)."""
    x, wk, sk = list(block[::-1]), keys[:8], keys[8:]
    x[0] = (x[0] + wk[0]) & 0xFF
    x[2] ^= wk[1]
    x[4] = (x[4] + wk[2]) & 0xFF
    x[6] ^= wk[3]
    for i in range(0, 4 * ROUNDS, 4):
        x = [
            x[7] ^ (_f0(x[6]) + sk[i + 3]) & 0xFF,
            x[0],
            (x[1] + (_f1(x[0]) ^ sk[i])) & 0xFF,
            x[2],
            x[3] ^ (_f0(x[2]) + sk[i + 1]) & 0xFF,
            x[4],
            (x[5] + (_f1(x[4]) ^ sk[i + 2])) & 0xFF,
            x[6],
        ]
    x = x[1:] + x[:1]
    x[0] = (x[0] + wk[4]) & 0xFF
    x[2] ^= wk[5]
    x[4] = (x[4] + wk[6]) & 0xFF
    x[6] ^= wk[7]
    return bytes(x[::-1])


def decrypt_block(block: bytes, keys: bytes) -> bytes:
    """Decrypt 8 bytes with the round keys of encryption."""
    x, wk, sk = list(block[::-1]), keys[:8], keys[8:]
    x[0] = (x[0] - wk[4]) & 0xFF
    x[2] ^= wk[5]
    x[4] = (x[4] - wk[6]) & 0xFF
    x[6] ^= wk[7]
    x = x[7:] + x[:7]
    for i in range(4 * ROUNDS - 4, -4, -4):
        x = [
            x[1],
            (x[2] - (_f1(x[1]) ^ sk[i])) & 0xFF,
            x[3],
            x[4] ^ (_f0(x[3]) + sk[i + 1]) & 0xFF,
            x[5],
            (x[6] - (_f1(x[5]) ^ sk[i + 2])) & 0xFF,
            x[7],
            x[0] ^ (_f0(x[7]) + sk[i + 3]) & 0xFF,
        ]
    x[0] = (x[0] - wk[0]) & 0xFF
    x[2] ^= wk[1]
    x[4] = (x[4] - wk[2]) & 0xFF
    x[6] ^= wk[3]
    return bytes(x[::-1])


# --- Kernels: bytes n and n + 4 in the halves of a word ------------------------------------------

LANES = 0x00FF00FF


def _mixed(x: Bits, *rotations: int) -> Bits:
    """Sum of left rotations of both bytes."""
    twice = x | (x << 8)
    total = twice >> 8 - rotations[0]
    for n in rotations[1:]:
        total = total ^ (twice >> 8 - n)
    return total & LANES


def _f0_lanes(x: Bits) -> Bits:
    return _mixed(x, 1, 2, 7)


def _f1_lanes(x: Bits) -> Bits:
    return _mixed(x, 3, 4, 6)


def _lanes(words: Sequence[Bits]) -> Words:
    """Bytes (0, 4), (1, 5), (2, 6), (3, 7) of a block, whose first byte is byte 7."""
    high, low = words  # bytes 7 to 4 and 3 to 0, the higher number first in memory
    return [concat(const(0, 8), high.byte(3 - n), const(0, 8), low.byte(3 - n)) for n in range(4)]


def _words(x: Sequence[Bits]) -> Words:
    return [
        concat(*(x[n].byte(2) for n in range(4))),
        concat(*(x[n].byte(0) for n in range(4))),
    ]


def _whitening(k: Builder, keys: Pointer, offset: int) -> Words:
    """Keys of bytes (0, 4) and (2, 6)."""
    word = load_word(k, keys, offset)
    return [word & LANES, (word >> 8) & LANES]


def _subkeys(k: Builder, keys: Pointer, offset: Index) -> Words:
    """Subkeys 0 and 2 in lanes, then 1 and 3."""
    word = load_word(k, keys, offset)
    return [word & LANES, (word >> 8) & LANES]


def _encrypt(k: Builder, words: Words, keys: Pointer) -> Words:
    def one_round(i: Index, x0: Bits, x1: Bits, x2: Bits, x3: Bits) -> Words:
        even, odd = _subkeys(k, keys, 4 * i + 8)
        new2 = (x1 + (_f1_lanes(x0) ^ even)) & LANES
        new0 = (x3 ^ (_f0_lanes(x2) + odd)) & LANES
        return [new0.rotr(16), x0, new2, x2]

    x0, x1, x2, x3 = _lanes(words)
    w0, w2 = _whitening(k, keys, 0)
    x0, x2 = (x0 + w0) & LANES, x2 ^ w2
    x0, x1, x2, x3 = k.loop(ROUNDS, one_round, x0, x1, x2, x3)
    w0, w2 = _whitening(k, keys, 4)
    return _words([x1 + w0, x2, x3 ^ w2, x0.rotr(16)])


def _decrypt(k: Builder, words: Words, keys: Pointer) -> Words:
    def one_round(i: Index, x0: Bits, x1: Bits, x2: Bits, x3: Bits) -> Words:
        even, odd = _subkeys(k, keys, (-4) * i + 132)
        old1 = _less(x2, _f1_lanes(x1) ^ even)
        old3 = (x0.rotr(16) ^ (_f0_lanes(x3) + odd)) & LANES
        return [x1, old1, x3, old3]

    y0, y1, y2, y3 = _lanes(words)
    w0, w2 = _whitening(k, keys, 4)
    x1, x3 = _less(y0, w0), y2 ^ w2
    x0, x1, x2, x3 = k.loop(ROUNDS, one_round, y3.rotr(16), x1, y1, x3)
    w0, w2 = _whitening(k, keys, 0)
    return _words([_less(x0, w0), x1, x2 ^ w2, x3])


def _less(x: Bits, y: Bits) -> Bits:
    """Difference of both bytes; a borrow from above is kept out of the upper one."""
    return ((x | 0xFF00FF00) - y) & LANES


def _schedule(k: Builder, key: Pointer, keys: Pointer) -> None:
    """Subkeys by fours, as sums of packed bytes; each half of the key turns by a byte a step."""
    deltas = k.constants(Table("hight_delta", 8, DELTAS))
    # word j of the key in memory holds master keys 15 - 4 j down, so reversing gives them upwards
    m = [concat(*(load_word(k, key, 12 - 4 * j).byte(b) for b in range(4))) for j in range(4)]
    k.store(keys, 0, m[3])
    k.store(keys, 4, m[0])

    def step(i: Index, *halves: Bits) -> Words:
        out: Words = []
        for half in range(2):
            low, high = halves[2 * half : 2 * half + 2]
            for j, word in enumerate((low, high)):
                at = 16 * i + 8 * half + 4 * j
                k.store(keys, at + 8, _byte_sum(word, load_word(k, deltas, at)))
            out += [(low << 8) | (high >> 24), (high << 8) | (low >> 24)]
        return out

    k.loop(8, step, *m)


def _byte_sum(x: Bits, y: Bits) -> Bits:
    """Sums of four bytes; those of y are below 128."""
    return ((x & 0x7F7F7F7F) + y) ^ (x & 0x80808080)


# --- Workloads -----------------------------------------------------------------------------------

_EXAMPLES = (
    ("00112233445566778899aabbccddeeff", "0000000000000000", "00f418aed94f03f2"),
    ("ffeeddccbbaa99887766554433221100", "0011223344556677", "23ce9f72e543e6d8"),
    ("000102030405060708090a0b0c0d0e0f", "0123456789abcdef", "7a6fb2a28d23f466"),
    ("28dbc3bc49ffd87dcfa509b11d422be7", "b41e6be2eba84a14", "cc047a75209c1fc6"),
)
_SUMMARY = "two bytes a word, rotations by shifts of doubled bytes"

HIGHT = BlockCipher(
    "hight",
    "Hong et al., HIGHT, CHES 2006",
    8,
    16,
    136,
    expand_key,
    encrypt_block,
    decrypt_block,
    {"packed": Variant(_encrypt, _SUMMARY)},
    {"packed": Variant(_decrypt, _SUMMARY)},
    {"packed": ScheduleVariant(_schedule, "four bytes a word")},
    tuple(
        Example(
            bytes.fromhex(key),
            bytes.fromhex(plaintext),
            bytes.fromhex(ciphertext),
            "Hong et al., CHES 2006, appendix A",
        )
        for key, plaintext, ciphertext in _EXAMPLES
    ),
)
HIGHT.register()
