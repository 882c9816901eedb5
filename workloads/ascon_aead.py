"""Ascon-AEAD128 (NIST SP 800-232): sealing and opening of a message with 16 bytes more."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import partial

from isa.ascon import permute
from isa.bits import Bits, concat, const
from isa.kernel import Builder, Index, Pointer
from workloads import aead, register
from workloads.ascon import FORMS, Form, padded, rounds
from workloads.long import Long, flat, load_long, store_long
from workloads.padding import padded_copy
from workloads.words import load_words
from workloads.workload import Buffer, Kernel, Values, Vector, Workload

IV = 0x00001000808C0001
SEPARATOR = 1 << 63
"""Added to word 4 after the associated data."""
RATE = 16
ASSOCIATED_BYTES = 16


def aead128(
    key: bytes, nonce: bytes, associated: bytes, text: bytes, *, inverse: bool = False
) -> tuple[bytes, bytes]:
    """Ascon-AEAD128 of a plaintext or, inverse, of a ciphertext (SP 800-232 section 4.1).

    Returns:
        The other text, and the tag of 16 bytes.
    """
    k0, k1 = struct.unpack("<2Q", key)
    s = permute([IV, k0, k1, *struct.unpack("<2Q", nonce)], 12)
    s[3] ^= k0
    s[4] ^= k1
    if associated:
        for a, b in struct.iter_unpack("<2Q", padded(associated, RATE)):
            s = permute([s[0] ^ a, s[1] ^ b, *s[2:]], 8)
    s[4] ^= SEPARATOR
    out = b""
    for i in range(0, len(text) + 1, RATE):
        block = text[i : i + RATE]
        mixed = bytes(x ^ y for x, y in zip(block, struct.pack("<2Q", *s[:2]), strict=False))
        out += mixed
        a, b = struct.unpack("<2Q", padded(mixed if inverse else block, RATE)[:RATE])
        s[:2] = [s[0] ^ a, s[1] ^ b]
        if len(block) == RATE:
            s = permute(s, 8)
    s[2] ^= k0
    s[3] ^= k1
    s = permute(s, 12)
    return out, struct.pack("<2Q", s[3] ^ k0, s[4] ^ k1)


_ANSWERS = {
    31: (
        "6373ebb28be97c9bac090cf399c13ef14ea6c5e519e30a5c6ef44f7cea881a",
        "e47d15156de9781ad405a566c0577aff",
        1040,
    ),
    32: (
        "6373ebb28be97c9bac090cf399c13ef14ea6c5e519e30a5c6ef44f7cea881ab7",
        "abef171657d19c6c1138b7577693e439",
        1073,
    ),
}
"""Ciphertext, tag and Count by size, with 16 bytes of associated data (LWC_AEAD_KAT_128_128)."""


def _from_bytes(parts: Sequence[Bits], xlen: int) -> Long:
    """Eight bytes, the first lowest."""
    step = xlen // 8
    return Long(tuple(concat(*reversed(parts[i : i + step])) for i in range(0, 8, step)))


def _kernel(name: str, form: Form, size: int, *, inverse: bool) -> Kernel:
    def build(k: Builder) -> None:
        form.check(k)
        key, nonce = k.pointer("key"), k.pointer("nonce")
        associated = k.pointer("associated")
        source, given, target, last = aead.pointers(k, inverse=inverse)

        def load(pointer: Pointer, offset: Index | int) -> Long:
            return form.encode(load_long(k, pointer, offset))

        def secret(half: int) -> Long:
            return load(key, 8 * half)  # read again each time, as registers are short

        def absorb(i: Index, *parts: Bits) -> tuple[Bits, ...]:
            s = form.restore(parts)
            s[:2] = [s[j] ^ load(prepared, RATE * i + 8 * j) for j in range(2)]
            return flat(rounds(k, form, s, 8))

        def crypt(i: Index, *parts: Bits) -> tuple[Bits, ...]:
            s = form.restore(parts)
            for j in range(2):
                block = load(source, RATE * i + 8 * j)
                mixed = s[j] ^ block
                store_long(k, target, form.decode(mixed), RATE * i + 8 * j)
                s[j] = block if inverse else mixed
            return flat(rounds(k, form, s, 8))

        def ending_block(s: list[Long], whole: int, rest: int) -> list[Long]:
            """The last, partial block: its output stored, its padded plaintext added."""
            stream = [
                p.byte(i) for v in s for p in form.decode(v).parts for i in range(k.xlen // 8)
            ]
            block = [k.load(source, RATE * whole + i, 8).slice(0, 8) for i in range(rest)]
            mixed = [a ^ b for a, b in zip(block, stream, strict=False)]
            for i, byte in enumerate(mixed):
                k.store(target, RATE * whole + i, byte)
            plain = [*(mixed if inverse else block), const(1, 8)]
            plain += [const(0, 8)] * (RATE - len(plain))
            return [
                v ^ form.encode(_from_bytes(plain[8 * j : 8 * j + 8], k.xlen))
                for j, v in enumerate(s)
            ]

        ending = padded(bytes(ASSOCIATED_BYTES), RATE)[ASSOCIATED_BYTES:]
        prepared = padded_copy(k, associated, ASSOCIATED_BYTES, ending)
        iv = form.constant(IV, k.xlen)
        s = [iv, secret(0), secret(1), load(nonce, 0), load(nonce, 8)]
        s = rounds(k, form, s, 12)
        s[3:] = [s[3] ^ secret(0), s[4] ^ secret(1)]
        blocks = (ASSOCIATED_BYTES + len(ending)) // RATE
        s = form.restore(k.loop(blocks, absorb, *flat(s), unroll=False))
        s[4] = s[4] ^ form.constant(SEPARATOR, k.xlen)
        whole, rest = divmod(size, RATE)
        s = form.restore(k.loop(whole, crypt, *flat(s), unroll=False))
        s[:2] = ending_block(s[:2], whole, rest)
        s[2:4] = [s[2] ^ secret(0), s[3] ^ secret(1)]
        s = rounds(k, form, s, 12)
        tag = last if given is None else k.scratch("computed", 16)
        for j in range(2):
            store_long(k, tag, form.decode(s[3 + j] ^ secret(j)), 8 * j)
        if given is not None:
            aead.conclude(k, load_words(k, tag, 4), given, last)

    return Kernel(name, build, form.summary)


def _vectors(message_bytes: int, *, inverse: bool) -> list[Vector]:
    """The published message of this size."""
    if message_bytes not in _ANSWERS:
        return []
    ciphertext, tag, count = _ANSWERS[message_bytes]
    return aead.vectors(
        {
            "key": bytes(range(16)),
            "nonce": bytes(range(16, 32)),
            "associated": bytes(range(48, 64)),
        },
        bytes(range(32, 32 + message_bytes)),
        bytes.fromhex(ciphertext),
        bytes.fromhex(tag),
        f"ascon-c LWC_AEAD_KAT_128_128.txt, Count = {count}",
        inverse=inverse,
    )


def _workload(message_bytes: int, *, inverse: bool) -> Workload:
    """Sealing of a message of 1 byte or more, or its opening; units are its 16-byte blocks."""
    name = f"ascon-aead128{'-open' if inverse else ''}"
    aead.check_size(name, message_bytes)

    def golden(values: Values) -> dict[str, bytes]:
        given = (values[n] for n in ("key", "nonce", "associated", "input"))
        return aead.outcome(values, *aead128(*given, inverse=inverse), inverse=inverse)

    return Workload(
        name,
        "NIST SP 800-232 section 4.1",
        aead.buffers(
            (
                Buffer("key", 16, "in", secret=True),
                Buffer("nonce", 16, "in"),
                Buffer("associated", ASSOCIATED_BYTES, "in"),
            ),
            message_bytes,
            inverse=inverse,
        ),
        golden,
        {n: _kernel(n, form, message_bytes, inverse=inverse) for n, form in FORMS.items()},
        tuple(_vectors(message_bytes, inverse=inverse)),
        units=message_bytes // RATE + 1,
        message_bytes=message_bytes,
    )


register("ascon-aead128", default_bytes=32)(partial(_workload, inverse=False))
register("ascon-aead128-open", default_bytes=32)(partial(_workload, inverse=True))
