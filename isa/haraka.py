"""Mathematics of Haraka v2 (Kölbl, Lauridsen, Mendel, Rechberger, ToSC 2016(2))."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TypeVar

from isa.aes import MIX
from isa.aes_block import add, mix, substitute_and_shift

ROUNDS = 5
_T = TypeVar("_T")
CONSTANTS = bytes.fromhex(
    "9d7b8175f0fec5b20ac020e64c70840617f7082fa46b0f646ba0f388e1b4668b"
    "1491029f609d02cf9884f2532dde0234794f5bfdafbcf3bb084f7b2ee6ead60e"
    "447039be1ccdee798b447248cbb0cfcb7b058a2bed35538db732906eeecdea7e"
    "1bef4fda612741e2d07c2e5e438fc2673b0bc71fe2fd5f6707cccaafb0d92429"
    "ee65d4b9ca8fdbece97f86e6f1634dab337e03ad4f402a5b64cdb7d484bf301c"
    "0098f68d2e8b0269bf231794b90bccb28a2d9d5cc89eaa4a72556fdea67804fa"
    "d49f12292e4ffa0e122a776b2b9fb4dfee126abbae11d63236a249f44403a11e"
    "a6eca89cc900965f8400054b884904afec93e527e3c7a2784f9c199dd85e0221"
    "7301d482cd2e28b9b7c959a7f8aa3abf6b7d3010d9eff23717b086610d706062"
    "c69afcf65391c28143043021c245ca5a3a94d136e892af2cbb686b223c972392"
    "b47110e558b9ba6ceb8658223892bfd38d12e124ddfd3d9377c6f0aee53c86db"
    "b11222cbe38de4839ca0ebff686260bb7df72bc74e1ab92d9cd1e4e2dcd34b73"
    "4e92b32cc415144b431b3061c347bb439968eb16dd31b203f6ef07e7a875a7db"
    "2c47ca7e02235e8e7759753c4b61f36df91786b8b9e51b6d777dded6175aa7cd"
    "5dee46a99d066c9daae9a86bf0436becc127f33b591153a22b3357f950691ecb"
    "d9d00e605303ede49c61da00750cee2c50a3a463bcbabb80ab0ce996a1a5b1f0"
    "39ca8d9330de0dab8829965e02b13dae42b4752ea8f314880ba454d5388fbb17"
    "f6160a3679b7b6aed77f425f5b8abb34deafbaff1859ce433854e5cb4152f626"
    "78c99e83f79ccaa26a02f3b9549ae94c35129022286ec040bef7df1b1aa551ae"
    "cf59a6480fbc73c12bd27eba3c61c1a0a19dc5e9fdbdd64a8882280203cc6a75"
)
"""40 round keys: digits of pi (Haraka v2, appendix)."""


def mixed(words: Sequence[_T]) -> list[_T]:
    """The mixing layer on 32-bit words, two or four blocks of four."""

    def low(a: Sequence[_T], b: Sequence[_T]) -> list[_T]:
        return [a[0], b[0], a[1], b[1]]

    def high(a: Sequence[_T], b: Sequence[_T]) -> list[_T]:
        return [a[2], b[2], a[3], b[3]]

    s = [words[i : i + 4] for i in range(0, len(words), 4)]
    if len(s) == 2:
        return low(*s) + high(*s)
    first, second = low(s[0], s[1]), high(s[0], s[1])
    third, fourth = low(s[2], s[3]), high(s[2], s[3])
    return high(second, fourth) + low(third, first) + high(third, first) + low(second, fourth)


def permute(data: bytes) -> bytes:
    """The permutation with its feed-forward, on 32 or 64 bytes (Haraka v2, section 2)."""
    blocks = [data[i : i + 16] for i in range(0, len(data), 16)]
    constant = 0
    for _ in range(ROUNDS):
        for _ in range(2):
            for j in range(len(blocks)):
                key = CONSTANTS[16 * constant : 16 * constant + 16]
                blocks[j] = add(mix(substitute_and_shift(blocks[j]), MIX), key)
                constant += 1
        words = struct.unpack(f"<{4 * len(blocks)}I", b"".join(blocks))
        state = struct.pack(f"<{4 * len(blocks)}I", *mixed(words))
        blocks = [state[i : i + 16] for i in range(0, len(data), 16)]
    return add(b"".join(blocks), data)


KEPT = {32: range(8), 64: (2, 3, 6, 7, 8, 9, 12, 13)}
"""Words of the result that are the digest, by input size."""


def digest(data: bytes) -> bytes:
    """haraka256 of 32 bytes or haraka512 of 64 bytes; 32 bytes."""
    out = permute(data)
    return b"".join(out[4 * i : 4 * i + 4] for i in KEPT[len(data)])
