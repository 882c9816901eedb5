"""AES-128-GCM (NIST SP 800-38D): encryption and tag of a message, with 20 bytes of associated data.

Round keys and the prepared key of GHASH are given.
"""

from __future__ import annotations

from isa.aes_block import encrypt_block, expand_key
from isa.bits import Bits, const
from isa.kernel import Builder, Index
from workloads import aes, ghash, register
from workloads.stream import add_message
from workloads.words import load_words, store_words, swapped
from workloads.workload import Buffer, Kernel, Values, Vector, Workload

ASSOCIATED_BYTES = 20
LARGEST = 16_384
"""Largest message in bytes; it and its key stream must fit data memory."""


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 16)


def seal(
    keys: bytes, hash_key: bytes, iv: bytes, associated: bytes, plaintext: bytes
) -> tuple[bytes, bytes]:
    """Ciphertext and tag of 16 bytes (SP 800-38D section 7.1)."""
    count = (len(plaintext) + 15) // 16
    mask, *stream = (encrypt_block(iv + (i + 1).to_bytes(4, "big"), keys) for i in range(count + 1))
    ciphertext = bytes(a ^ b for a, b in zip(plaintext, b"".join(stream), strict=False))
    lengths = (8 * len(associated)).to_bytes(8, "big") + (8 * len(plaintext)).to_bytes(8, "big")
    digest = ghash.ghash(hash_key, _padded(associated) + _padded(ciphertext) + lengths)
    return ciphertext, bytes(a ^ b for a, b in zip(digest, mask, strict=True))


def _kernel(
    name: str,
    cipher: aes.Cipher,
    multiplier: ghash.Multiplier,
    summary: str,
    needs: frozenset[str],
    size: int,
) -> Kernel:
    """Key stream to the stack; there the ciphertext replaces it behind the associated data."""
    blocks = (size + 15) // 16 + 1
    start = 16  # of what is hashed; before it stands the block that hides the tag
    text = start + len(_padded(bytes(ASSOCIATED_BYTES)))

    def build(k: Builder) -> None:
        keys, hash_key = k.pointer("round_keys"), k.pointer("hash_key")
        iv, associated = k.pointer("iv"), k.pointer("associated")
        source, target, tag = k.pointer("input"), k.pointer("output"), k.pointer("tag")
        product = multiplier(k, hash_key)
        stream = k.scratch("stream", text + 16 * blocks)

        def one_block(i: Index) -> tuple[Bits, ...]:
            counter = [*load_words(k, iv, 3), swapped((i + 1).bits(32))]
            store_words(k, stream, cipher(k, counter, keys), 16 * i + (text - 16))
            return ()

        def step(i: Index, *state: Bits) -> list[Bits]:
            return ghash.absorb(product, state, ghash.load_block(k, stream, 16 * i + start))

        k.loop(blocks, one_block, unroll=False)
        store_words(k, stream, load_words(k, stream, 4, text - 16))
        words = load_words(k, associated, ASSOCIATED_BYTES // 4)
        words += [const(0, 32)] * ((text - start) // 4 - len(words))
        store_words(k, stream, words, start)
        end = add_message(k, stream, text, source, target, size)
        lengths = (0, 8 * ASSOCIATED_BYTES, 0, 8 * size)
        store_words(k, stream, [swapped(const(x, 32)) for x in lengths], end)
        zero = [const(0, k.xlen)] * (128 // k.xlen)
        state = k.loop((end + 16 - start) // 16, step, *zero, unroll=False)
        ghash.store_block(k, tag, state, 0)
        digest, mask = load_words(k, tag, 4), load_words(k, stream, 4)
        store_words(k, tag, [a ^ b for a, b in zip(digest, mask, strict=True)])

    return Kernel(name, build, summary, needs)


CIPHERS = {
    **{name: aes.ciphers()[name] for name in ("sbox", "ttable", "columns64")},
    "bitsliced": (aes.bitsliced(aes.ROUNDS), "constant time, bitsliced", frozenset[str]()),
}
"""Kernels of AES that are combined with those of GHASH."""


def _kernels(size: int) -> dict[str, Kernel]:
    """Every way to encrypt a block with every way to hash one."""
    made = {}
    for cipher_name, (cipher, cipher_summary, cipher_needs) in CIPHERS.items():
        for hash_name, (multiplier, summary, needs) in ghash.MULTIPLIERS.items():
            name = f"{cipher_name}-{hash_name}"
            text = f"AES: {cipher_summary}; GHASH: {summary}"
            made[name] = _kernel(name, cipher, multiplier, text, cipher_needs | needs, size)
    return made


_KEY = bytes.fromhex("feffe9928665731c6d6a8f9467308308")
_IV = bytes.fromhex("cafebabefacedbaddecaf888")
_PLAINTEXT = bytes.fromhex(
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
    "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"
)
_ASSOCIATED = bytes.fromhex("feedfacedeadbeeffeedfacedeadbeefabaddad2")
_CIPHERTEXT = bytes.fromhex(
    "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
    "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091"
)
_TAG = bytes.fromhex("5bc94fbc3221a5db94fae95ae7121a47")


@register("aes128-gcm", default_bytes=60)
def message_workload(message_bytes: int) -> Workload:
    """Encryption and authentication of a message of 1 byte or more."""
    if not 1 <= message_bytes <= LARGEST:
        raise ValueError(
            f"message of aes128-gcm must have 1 to {LARGEST} bytes, not {message_bytes}"
        )

    def golden(values: Values) -> dict[str, bytes]:
        output, tag = seal(
            values["round_keys"],
            values["hash_key"],
            values["iv"],
            values["associated"],
            values["input"],
        )
        return {"output": output, "tag": tag}

    vectors: tuple[Vector, ...] = ()
    if message_bytes == len(_PLAINTEXT):
        keys = expand_key(_KEY)
        inputs = {
            "round_keys": keys,
            "hash_key": ghash.prepared(encrypt_block(bytes(16), keys)),
            "iv": _IV,
            "associated": _ASSOCIATED,
            "input": _PLAINTEXT,
        }
        source = "McGrew and Viega, The Galois/Counter Mode of Operation, test case 4"
        vectors = (Vector(inputs, {"output": _CIPHERTEXT, "tag": _TAG}, source),)
    return Workload(
        "aes128-gcm",
        "NIST SP 800-38D section 7.1",
        (
            Buffer("round_keys", 176, "in", secret=True),
            Buffer("hash_key", 16, "in", secret=True),
            Buffer("iv", 12, "in"),
            Buffer("associated", ASSOCIATED_BYTES, "in"),
            Buffer("input", message_bytes, "in", secret=True),
            Buffer("output", message_bytes, "out", declassified=True),
            Buffer("tag", 16, "out", declassified=True),
        ),
        golden,
        _kernels(message_bytes),
        vectors,
        units=(message_bytes + 15) // 16,
        message_bytes=message_bytes,
    )
