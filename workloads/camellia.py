"""Camellia-128 (RFC 3713): encryption, decryption and key schedule of one block.

Words are big-endian in messages and keys. Round keys are 26 of 64 bits in the order of encryption
(two of the first whitening, 6 rounds, 2 of FL, 6, 2, 6, two of the last whitening), each as two
words as `lw` reads them, the high word first.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

from isa.bits import Bits, concat, lookup
from isa.kernel import Builder, Index, Pointer
from isa.table import Table
from workloads.block_cipher import BlockCipher, Cipher, Example, ScheduleVariant, Variant
from workloads.sliced import SUMMARY as SLICED
from workloads.sliced import UNROLL, sliced
from workloads.words import Words, load_words, swapped, total

SBOX = bytes.fromhex(
    "70822cecb327c0e5e4855735ea0cae4123ef6b934519a521ed0e4f4e1d6592bd"
    "86b8af8f7ceb1fce3e30dc5f5ec50b1aa6e139cad5475d3dd9015ad651566c4d"
    "8b0d9a66fbccb02d74122b20f0b18499df4ccbc2347e76056db7a931d11704d7"
    "14583a61de1b111c320f9c165318f222fe44cfb2c3b57a912408e8a860fc6950"
    "aad0a07da1896297545b1e95e0ff64d210c40048a3f775db8a03e6da093fdd94"
    "875c8302cd4a90337367f6f39d7fbfe2529bd826c837c63b81966f4b13be632e"
    "e979a78c9f6ebc8e29f5f9b62ffdb4597898066ae74671bad425ab4288a28dfa"
    "7207b955f8eeac0a36492a683c38f1a44028d37bbbc943c115e3adf477c7809e"
)
"""s1 of RFC 3713 section 2.4.1."""
SIGMA = (
    0xA09E667F3BCC908B,
    0xB67AE8584CAA73B2,
    0xC6EF372FE94F82BE,
    0x54FF53A5F1D36F1C,
)
"""RFC 3713 section 2.2."""
SOURCES = [
    "L0h",
    "L0l",
    "A0h",
    "A0l",
    "L15h",
    "L15l",
    "A15h",
    "A15l",
    "A30h",
    "A30l",
    "L45h",
    "L45l",
    "A45h",
    "L60l",
    "A60h",
    "A60l",
    "L77h",
    "L77l",
    "L94h",
    "L94l",
    "A94h",
    "A94l",
    "L111h",
    "L111l",
    "A111h",
    "A111l",
]
"""Round keys: half of KL or KA rotated left (RFC 3713 section 2.2)."""
_MASK = 2**64 - 1


# --- Golden --------------------------------------------------------------------------------------


def _rotl(x: int, n: int, width: int) -> int:
    return (x << n | x >> width - n) & (1 << width) - 1


_BOXES = (
    SBOX,
    bytes(_rotl(x, 1, 8) for x in SBOX),
    bytes(_rotl(x, 7, 8) for x in SBOX),
    bytes(SBOX[_rotl(x, 1, 8)] for x in range(256)),
)
"""S-boxes s1 to s4 (RFC 3713 section 2.4.1)."""
_ORDER = (0, 1, 2, 3, 1, 2, 3, 0)
"""Which S-box each byte of F passes, first byte first."""
_ROWS = ("134678", "124578", "123568", "234567", "12678", "23578", "34568", "14567")
"""Bytes that each output byte of F adds (RFC 3713 section 2.4.1)."""


def _f(x: int, key: int) -> int:
    t = [_BOXES[b][v] for b, v in zip(_ORDER, (x ^ key).to_bytes(8, "big"), strict=True)]
    out = bytearray(8)
    for i, row in enumerate(_ROWS):
        for j in row:
            out[i] ^= t[int(j) - 1]
    return int.from_bytes(out, "big")


def _fl(x: int, key: int) -> int:
    high, low = x >> 32, x & 0xFFFFFFFF
    low ^= _rotl(high & key >> 32, 1, 32)
    high ^= low | key & 0xFFFFFFFF
    return high << 32 | low


def _fl_inverse(x: int, key: int) -> int:
    high, low = x >> 32, x & 0xFFFFFFFF
    high ^= low | key & 0xFFFFFFFF
    low ^= _rotl(high & key >> 32, 1, 32)
    return high << 32 | low


def expand_key(key: bytes) -> bytes:
    """Round keys of a 16-byte key, 208 bytes (RFC 3713 section 2.2)."""
    kl = int.from_bytes(key, "big")
    d1, d2 = kl >> 64, kl & _MASK
    d2 ^= _f(d1, SIGMA[0])
    d1 ^= _f(d2, SIGMA[1])
    d1 ^= kl >> 64
    d2 ^= kl & _MASK
    d2 ^= _f(d1, SIGMA[2])
    d1 ^= _f(d2, SIGMA[3])
    values = {"L": kl, "A": d1 << 64 | d2}
    out = b""
    for name in SOURCES:
        rotated = _rotl(values[name[0]], int(name[1:-1]), 128)
        half = rotated >> 64 if name[-1] == "h" else rotated & _MASK
        out += struct.pack("<2I", half >> 32, half & 0xFFFFFFFF)
    return out


def _crypt(block: bytes, k: Sequence[int]) -> bytes:
    d1, d2 = struct.unpack(">2Q", block)
    d1 ^= k[0]
    d2 ^= k[1]
    for start in (2, 10, 18):
        for i in range(start, start + 6, 2):
            d2 ^= _f(d1, k[i])
            d1 ^= _f(d2, k[i + 1])
        if start < 18:
            d1, d2 = _fl(d1, k[start + 6]), _fl_inverse(d2, k[start + 7])
    return struct.pack(">2Q", d2 ^ k[24], d1 ^ k[25])


def _keys(keys: bytes) -> list[int]:
    words = struct.unpack("<52I", keys)
    return [high << 32 | low for high, low in zip(words[::2], words[1::2], strict=True)]


def encrypt_block(block: bytes, keys: bytes) -> bytes:
    """Encrypt 16 bytes with 208 bytes of round keys (RFC 3713 section 2.3)."""
    return _crypt(block, _keys(keys))


def decrypt_block(block: bytes, keys: bytes) -> bytes:
    """Decrypt 16 bytes: the same with the round keys in reverse, whitening keys in pairs."""
    k = _keys(keys)
    return _crypt(block, [*k[24:], *k[23:1:-1], *k[:2]])


# --- Kernels -------------------------------------------------------------------------------------

Half = Sequence[Bits]
"""64 bits as the high and the low word."""
Function = Callable[[Half], Words]
"""F without the key."""


_ZEROS = (0xC5, 0xC5, 0xC5, 0xE2)
"""The input of each S-box that its inversion sees as 0."""


def _sliced(w: Bits, order: Sequence[int]) -> Bits:
    chosen = order[::-1]
    return sliced([bytes(_BOXES[b]) for b in chosen], [_ZEROS[b] for b in chosen])(w)


def _by_slices(x: Half) -> Words:
    return _byte_sums(_sliced(x[0], _ORDER[:4]), _sliced(x[1], _ORDER[4:]))


def _by_bytes(x: Half) -> Words:
    tables = [Table(f"camellia_s{i + 1}", 8, tuple(box)) for i, box in enumerate(_BOXES)]

    def substituted(w: Bits, order: Sequence[int]) -> Bits:
        return concat(*(lookup(tables[b], w.byte(3 - j)) for j, b in enumerate(order)))

    return _byte_sums(substituted(x[0], _ORDER[:4]), substituted(x[1], _ORDER[4:]))


def _byte_sums(high: Bits, low: Bits) -> Words:
    """P of the S-boxes' outputs, by rotations."""
    high = high ^ low.rotl(8)
    low = low ^ high.rotl(16)
    high = high ^ low.rotr(8)
    low = low ^ high.rotr(8)
    return [low, high]


def _spread(name: str, box: Sequence[int], places: str) -> Table:
    """An S-box whose value stands in the bytes marked 1, the most significant first."""
    factor = int("".join("01" if p == "1" else "00" for p in places), 16)
    return Table(name, 32, tuple(s * factor for s in box))


def _by_tables(x: Half) -> Words:
    """S-boxes that spread their value over a word."""
    s1, s2, s3, s4 = _BOXES
    t1, t2, t3, t4 = (
        _spread("camellia_sp1110", s1, "1110"),
        _spread("camellia_sp0222", s2, "0111"),
        _spread("camellia_sp3033", s3, "1011"),
        _spread("camellia_sp4404", s4, "1101"),
    )
    high, low = x
    d = total(*(lookup(t, high.byte(3 - j)) for j, t in enumerate((t1, t2, t3, t4))))
    u = total(*(lookup(t, low.byte(3 - j)) for j, t in enumerate((t2, t3, t4, t1))))
    first = d ^ u
    return [first, first ^ d.rotr(8)]


def _add_key(x: Half, k: Builder, keys: Pointer, offset: Index | int) -> Words:
    return [a ^ b for a, b in zip(x, load_words(k, keys, 2, offset), strict=True)]


def _add(x: Half, y: Half) -> Words:
    return [a ^ b for a, b in zip(x, y, strict=True)]


def _cipher(function: Function, *, inverse: bool, unroll: bool | None = None) -> Cipher:
    """The cipher; decryption walks the round keys downwards."""

    def apply(k: Builder, words: Words, keys: Pointer) -> Words:
        first, step = (8 * 23, -8) if inverse else (8 * 2, 8)

        def rounds(base: Index | int, d: Sequence[Bits]) -> Words:
            def two_rounds(i: Index, *d: Bits) -> Words:
                d1, d2 = list(d[:2]), list(d[2:])
                at = 2 * step * i + base
                d2 = _add(d2, function(_add_key(d1, k, keys, at)))
                d1 = _add(d1, function(_add_key(d2, k, keys, at + step)))
                return [*d1, *d2]

            return list(k.loop(3, two_rounds, *d, unroll=unroll))

        def group(j: Index, *d: Bits) -> Words:
            base = 8 * step * j + first
            h1, l1, h2, l2 = rounds(base, d)
            k1, k2 = load_words(k, keys, 2, base + 6 * step)
            l1 = l1 ^ (h1 & k1).rotl(1)
            h1 = h1 ^ (l1 | k2)
            k1, k2 = load_words(k, keys, 2, base + 7 * step)
            h2 = h2 ^ (l2 | k2)
            l2 = l2 ^ (h2 & k1).rotl(1)
            return [h1, l1, h2, l2]

        whitening = (8 * 24, 0) if inverse else (0, 8 * 24)
        d = [swapped(w) for w in words]
        d = _add(d, load_words(k, keys, 4, whitening[0]))
        d = list(k.loop(2, group, *d, unroll=unroll))
        d = rounds(16 * step + first, d)
        out = _add([*d[2:], *d[:2]], load_words(k, keys, 4, whitening[1]))
        return [swapped(w) for w in out]

    return apply


def _variants(*, inverse: bool) -> dict[str, Variant]:
    return {
        "sbox": Variant(
            _cipher(_by_bytes, inverse=inverse), "four 256-byte S-box tables (RFC 3713)"
        ),
        "ttable": Variant(
            _cipher(_by_tables, inverse=inverse),
            "four 1 KiB tables that spread a byte over a word (Aoki et al. 2000)",
        ),
        "sliced": Variant(_cipher(_by_slices, inverse=inverse, unroll=UNROLL), SLICED),
    }


def _schedule(function: Function) -> Callable[[Builder, Pointer, Pointer], None]:
    def build(k: Builder, key: Pointer, keys: Pointer) -> None:
        kl = [swapped(w) for w in load_words(k, key, 4)]
        constants = k.constants(
            Table("camellia_sigma", 32, tuple(s >> n & 0xFFFFFFFF for s in SIGMA for n in (32, 0)))
        )

        def two(base: int, d: Sequence[Bits]) -> Words:
            d1, d2 = list(d[:2]), list(d[2:])
            d2 = _add(d2, function(_add_key(d1, k, constants, base)))
            return [*_add(d1, function(_add_key(d2, k, constants, base + 8))), *d2]

        ka = two(16, _add(two(0, kl), kl))
        values = {"L": kl, "A": ka}
        for i, name in enumerate(SOURCES):
            w, amount = values[name[0]], int(name[1:-1])
            skip, rest = divmod(amount, 32)
            skip += 2 * (name[-1] == "l")
            for j in range(2):
                low, high = w[(skip + j + 1) % 4], w[(skip + j) % 4]
                word = (high << rest) | (low >> 32 - rest) if rest else high
                k.store(keys, 8 * i + 4 * j, word)

    return build


# --- Workloads -----------------------------------------------------------------------------------

CAMELLIA128 = BlockCipher(
    "camellia128",
    "RFC 3713",
    16,
    16,
    208,
    expand_key,
    encrypt_block,
    decrypt_block,
    _variants(inverse=False),
    _variants(inverse=True),
    {
        "sbox": ScheduleVariant(_schedule(_by_bytes), "four 256-byte S-box tables"),
        "ttable": ScheduleVariant(_schedule(_by_tables), "four 1 KiB tables"),
        "sliced": ScheduleVariant(_schedule(_by_slices), SLICED),
    },
    (
        Example(
            bytes.fromhex("0123456789abcdeffedcba9876543210"),
            bytes.fromhex("0123456789abcdeffedcba9876543210"),
            bytes.fromhex("67673138549669730857065648eabe43"),
            "RFC 3713 appendix A",
        ),
    ),
)
CAMELLIA128.register()
