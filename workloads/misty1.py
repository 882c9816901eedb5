"""MISTY1 (RFC 2994), 8 rounds: encryption, decryption and key schedule of one block.

Blocks and keys are big-endian. Round keys are 76 values of 16 bits, as `lhu` reads them: for each
pair of rounds those of two FL, then of two FO; at the end those of the last two FL.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TypeVar

from isa.bits import Bits, lookup
from isa.kernel import Builder, Index, Pointer
from isa.table import Table
from workloads.block_cipher import BlockCipher, Example, ScheduleVariant, Variant
from workloads.words import Words, load_words, swapped

S7 = bytes.fromhex(
    "1b32335a3b1017545b1a72736b2c66491f24136c372e3f4a5d0f405625511c04"
    "0b46200d7b3544422b1e41144b79156f0e550936740c6753280a7e3802076029"
    "1912652f303908685f782a4c6445753d594803577c4f623c1d215e276a704d3a"
    "016d6e6318772305267600312d7a7f61502211064716524e713e6943345c587d"
)
S9: tuple[int, ...] = struct.unpack(
    ">512H",
    bytes.fromhex(
        "01c300cb0153019f01e300e900fb0035018100b9011701eb01330009002d00d3"
        "00c7014a0037007e00eb0164019301d800a3011e0055002c001d01a201630118"
        "014b015201d2000f002b0030013a00e501110138018e006300e300c801f4001b"
        "0001009d00f801a0016d01f3001c0146007d00d1008201ea0183012d00f4019e"
        "01d300dd01e2012801e000ec005900910011012f002600dc00b0018c010f01f7"
        "00e7016c00b600f900d801510101014c010300b80154012b01ae00170071000c"
        "00470058007f01a4013401290084015d019d01b201a30048007c005101ca0023"
        "013d01a70165003b004200da019200ce00c1006b009f01f1012c018400fa0196"
        "01e10169017d00310180010a009401da0186013e011c0060017501cf00670119"
        "006500680099015000080007017c00b70024001900de012700db00e401a90052"
        "01090090019c01c1002801b30135016a017600df01e5018800c5016e01de01b1"
        "00c301df003600ee01ee00f000930049009a01b6006900810125000b005e00b4"
        "014901c70174003e013b01b7008e01c600ae0010009501ef004e00f201fd0085"
        "00fd00f600a0016f0083008a0156009b013c01070167009801d001e9000301fe"
        "00bd0122008900d2018f00120033006a014200ed0170011b00e2014f01580131"
        "0147005d011301cd0079016101a50179009e01b400cc00220132001a00e80004"
        "018701ed0197003901bf01d70027018b00c6009c00d0014e006c003401f2006e"
        "00ca002500ba019100fe00130106002f01ad017201db00c0010b01d600f501ec"
        "010d0076011401ab0075010c01e401590054011f004b00c401be00f7002900a4"
        "000e01f00077004d017a0086008b00b3017100bf010e01040097015b01600168"
        "00d700bb006601ce00fc009201c5006f0016004a00a1013900af00f10190000a"
        "01aa0143017b0056018d016600d401fb014d0194019a008701f8012300a701b8"
        "0141003c01f90140002a0155011a01a1019800d5012601af0061012e015701dc"
        "0072018a00aa0096011500ef0045007b008d01450053005f017800b2002e0020"
        "01d5003f01c901e701ac00440038001400b1016b00ab00b5005a018201c801d4"
        "00180177006400cf006d010001990130015a0005012001bb01bd00e0004f00d6"
        "013f01c4012a0015000600ff019b00a6004300880050015f01e801210073017e"
        "00bc00c200c90173018901f5007401cc01e601a80195001f0041000d01ba0032"
        "003d01d1008000a8005701b90162014800d901050062007a002101ff01120108"
        "01c000a9011d01b001a600cd00f3005c0102005b01d9014401f600ad00a5003a"
        "01cb0136017f004600e1001e01dd00e6013701fa0185008c008f004001b500be"
        "0078000000ac0110015e0124000201bc00a200ea007001fc0116015c004c01c2"
    ),
)
"""S-boxes of RFC 2994 section 2.2."""
PAIR = 18
"""Round keys of two rounds."""
_T = TypeVar("_T")


# --- Golden --------------------------------------------------------------------------------------


def _fi(x: int, key: int) -> int:
    """RFC 2994 section 2.2."""
    d9, d7 = x >> 7, x & 0x7F
    d9 = S9[d9] ^ d7
    d7 = S7[d7] ^ d9 & 0x7F
    d7 ^= key >> 9
    d9 ^= key & 0x1FF
    d9 = S9[d9] ^ d7
    return d7 << 9 | d9


def _arranged(k: Sequence[_T], scrambled: Sequence[_T]) -> list[_T]:
    """Round keys in the order of use (RFC 2994 section 2.1)."""

    def fl(n: int) -> list[_T]:
        half = n // 2
        if n % 2:
            return [scrambled[(half + 2) % 8], k[(half + 4) % 8]]
        return [k[half], scrambled[(half + 6) % 8]]

    def fo(n: int) -> list[_T]:
        return [
            k[n],
            scrambled[(n + 5) % 8],
            k[(n + 2) % 8],
            scrambled[(n + 1) % 8],
            k[(n + 7) % 8],
            scrambled[(n + 3) % 8],
            k[(n + 4) % 8],
        ]

    out: list[_T] = []
    for n in range(0, 8, 2):
        out += [*fl(n), *fl(n + 1), *fo(n), *fo(n + 1)]
    return [*out, *fl(8), *fl(9)]


def expand_key(key: bytes) -> bytes:
    """Round keys of a 16-byte key, 152 bytes (RFC 2994 section 2.1)."""
    k = struct.unpack(">8H", key)
    scrambled = [_fi(k[i], k[(i + 1) % 8]) for i in range(8)]
    return struct.pack("<76H", *_arranged(k, scrambled))


def _fo(x: tuple[int, int], k: Sequence[int]) -> tuple[int, int]:
    t0, t1 = x
    t0 = _fi(t0 ^ k[0], k[1]) ^ t1
    t1 = _fi(t1 ^ k[2], k[3]) ^ t0
    t0 = _fi(t0 ^ k[4], k[5]) ^ t1
    return t1 ^ k[6], t0


def _fl(x: tuple[int, int], k: Sequence[int]) -> tuple[int, int]:
    low = x[1] ^ x[0] & k[0]
    return x[0] ^ (low | k[1]), low


def _fl_inverse(x: tuple[int, int], k: Sequence[int]) -> tuple[int, int]:
    high = x[0] ^ (x[1] | k[1])
    return high, x[1] ^ high & k[0]


def _xor(x: tuple[int, int], y: tuple[int, int]) -> tuple[int, int]:
    return x[0] ^ y[0], x[1] ^ y[1]


def encrypt_block(block: bytes, keys: bytes) -> bytes:
    """Encrypt 8 bytes with 152 bytes of round keys (RFC 2994 section 2.3)."""
    k = struct.unpack("<76H", keys)
    a, b, c, d = struct.unpack(">4H", block)
    d0, d1 = (a, b), (c, d)
    for at in range(0, 72, PAIR):
        d0, d1 = _fl(d0, k[at:]), _fl(d1, k[at + 2 :])
        d1 = _xor(d1, _fo(d0, k[at + 4 :]))
        d0 = _xor(d0, _fo(d1, k[at + 11 :]))
    return struct.pack(">4H", *_fl(d1, k[74:]), *_fl(d0, k[72:]))


def decrypt_block(block: bytes, keys: bytes) -> bytes:
    """Decrypt 8 bytes (RFC 2994 section 2.4)."""
    k = struct.unpack("<76H", keys)
    a, b, c, d = struct.unpack(">4H", block)
    d1, d0 = _fl_inverse((a, b), k[74:]), _fl_inverse((c, d), k[72:])
    for at in range(54, -1, -PAIR):
        d0 = _xor(d0, _fo(d1, k[at + 11 :]))
        d1 = _xor(d1, _fo(d0, k[at + 4 :]))
        d0, d1 = _fl_inverse(d0, k[at:]), _fl_inverse(d1, k[at + 2 :])
    return struct.pack(">4H", *d0, *d1)


# --- Kernel: halves of 16 bits in registers ------------------------------------------------------

Half = tuple[Bits, Bits]
_S7 = Table("misty1_s7", 8, tuple(S7))
_S9 = Table("misty1_s9", 16, S9)


def _fi_bits(x: Bits, key: Bits) -> Bits:
    d7 = x & 0x7F
    d9 = lookup(_S9, x.slice(7, 9)).zext(32) ^ d7
    d7 = lookup(_S7, x.slice(0, 7)).zext(32) ^ (d9 & 0x7F) ^ (key >> 9)
    d9 = d9 ^ (key & 0x1FF)
    return (d7 << 9) | (lookup(_S9, d9.slice(0, 9)).zext(32) ^ d7)


def _keys(k: Builder, keys: Pointer, start: Index | int, count: int) -> Words:
    return [k.load(keys, start + 2 * i, 16).slice(0, 32) for i in range(count)]


def _fo_bits(x: Half, k: Sequence[Bits]) -> Half:
    t0, t1 = x
    t0 = _fi_bits(t0 ^ k[0], k[1]) ^ t1
    t1 = _fi_bits(t1 ^ k[2], k[3]) ^ t0
    t0 = _fi_bits(t0 ^ k[4], k[5]) ^ t1
    return t1 ^ k[6], t0


def _fl_bits(x: Half, k: Sequence[Bits]) -> Half:
    low = x[1] ^ (x[0] & k[0])
    return x[0] ^ (low | k[1]), low


def _fl_inverse_bits(x: Half, k: Sequence[Bits]) -> Half:
    high = x[0] ^ (x[1] | k[1])
    return high, x[1] ^ (high & k[0])


def _add(x: Half, y: Half) -> Half:
    return x[0] ^ y[0], x[1] ^ y[1]


def _split(word: Bits) -> Half:
    word = swapped(word)
    return word >> 16, word & 0xFFFF


def _join(x: Half) -> Bits:
    return swapped((x[0] << 16) | x[1])


def _encrypt(k: Builder, words: Words, keys: Pointer) -> Words:
    def two_rounds(i: Index, *d: Bits) -> Words:
        base = 2 * PAIR * i
        d0 = _fl_bits((d[0], d[1]), _keys(k, keys, base, 2))
        d1 = _fl_bits((d[2], d[3]), _keys(k, keys, base + 4, 2))
        d1 = _add(d1, _fo_bits(d0, _keys(k, keys, base + 8, 7)))
        d0 = _add(d0, _fo_bits(d1, _keys(k, keys, base + 22, 7)))
        return [*d0, *d1]

    d = k.loop(4, two_rounds, *_split(words[0]), *_split(words[1]))
    d0 = _fl_bits((d[0], d[1]), _keys(k, keys, 144, 2))
    d1 = _fl_bits((d[2], d[3]), _keys(k, keys, 148, 2))
    return [_join(d1), _join(d0)]


def _decrypt(k: Builder, words: Words, keys: Pointer) -> Words:
    def two_rounds(i: Index, *d: Bits) -> Words:
        base = (-2 * PAIR) * i + 6 * PAIR
        d0, d1 = (d[0], d[1]), (d[2], d[3])
        d0 = _add(d0, _fo_bits(d1, _keys(k, keys, base + 22, 7)))
        d1 = _add(d1, _fo_bits(d0, _keys(k, keys, base + 8, 7)))
        d0 = _fl_inverse_bits(d0, _keys(k, keys, base, 2))
        d1 = _fl_inverse_bits(d1, _keys(k, keys, base + 4, 2))
        return [*d0, *d1]

    d1 = _fl_inverse_bits(_split(words[0]), _keys(k, keys, 148, 2))
    d0 = _fl_inverse_bits(_split(words[1]), _keys(k, keys, 144, 2))
    d = k.loop(4, two_rounds, *d0, *d1)
    return [_join((d[0], d[1])), _join((d[2], d[3]))]


def _schedule(k: Builder, key: Pointer, keys: Pointer) -> None:
    halves = [half for word in load_words(k, key, 4) for half in _split(word)]
    scrambled = [_fi_bits(halves[i], halves[(i + 1) % 8]) for i in range(8)]
    for i, value in enumerate(_arranged(halves, scrambled)):
        k.store(keys, 2 * i, value, 16)


# --- Workloads -----------------------------------------------------------------------------------

_SUMMARY = "S-box tables of 128 bytes and 1 KiB (RFC 2994)"
_KEY = bytes.fromhex("00112233445566778899aabbccddeeff")
MISTY1 = BlockCipher(
    "misty1",
    "RFC 2994",
    8,
    16,
    152,
    expand_key,
    encrypt_block,
    decrypt_block,
    {"sbox": Variant(_encrypt, _SUMMARY)},
    {"sbox": Variant(_decrypt, _SUMMARY)},
    {"sbox": ScheduleVariant(_schedule, _SUMMARY)},
    (
        Example(
            _KEY,
            bytes.fromhex("0123456789abcdef"),
            bytes.fromhex("8b1da5f56ab3d07c"),
            "RFC 2994 section 3",
        ),
        Example(
            _KEY,
            bytes.fromhex("fedcba9876543210"),
            bytes.fromhex("04b68240b13be95d"),
            "RFC 2994 section 3",
        ),
    ),
)
MISTY1.register()
