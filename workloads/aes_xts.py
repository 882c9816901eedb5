"""XTS-AES-128 (IEEE 1619, NIST SP 800-38E): encryption of a disk sector of whole blocks.

Round keys of both keys are given. The sector number is a block, least significant byte first.
"""

from __future__ import annotations

from isa.aes_block import encrypt_block, expand_key
from isa.bits import Bits
from isa.kernel import Builder, Index
from workloads import aes, register
from workloads.aes_gcm import CIPHERS
from workloads.words import Words, load_words, store_words
from workloads.workload import Buffer, Kernel, Values, Vector, Workload

LARGEST = 16_384
"""Largest sector in bytes; it must fit data memory."""


def _doubled(tweak: int) -> int:
    """Times x modulo x^128 + x^7 + x^2 + x + 1."""
    return (tweak << 1) & (1 << 128) - 1 ^ (0x87 if tweak >> 127 else 0)


def encrypt(keys: bytes, tweak_keys: bytes, sector: bytes, data: bytes) -> bytes:
    """Encrypt whole blocks (IEEE 1619 section 5.3)."""
    tweak = int.from_bytes(encrypt_block(sector, tweak_keys), "little")
    out = b""
    for i in range(0, len(data), 16):
        mask = tweak.to_bytes(16, "little")
        mixed = bytes(a ^ b for a, b in zip(data[i : i + 16], mask, strict=True))
        mixed = encrypt_block(mixed, keys)
        out += bytes(a ^ b for a, b in zip(mixed, mask, strict=True))
        tweak = _doubled(tweak)
    return out


def _next_tweak(t: Words) -> Words:
    carry = t[3].sar(31) & 0x87
    return [(t[0] << 1) ^ carry, *((t[i] << 1) | (t[i - 1] >> 31) for i in range(1, 4))]


def _kernel(
    name: str, cipher: aes.Cipher, summary: str, needs: frozenset[str], blocks: int
) -> Kernel:
    def build(k: Builder) -> None:
        keys, tweak_keys = k.pointer("round_keys"), k.pointer("tweak_round_keys")
        sector, source, target = k.pointer("sector"), k.pointer("input"), k.pointer("output")
        held = k.scratch("tweak", 16)

        def one_block(i: Index) -> tuple[Bits, ...]:
            tweak = load_words(k, held, 4)
            data = load_words(k, source, 4, 16 * i)
            mixed = cipher(k, [a ^ b for a, b in zip(data, tweak, strict=True)], keys)
            again = load_words(k, held, 4)  # from memory, as registers are short
            out = [a ^ b for a, b in zip(mixed, again, strict=True)]
            store_words(k, target, out, 16 * i)
            store_words(k, held, _next_tweak(again))
            return ()

        store_words(k, held, cipher(k, load_words(k, sector, 4), tweak_keys))
        k.loop(blocks, one_block, unroll=False)

    return Kernel(name, build, summary, needs)


_KEY = bytes.fromhex("27182818284590452353602874713526")
_TWEAK_KEY = bytes.fromhex("31415926535897932384626433832795")
_PLAINTEXT = bytes(range(256)) * 2
_CIPHERTEXT = bytes.fromhex(
    "27a7479befa1d476489f308cd4cfa6e2a96e4bbe3208ff25287dd3819616e89c"
    "c78cf7f5e543445f8333d8fa7f56000005279fa5d8b5e4ad40e736ddb4d35412"
    "328063fd2aab53e5ea1e0a9f332500a5df9487d07a5c92cc512c8866c7e860ce"
    "93fdf166a24912b422976146ae20ce846bb7dc9ba94a767aaef20c0d61ad0265"
    "5ea92dc4c4e41a8952c651d33174be51a10c421110e6d81588ede82103a252d8"
    "a750e8768defffed9122810aaeb99f9172af82b604dc4b8e51bcb08235a6f434"
    "1332e4ca60482a4ba1a03b3e65008fc5da76b70bf1690db4eae29c5f1badd03c"
    "5ccf2a55d705ddcd86d449511ceb7ec30bf12b1fa35b913f9f747a8afd1b130e"
    "94bff94effd01a91735ca1726acd0b197c4e5b03393697e126826fb6bbde8ecc"
    "1e08298516e2c9ed03ff3c1b7860f6de76d4cecd94c8119855ef5297ca67e9f3"
    "e7ff72b1e99785ca0a7e7720c5b36dc6d72cac9574c8cbbc2f801e23e56fd344"
    "b07f22154beba0f08ce8891e643ed995c94d9a69c9f1b5f499027a78572aeebd"
    "74d20cc39881c213ee770b1010e4bea718846977ae119f7a023ab58cca0ad752"
    "afe656bb3c17256a9f6e9bf19fdd5a38fc82bbe872c5539edb609ef4f79c203e"
    "bb140f2e583cb2ad15b4aa5b655016a8449277dbd477ef2c8d6c017db738b18d"
    "eb4a427d1923ce3ff262735779a418f20a282df920147beabe421ee5319d0568"
)


@register("aes128-xts", default_bytes=512)
def sector_workload(message_bytes: int) -> Workload:
    """Encryption of a sector."""
    if message_bytes % 16 or not 16 <= message_bytes <= LARGEST:
        raise ValueError(
            f"message of aes128-xts must be a multiple of 16 bytes in 16 to {LARGEST}, "
            f"not {message_bytes}"
        )
    blocks = message_bytes // 16

    def golden(values: Values) -> dict[str, bytes]:
        keys, tweak_keys = values["round_keys"], values["tweak_round_keys"]
        return {"output": encrypt(keys, tweak_keys, values["sector"], values["input"])}

    vectors: tuple[Vector, ...] = ()
    if message_bytes <= len(_PLAINTEXT):
        inputs = {
            "round_keys": expand_key(_KEY),
            "tweak_round_keys": expand_key(_TWEAK_KEY),
            "sector": bytes(16),
            "input": _PLAINTEXT[:message_bytes],
        }
        output = {"output": _CIPHERTEXT[:message_bytes]}
        vectors = (Vector(inputs, output, "IEEE 1619-2007 appendix B, vector 4"),)
    return Workload(
        "aes128-xts",
        "IEEE 1619-2007; NIST SP 800-38E",
        (
            Buffer("round_keys", 176, "in", secret=True),
            Buffer("tweak_round_keys", 176, "in", secret=True),
            Buffer("sector", 16, "in"),
            Buffer("input", message_bytes, "in", secret=True),
            Buffer("output", message_bytes, "out", declassified=True),
        ),
        golden,
        {name: _kernel(name, *parts, blocks) for name, parts in CIPHERS.items()},
        vectors,
        units=blocks,
        message_bytes=message_bytes,
    )
