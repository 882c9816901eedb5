"""CBC (NIST SP 800-38A section 6.2): a message of whole blocks, encrypted or decrypted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isa.bits import Bits
from isa.kernel import Builder, Index
from workloads.words import Words, load_words, store_words
from workloads.workload import Buffer, Kernel, Values, Vector, Workload

if TYPE_CHECKING:
    from workloads.block_cipher import BlockCipher, Variant


def _add(a: bytes, b: bytes) -> bytes:
    return bytes(x ^ y for x, y in zip(a, b, strict=True))


def _golden(cipher: BlockCipher, values: Values, *, inverse: bool) -> dict[str, bytes]:
    data, chain, out = values["input"], values["iv"], b""
    for i in range(0, len(data), cipher.block_bytes):
        block = data[i : i + cipher.block_bytes]
        if inverse:
            out += _add(chain, cipher.decrypt(block, values["round_keys"]))
            chain = block
        else:
            chain = cipher.encrypt(_add(chain, block), values["round_keys"])
            out += chain
    return {"output": out}


def _kernel(
    cipher: BlockCipher, name: str, variant: Variant, blocks: int, *, inverse: bool
) -> Kernel:
    words, step = cipher.block_bytes // 4, cipher.block_bytes

    def build(k: Builder) -> None:
        iv, keys = k.pointer("iv"), k.pointer("round_keys")
        source, target = k.pointer("input"), k.pointer("output")

        def encrypted(i: Index, *chain: Bits) -> Words:
            block = load_words(k, source, words, step * i)
            mixed = [a ^ b for a, b in zip(chain, block, strict=True)]
            result = variant.function(k, mixed, keys)
            store_words(k, target, result, step * i)
            return result

        def decrypted(i: Index, *chain: Bits) -> Words:
            block = load_words(k, source, words, step * i)
            result = variant.function(k, block, keys)
            mixed = [a ^ b for a, b in zip(chain, result, strict=True)]
            store_words(k, target, mixed, step * i)
            return load_words(k, source, words, step * i)  # again, as registers are short

        body = decrypted if inverse else encrypted
        k.loop(blocks, body, *load_words(k, iv, words), unroll=False)

    return Kernel(name, build, variant.summary, variant.requires)


def workload(cipher: BlockCipher, message_bytes: int, *, inverse: bool) -> Workload:
    """Encryption of a message, or its decryption; units are blocks.

    The vectors choose the plaintext so that every block enters the cipher as a published one.
    """
    name = f"{cipher.name}-cbc{'-decrypt' if inverse else ''}"
    blocks = cipher.blocks(name, message_bytes)
    vectors = []
    for e in cipher.examples:
        keys = cipher.expand(e.key)
        plaintext = e.plaintext + _add(e.plaintext, e.ciphertext) * (blocks - 1)
        ciphertext = e.ciphertext * blocks
        inputs = {
            "iv": bytes(cipher.block_bytes),
            "round_keys": cipher.decrypt_keys(keys) if inverse else keys,
            "input": ciphertext if inverse else plaintext,
        }
        output = plaintext if inverse else ciphertext
        vectors.append(Vector(inputs, {"output": output}, f"{e.source}, {blocks} times"))
    variants = cipher.decryption if inverse else cipher.encryption
    return Workload(
        name,
        "NIST SP 800-38A section 6.2",
        (
            Buffer("iv", cipher.block_bytes, "in"),
            Buffer("round_keys", cipher.schedule_bytes, "in", secret=True),
            Buffer("input", message_bytes, "in", secret=True),
            Buffer("output", message_bytes, "out", declassified=True),
        ),
        lambda v: _golden(cipher, v, inverse=inverse),
        {n: _kernel(cipher, n, v, blocks, inverse=inverse) for n, v in variants.items()},
        tuple(vectors),
        units=blocks,
        message_bytes=message_bytes,
    )
