"""GCM (NIST SP 800-38D) over a cipher of 128-bit blocks, with 20 bytes of associated data.

Sealing encrypts a message and computes its tag; opening decrypts it and tells whether the tag is
right. Round keys and the prepared key of GHASH are given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from isa.bits import Bits, const
from isa.kernel import Builder, Index
from workloads import aead, ghash
from workloads.batches import in_batches
from workloads.stream import add_message
from workloads.words import Words, load_words, store_words, swapped
from workloads.workload import Buffer, Kernel, Values, Vector, Workload

if TYPE_CHECKING:
    from workloads.block_cipher import BlockCipher, Variant

ASSOCIATED_BYTES = 20


@dataclass(frozen=True)
class Sealed:
    """A published message.

    Attributes:
        key: Key of the cipher.
        iv: 12 bytes.
        associated: Associated data, 20 bytes.
        plaintext: Message.
        ciphertext: As long.
        tag: 16 bytes.
        source: Where it is printed.
    """

    key: bytes
    iv: bytes
    associated: bytes
    plaintext: bytes
    ciphertext: bytes
    tag: bytes
    source: str


# --- Golden --------------------------------------------------------------------------------------


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 16)


def _add(a: bytes, b: bytes) -> bytes:
    return bytes(x ^ y for x, y in zip(a, b, strict=False))


def _crypt(cipher: BlockCipher, values: Values) -> tuple[bytes, bytes]:
    """The message added to the key stream, and the block that hides the tag."""
    data, keys = values["input"], values["round_keys"]
    mask, *stream = (
        cipher.encrypt(values["iv"] + (i + 1).to_bytes(4, "big"), keys)
        for i in range((len(data) + 15) // 16 + 1)
    )
    return _add(data, b"".join(stream)), mask


def _tag(values: Values, ciphertext: bytes, mask: bytes) -> bytes:
    associated = values["associated"]
    lengths = b"".join((8 * len(x)).to_bytes(8, "big") for x in (associated, ciphertext))
    hashed = _padded(associated) + _padded(ciphertext) + lengths
    return _add(ghash.ghash(values["hash_key"], hashed), mask)


def _golden(cipher: BlockCipher, values: Values, *, inverse: bool) -> dict[str, bytes]:
    """SP 800-38D sections 7.1 and 7.2."""
    output, mask = _crypt(cipher, values)
    tag = _tag(values, values["input"] if inverse else output, mask)
    return aead.outcome(values, output, tag, inverse=inverse)


# --- Kernels -------------------------------------------------------------------------------------


def _kernel(
    name: str,
    cipher: Variant,
    multiplier: ghash.Multiplier,
    summary: str,
    needs: frozenset[str],
    size: int,
    *,
    inverse: bool,
) -> Kernel:
    """Key stream to the stack; there the ciphertext replaces it behind the associated data."""
    blocks = (size + 15) // 16 + 1
    made = -(-blocks // cipher.blocks) * cipher.blocks
    start = 16  # of what is hashed; before it stands the block that hides the tag
    text = start + len(_padded(bytes(ASSOCIATED_BYTES)))

    def build(k: Builder) -> None:
        keys, hash_key = k.pointer("round_keys"), k.pointer("hash_key")
        iv, associated = k.pointer("iv"), k.pointer("associated")
        source, given, target, last = aead.pointers(k, inverse=inverse)
        product = multiplier(k, hash_key)
        stream = k.scratch("stream", text + 16 * max(blocks, made - 1))

        def some(first: Index, count: int) -> None:
            counters: Words = []
            for b in range(count):
                counters += [*load_words(k, iv, 3), swapped((first + b + 1).bits(32))]
            store_words(k, stream, cipher.function(k, counters, keys), 16 * first + (text - 16))

        def step(i: Index, *state: Bits) -> list[Bits]:
            return ghash.absorb(product, state, ghash.load_block(k, stream, 16 * i + start))

        in_batches(k, made, cipher.blocks, some)
        store_words(k, stream, load_words(k, stream, 4, text - 16))
        words = load_words(k, associated, ASSOCIATED_BYTES // 4)
        words += [const(0, 32)] * ((text - start) // 4 - len(words))
        store_words(k, stream, words, start)
        end = add_message(k, stream, text, source, target, size, keep_input=inverse)
        lengths = (0, 8 * ASSOCIATED_BYTES, 0, 8 * size)
        store_words(k, stream, [swapped(const(x, 32)) for x in lengths], end)
        zero = [const(0, k.xlen)] * (128 // k.xlen)
        state = k.loop((end + 16 - start) // 16, step, *zero, unroll=False)
        digest = last if given is None else k.scratch("digest", 16)
        ghash.store_block(k, digest, state, 0)
        pairs = zip(load_words(k, digest, 4), load_words(k, stream, 4), strict=True)
        tag = [a ^ b for a, b in pairs]
        aead.conclude(k, tag, given, last)

    return Kernel(name, build, summary, needs)


def _kernels(cipher: BlockCipher, size: int, *, inverse: bool) -> dict[str, Kernel]:
    """Every way to encrypt a block with every way to hash one; NLU-V lacks carry-less products."""
    made = {}
    for cipher_name, variant in cipher.encryption.items():
        if any(mnemonic.startswith("nnl") for mnemonic in variant.requires):
            continue
        for hash_name, (multiplier, summary, needs) in ghash.MULTIPLIERS.items():
            name = f"{cipher_name}-{hash_name}"
            text = f"{cipher.name}: {variant.summary}; GHASH: {summary}"
            made[name] = _kernel(
                name,
                variant,
                multiplier,
                text,
                variant.requires | needs,
                size,
                inverse=inverse,
            )
    return made


# --- Workload ------------------------------------------------------------------------------------


def workload(cipher: BlockCipher, message_bytes: int, *, inverse: bool) -> Workload:
    """Sealing of a message of 1 byte or more, or its opening; units are blocks.

    Raises:
        ValueError: The size does not fit.
    """
    name = f"{cipher.name}-gcm{'-open' if inverse else ''}"
    aead.check_size(name, message_bytes)
    return Workload(
        name,
        f"NIST SP 800-38D section 7.{2 if inverse else 1}",
        aead.buffers(
            (
                Buffer("round_keys", cipher.schedule_bytes, "in", secret=True),
                Buffer("hash_key", 16, "in", secret=True),
                Buffer("iv", 12, "in"),
                Buffer("associated", ASSOCIATED_BYTES, "in"),
            ),
            message_bytes,
            inverse=inverse,
        ),
        lambda v: _golden(cipher, v, inverse=inverse),
        _kernels(cipher, message_bytes, inverse=inverse),
        tuple(
            v
            for s in cipher.sealed
            if len(s.plaintext) == message_bytes
            for v in _vectors(cipher, s, inverse=inverse)
        ),
        units=(message_bytes + 15) // 16,
        message_bytes=message_bytes,
    )


def _vectors(cipher: BlockCipher, s: Sealed, *, inverse: bool) -> list[Vector]:
    keys = cipher.expand(s.key)
    before = {
        "round_keys": keys,
        "hash_key": ghash.prepared(cipher.encrypt(bytes(16), keys)),
        "iv": s.iv,
        "associated": s.associated,
    }
    return aead.vectors(before, s.plaintext, s.ciphertext, s.tag, s.source, inverse=inverse)
