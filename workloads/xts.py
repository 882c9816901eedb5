"""XTS (IEEE 1619, NIST SP 800-38E): a disk sector of whole blocks, over a cipher of 128-bit blocks.

Round keys of both keys are given; those of the data are the decryption's where it decrypts. The
sector number is a block, least significant byte first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from isa.kernel import Builder, Index
from workloads.batches import in_batches
from workloads.words import Words, load_words, store_words
from workloads.workload import Buffer, Kernel, Values, Vector, Workload

if TYPE_CHECKING:
    from workloads.block_cipher import Block, BlockCipher, Variant

LARGEST = 16_384
"""Largest sector in bytes; it must fit data memory."""


@dataclass(frozen=True)
class Sector:
    """A published sector.

    Attributes:
        key: Key of the data.
        tweak_key: Key of the tweak.
        number: Sector number, 16 bytes.
        plaintext: Whole blocks.
        ciphertext: As long.
        source: Where it is printed.
    """

    key: bytes
    tweak_key: bytes
    number: bytes
    plaintext: bytes
    ciphertext: bytes
    source: str


def _doubled(tweak: int) -> int:
    """Times x modulo x^128 + x^7 + x^2 + x + 1."""
    return (tweak << 1) & (1 << 128) - 1 ^ (0x87 if tweak >> 127 else 0)


def _add(a: bytes, b: bytes) -> bytes:
    return bytes(x ^ y for x, y in zip(a, b, strict=True))


def _golden(crypt: Block, encrypt: Block, values: Values) -> dict[str, bytes]:
    """IEEE 1619 sections 5.3 and 5.4, whole blocks."""
    tweak = int.from_bytes(encrypt(values["sector"], values["tweak_round_keys"]), "little")
    out, data = b"", values["input"]
    for i in range(0, len(data), 16):
        mask = tweak.to_bytes(16, "little")
        out += _add(crypt(_add(data[i : i + 16], mask), values["round_keys"]), mask)
        tweak = _doubled(tweak)
    return {"output": out}


def _next_tweak(t: Words) -> Words:
    carry = t[3].sar(31) & 0x87
    return [(t[0] << 1) ^ carry, *((t[i] << 1) | (t[i - 1] >> 31) for i in range(1, 4))]


def _kernel(name: str, variant: Variant, encryption: Variant, blocks: int) -> Kernel:
    def build(k: Builder) -> None:
        keys, tweak_keys = k.pointer("round_keys"), k.pointer("tweak_round_keys")
        sector, source, target = k.pointer("sector"), k.pointer("input"), k.pointer("output")
        held = k.scratch("tweak", 16)

        def tweaks(count: int) -> tuple[Words, Words]:
            """The tweaks of some blocks, and the one that follows, from memory."""
            found: Words = []
            tweak = load_words(k, held, 4)
            for _ in range(count):
                found += tweak
                tweak = _next_tweak(tweak)
            return found, tweak

        def some(first: Index, count: int) -> None:
            data = load_words(k, source, 4 * count, 16 * first)
            masked = [a ^ b for a, b in zip(data, tweaks(count)[0], strict=True)]
            mixed = variant.function(k, masked, keys)
            again, following = tweaks(count)  # made again, as registers are short
            out = [a ^ b for a, b in zip(mixed, again, strict=True)]
            store_words(k, target, out, 16 * first)
            store_words(k, held, following)

        store_words(k, held, encryption.function(k, load_words(k, sector, 4), tweak_keys))
        in_batches(k, blocks, variant.blocks, some)

    return Kernel(name, build, variant.summary, variant.requires | encryption.requires)


def workload(cipher: BlockCipher, message_bytes: int, *, inverse: bool) -> Workload:
    """Encryption of a sector, or its decryption; units are blocks.

    Raises:
        ValueError: The size is not one of whole blocks that fit.
    """
    name = f"{cipher.name}-xts{'-decrypt' if inverse else ''}"
    if message_bytes % 16 or not 16 <= message_bytes <= LARGEST:
        raise ValueError(
            f"message of {name} must be a multiple of 16 bytes in 16 to {LARGEST}, "
            f"not {message_bytes}"
        )
    crypt = cipher.decrypt if inverse else cipher.encrypt
    variants = cipher.decryption if inverse else cipher.encryption
    vectors = []
    for s in cipher.sectors:
        plaintext, ciphertext = s.plaintext[:message_bytes], s.ciphertext[:message_bytes]
        if len(plaintext) == message_bytes:
            keys = cipher.expand(s.key)
            inputs = {
                "round_keys": cipher.decrypt_keys(keys) if inverse else keys,
                "tweak_round_keys": cipher.expand(s.tweak_key),
                "sector": s.number,
                "input": ciphertext if inverse else plaintext,
            }
            vectors.append(
                Vector(inputs, {"output": plaintext if inverse else ciphertext}, s.source)
            )
    return Workload(
        name,
        "IEEE 1619-2007; NIST SP 800-38E",
        (
            Buffer("round_keys", cipher.schedule_bytes, "in", secret=True),
            Buffer("tweak_round_keys", cipher.schedule_bytes, "in", secret=True),
            Buffer("sector", 16, "in"),
            Buffer("input", message_bytes, "in", secret=True),
            Buffer("output", message_bytes, "out", declassified=True),
        ),
        lambda v: _golden(crypt, cipher.encrypt, v),
        {
            n: _kernel(n, variant, cipher.encryption[n], message_bytes // 16)
            for n, variant in variants.items()
            if n in cipher.encryption
        },
        tuple(vectors),
        units=message_bytes // 16,
        message_bytes=message_bytes,
    )
