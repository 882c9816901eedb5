"""ChaCha20-Poly1305 (RFC 8439): sealing and opening of a message with 12 bytes more."""

from __future__ import annotations

import struct
from functools import partial

from isa.bits import Bits, const
from isa.kernel import Builder, Index
from workloads import aead, chacha20, poly1305, register
from workloads.stream import add_message
from workloads.words import Words, load_words, store_words
from workloads.workload import Buffer, Kernel, Values, Workload

ASSOCIATED_BYTES = 12


def _padding(size: int) -> bytes:
    return bytes(-size % 16)


def _tag(values: Values, ciphertext: bytes) -> bytes:
    """Tag of 16 bytes (RFC 8439 section 2.8)."""
    key, nonce, associated = values["key"], values["nonce"], values["associated"]
    data = associated + _padding(len(associated)) + ciphertext + _padding(len(ciphertext))
    data += struct.pack("<2Q", len(associated), len(ciphertext))
    return poly1305.authenticate(chacha20.block(key, 0, nonce)[:32], data)


def _golden(values: Values, *, inverse: bool) -> dict[str, bytes]:
    output = chacha20.encrypt(values["key"], 1, values["nonce"], values["input"])
    tag = _tag(values, values["input"] if inverse else output)
    return aead.outcome(values, output, tag, inverse=inverse)


def _kernel(name: str, size: int, *, inverse: bool) -> Kernel:
    """Key stream to the stack, where the ciphertext replaces it between what is authenticated."""
    blocks = (size + 63) // 64 + 1
    start = 64 - 16  # of the padded associated data, behind the key of the authenticator

    def build(k: Builder) -> None:
        key, nonce, associated = k.pointer("key"), k.pointer("nonce"), k.pointer("associated")
        source, given, target, last = aead.pointers(k, inverse=inverse)
        stream = k.scratch("stream", 64 * blocks + 16)

        def one_block(i: Index) -> tuple[Bits, ...]:
            def begin() -> Words:
                fixed = [const(c, 32) for c in chacha20.CONSTANTS]
                return [*fixed, *load_words(k, key, 8), i.bits(32), *load_words(k, nonce, 3)]

            s = chacha20.stream_words(k, begin())
            s = [x + y for x, y in zip(s, begin(), strict=True)]
            store_words(k, stream, s, 64 * i)
            return ()

        k.loop(blocks, one_block, unroll=False)
        end = add_message(k, stream, 64, source, target, size, keep_input=inverse)
        words = [*load_words(k, associated, ASSOCIATED_BYTES // 4), const(0, 32)]
        store_words(k, stream, words, start)
        lengths = [const(x, 32) for x in (ASSOCIATED_BYTES, 0, size, 0)]
        store_words(k, stream, lengths, end)
        whole = (end + 16 - start) // 16
        serial = name == "serial"
        tag = poly1305.authenticator(k, stream, stream, start, whole, serial=serial)
        aead.conclude(k, tag, given, last)

    summary, needs = poly1305.VARIANTS[name]
    return Kernel(name, build, f"ChaCha20 in registers; Poly1305 in {summary}", needs)


_CIPHERTEXT = bytes.fromhex(
    "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d6"
    "3dbea45e8ca9671282fafb69da92728b1a71de0a9e060b2905d6a5b67ecd3b36"
    "92ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc"
    "3ff4def08e4b7a9de576d26586cec64b6116"
)

_PUBLISHED = (
    {
        "key": bytes(range(0x80, 0xA0)),
        "nonce": bytes.fromhex("070000004041424344454647"),
        "associated": bytes.fromhex("50515253c0c1c2c3c4c5c6c7"),
    },
    chacha20.SUNSCREEN,
    _CIPHERTEXT,
    bytes.fromhex("1ae10b594f09e26a7e902ecbd0600691"),
    "RFC 8439 section 2.8.2",
)


def _workload(message_bytes: int, *, inverse: bool) -> Workload:
    """Sealing of a message of 1 byte or more, or its opening."""
    name = f"chacha20-poly1305{'-open' if inverse else ''}"
    aead.check_size(name, message_bytes)
    kernels = {v: _kernel(v, message_bytes, inverse=inverse) for v in poly1305.VARIANTS}
    published = message_bytes == len(_CIPHERTEXT)
    return Workload(
        name,
        "RFC 8439 section 2.8",
        aead.buffers(
            (
                Buffer("key", 32, "in", secret=True),
                Buffer("nonce", 12, "in"),
                Buffer("associated", ASSOCIATED_BYTES, "in"),
            ),
            message_bytes,
            inverse=inverse,
        ),
        partial(_golden, inverse=inverse),
        kernels,
        tuple(aead.vectors(*_PUBLISHED, inverse=inverse)) if published else (),
        units=(message_bytes + 63) // 64,
        message_bytes=message_bytes,
    )


register("chacha20-poly1305", default_bytes=114)(partial(_workload, inverse=False))
register("chacha20-poly1305-open", default_bytes=114)(partial(_workload, inverse=True))
