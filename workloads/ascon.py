"""Ascon (NIST SP 800-232): permutations, Ascon-Hash256 and Ascon-AEAD128.

A state is five 64-bit words, each least significant byte first in memory.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from isa.bits import Bits, concat, const
from isa.kernel import Builder, Index, Pointer, UnsupportedKernel
from workloads import register
from workloads.interleaved import Interleaved, deinterleave, interleave, interleaved_constant
from workloads.long import Long, flat, load_long, store_long, unflat
from workloads.padding import padded_copy
from workloads.words import constant_words
from workloads.workload import Buffer, Kernel, Values, Vector, Workload

CONSTANTS = tuple(0xF0 - 15 * i for i in range(12))
"""Constants of 12 rounds; fewer rounds use the last of them (SP 800-232 section 3.2)."""
ROTATIONS = ((19, 28), (61, 39), (1, 6), (10, 17), (7, 41))
"""Right rotations of the linear layer, word by word (SP 800-232 section 3.4)."""
HASH_IV = 0x0000080100CC0002
AEAD_IV = 0x00001000808C0001
SEPARATOR = 1 << 63
"""Added to word 4 after the associated data."""
HASH_RATE, AEAD_RATE = 8, 16
LARGEST = 16_384
"""Largest message in bytes; it and its padded copy must fit data memory."""
_MASK = 2**64 - 1


# --- Golden --------------------------------------------------------------------------------------


def _rotr(x: int, n: int) -> int:
    return (x >> n | x << 64 - n) & _MASK


def permute(state: Sequence[int], rounds: int) -> list[int]:
    """The permutation on five words (SP 800-232 section 3)."""
    s = list(state)
    for constant in CONSTANTS[12 - rounds :]:
        s[2] ^= constant
        s[0] ^= s[4]
        s[4] ^= s[3]
        s[2] ^= s[1]
        s = [s[i] ^ ~s[(i + 1) % 5] & s[(i + 2) % 5] for i in range(5)]
        s[1] ^= s[0]
        s[0] ^= s[4]
        s[3] ^= s[2]
        s[2] ^= _MASK
        s = [x ^ _rotr(x, a) ^ _rotr(x, b) for x, (a, b) in zip(s, ROTATIONS, strict=True)]
    return s


def _padded(data: bytes, rate: int) -> bytes:
    return data + b"\x01" + bytes(-(len(data) + 1) % rate)


def hash256(message: bytes) -> bytes:
    """Ascon-Hash256, 32 bytes (SP 800-232 section 5.1)."""
    s = permute([HASH_IV, 0, 0, 0, 0], 12)
    for (word,) in struct.iter_unpack("<Q", _padded(message, HASH_RATE)):
        s[0] ^= word
        s = permute(s, 12)
    out = s[0].to_bytes(8, "little")
    for _ in range(3):
        s = permute(s, 12)
        out += s[0].to_bytes(8, "little")
    return out


def aead128(key: bytes, nonce: bytes, associated: bytes, plaintext: bytes) -> tuple[bytes, bytes]:
    """Ascon-AEAD128: ciphertext and tag of 16 bytes (SP 800-232 section 4.1)."""
    k0, k1 = struct.unpack("<2Q", key)
    s = permute([AEAD_IV, k0, k1, *struct.unpack("<2Q", nonce)], 12)
    s[3] ^= k0
    s[4] ^= k1
    if associated:
        for a, b in struct.iter_unpack("<2Q", _padded(associated, AEAD_RATE)):
            s = permute([s[0] ^ a, s[1] ^ b, *s[2:]], 8)
    s[4] ^= SEPARATOR
    ciphertext = b""
    blocks = list(struct.iter_unpack("<2Q", _padded(plaintext, AEAD_RATE)))
    for i, (a, b) in enumerate(blocks):
        s[0] ^= a
        s[1] ^= b
        ciphertext += struct.pack("<2Q", s[0], s[1])
        if i < len(blocks) - 1:
            s = permute(s, 8)
    s[2] ^= k0
    s[3] ^= k1
    s = permute(s, 12)
    return ciphertext[: len(plaintext)], struct.pack("<2Q", s[3] ^ k0, s[4] ^ k1)


# --- Kernels -------------------------------------------------------------------------------------

State = list[Long]


@dataclass(frozen=True)
class Form:
    """How words are held.

    Attributes:
        interleaved: Even and odd bits in a register each, RV32 only.
        summary: One line for people.
    """

    interleaved: bool
    summary: str

    def check(self, k: Builder) -> None:
        """Refuse RV64 where the form is for RV32."""
        if self.interleaved and k.xlen != 32:
            raise UnsupportedKernel("kernel needs RV32: bits are interleaved over two words")

    def encode(self, value: Long) -> Long:
        """A value in this form."""
        return interleave(value) if self.interleaved else value

    def decode(self, value: Long) -> Long:
        """Undo `encode`."""
        return deinterleave(value) if self.interleaved else value

    def constant(self, value: int, xlen: int) -> Long:
        """A constant in this form."""
        if self.interleaved:
            return Interleaved.of(interleaved_constant(value), 32)
        return Long.of(value, xlen)

    def restore(self, parts: Sequence[Bits]) -> State:
        """Words from the values that a loop carries."""
        values = unflat(parts)
        return [Interleaved(v.parts) for v in values] if self.interleaved else values


FORMS = {
    "plain": Form(False, "words as they are, in one register or two (SP 800-232)"),
    "interleaved": Form(True, "RV32: even and odd bits in a register each"),
}


def _round(s: State, constant: Long) -> State:
    """One round; the S-box takes 15 operations with `andn` and `xnor`, 17 without.

    It follows from the algebraic normal form by (x & ~y) ^ y = x | y.
    """
    x0, x1, x2, x3, x4 = s
    x2 = x2 ^ constant
    a, c, e = x0 ^ x4, x1 ^ x2, x3 ^ x4
    t = a ^ (x1 | x2)
    q = e ^ (x1 & a)
    y0, y1, y2 = t ^ q, t ^ (x3 & ~c), ~(c ^ (x4 & ~x3))
    y3, y4 = c ^ (x0 | e), q ^ x1
    y = [y0, y1, y2, y3, y4]
    return [v ^ v.rotr(m) ^ v.rotr(n) for v, (m, n) in zip(y, ROTATIONS, strict=True)]


def rounds(k: Builder, form: Form, s: State, count: int) -> State:
    """The permutation on a state in registers."""
    if form.interleaved:
        halves = [interleaved_constant(c) for c in CONSTANTS]
        pairs = [half >> shift & 0xFF for half in halves for shift in (0, 32)]
        table = k.constants(constant_words("ascon_rc_interleaved", 8, pairs))

        def step(i: Index, *parts: Bits) -> tuple[Bits, ...]:
            start = 2 * i + 2 * (12 - count)
            constant = Interleaved((k.load(table, start, 8), k.load(table, start + 1, 8)))
            return flat(_round(form.restore(parts), constant))

        return form.restore(k.loop(count, step, *flat(s)))

    def counted(_: Index, constant: Bits, *parts: Bits) -> tuple[Bits, ...]:
        low = [constant] + [const(0, k.xlen)] * (64 // k.xlen - 1)
        return (constant - 15, *flat(_round(unflat(parts), Long(tuple(low)))))

    first = const(CONSTANTS[12 - count], k.xlen)
    return unflat(k.loop(count, counted, first, *flat(s))[1:])


def _load_state(k: Builder, form: Form, state: Pointer) -> State:
    return [form.encode(load_long(k, state, 8 * i)) for i in range(5)]


# --- Workloads: permutations ---------------------------------------------------------------------

_HASH_START = (
    0x9B1E5494E934D681,
    0x4BC3A01E333751D2,
    0xAE65396C6B34B81A,
    0x3C7FD4A4D56A4DB3,
    0x1A5C464906C5976D,
)
"""The 12 rounds on the initial value of Ascon-Hash256 (SP 800-232 appendix A.3)."""


def _pack(state: Sequence[int]) -> bytes:
    return struct.pack("<5Q", *state)


def _first_rounds(count: int) -> list[int]:
    """State of the initial value of Ascon-Hash256 before its last `count` rounds."""
    s = [HASH_IV, 0, 0, 0, 0]
    for constant in CONSTANTS[: 12 - count]:
        s[2] ^= constant ^ CONSTANTS[11]  # one round of the permutation adds the last constant
        s = permute(s, 1)
    return s


def _permutation_workload(count: int) -> Workload:
    def kernel(name: str, form: Form) -> Kernel:
        def build(k: Builder) -> None:
            form.check(k)
            state = k.pointer("state")
            for i, word in enumerate(rounds(k, form, _load_state(k, form, state), count)):
                store_long(k, state, form.decode(word), 8 * i)

        return Kernel(name, build, form.summary)

    return Workload(
        f"ascon-p{count}",
        "NIST SP 800-232 section 3",
        (Buffer("state", 40, "inout", secret=True),),
        lambda v: {"state": _pack(permute(struct.unpack("<5Q", v["state"]), count))},
        {name: kernel(name, form) for name, form in FORMS.items()},
        (
            Vector(
                {"state": _pack(_first_rounds(count))},
                {"state": _pack(_HASH_START)},
                f"SP 800-232 appendix A.3, last {count} rounds of the hash's initialisation",
            ),
        ),
        message_bytes=40,
    )


for _count in (12, 8, 6):
    register(f"ascon-p{_count}")(partial(_permutation_workload, _count))


# --- Workloads: Ascon-Hash256 --------------------------------------------------------------------


def _check_size(name: str, message_bytes: int) -> None:
    if not 1 <= message_bytes <= LARGEST:
        raise ValueError(f"message of {name} must have 1 to {LARGEST} bytes, not {message_bytes}")


_HASHES = {
    1: "0728621035af3ed2bca03bf6fde900f9456f5330e4b5ee23e7f6a1e70291bc80",
    7: "3e4d273ba69b3b9c53216107e88b75cdbeedbcbf8faf0219c3928ab62b116577",
    8: "b88e497ae8e6fb641b87ef622eb8f2fca0ed95383f7ffebe167acf1099ba764f",
    16: "3158c1940a2fbadbd68ab661777859b94a689e4efc375911467addd641835c38",
    32: "bd9d3d60a66b53868eab2a5c74539a518a1f60f01eb176c60e43dee81680b33e",
    64: "a6f241bea5d16405812c06019d9f72d60132bd7c089c60549b2e56bb01c64f48",
    100: "a4bc453c84f824f10092e8e9031799957e984a29bbae5e84345e82f48dd71192",
}
"""Digests of the bytes 0, 1, 2, .. by their number (ascon-c, LWC_HASH_KAT_128_256.txt)."""


def _hash_kernel(name: str, form: Form, size: int) -> Kernel:
    tail = _padded(bytes(size), HASH_RATE)[size:]

    def build(k: Builder) -> None:
        form.check(k)
        message, digest = k.pointer("message"), k.pointer("digest")
        padded = padded_copy(k, message, size, tail)

        def absorb(i: Index, *parts: Bits) -> tuple[Bits, ...]:
            s = form.restore(parts)
            s[0] = s[0] ^ form.encode(load_long(k, padded, HASH_RATE * i))
            return flat(rounds(k, form, s, 12))

        def squeeze(i: Index, *parts: Bits) -> tuple[Bits, ...]:
            s = form.restore(parts)
            store_long(k, digest, form.decode(s[0]), 8 * i)
            return flat(rounds(k, form, s, 12))

        start = [form.constant(word, k.xlen) for word in _HASH_START]
        blocks = (size + len(tail)) // HASH_RATE
        parts = k.loop(blocks, absorb, *flat(start), unroll=False)
        parts = k.loop(3, squeeze, *parts, unroll=False)
        store_long(k, digest, form.decode(form.restore(parts)[0]), 24)

    return Kernel(name, build, form.summary)


@register("ascon-hash256", default_bytes=64)
def hash_workload(message_bytes: int) -> Workload:
    """Ascon-Hash256 of a message of 1 byte or more; units are its 8-byte blocks."""
    _check_size("ascon-hash256", message_bytes)
    vectors: tuple[Vector, ...] = ()
    if message_bytes in _HASHES:
        digest = bytes.fromhex(_HASHES[message_bytes])
        vectors = (
            Vector(
                {"message": bytes(range(message_bytes))},
                {"digest": digest},
                f"ascon-c LWC_HASH_KAT_128_256.txt, Count = {message_bytes + 1}",
            ),
        )
    return Workload(
        "ascon-hash256",
        "NIST SP 800-232 section 5.1",
        (
            Buffer("message", message_bytes, "in", secret=True),
            Buffer("digest", 32, "out", declassified=True),
        ),
        lambda v: {"digest": hash256(v["message"])},
        {name: _hash_kernel(name, form, message_bytes) for name, form in FORMS.items()},
        vectors,
        units=message_bytes // HASH_RATE + 1,
        message_bytes=message_bytes,
    )


# --- Workloads: Ascon-AEAD128 --------------------------------------------------------------------

ASSOCIATED_BYTES = 16
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


def _aead_kernel(name: str, form: Form, size: int) -> Kernel:
    def build(k: Builder) -> None:
        form.check(k)
        key, nonce = k.pointer("key"), k.pointer("nonce")
        associated, source = k.pointer("associated"), k.pointer("input")
        target, tag = k.pointer("output"), k.pointer("tag")

        def load(pointer: Pointer, offset: Index | int) -> Long:
            return form.encode(load_long(k, pointer, offset))

        def secret(half: int) -> Long:
            return load(key, 8 * half)  # read again each time, as registers are short

        def absorb(i: Index, *parts: Bits) -> tuple[Bits, ...]:
            s = form.restore(parts)
            s[:2] = [s[j] ^ load(padded, AEAD_RATE * i + 8 * j) for j in range(2)]
            return flat(rounds(k, form, s, 8))

        def encrypt(i: Index, *parts: Bits) -> tuple[Bits, ...]:
            s = form.restore(parts)
            for j in range(2):
                s[j] = s[j] ^ load(source, AEAD_RATE * i + 8 * j)
                store_long(k, target, form.decode(s[j]), AEAD_RATE * i + 8 * j)
            return flat(rounds(k, form, s, 8))

        ending = _padded(bytes(ASSOCIATED_BYTES), AEAD_RATE)[ASSOCIATED_BYTES:]
        padded = padded_copy(k, associated, ASSOCIATED_BYTES, ending)
        iv = form.constant(AEAD_IV, k.xlen)
        s = [iv, secret(0), secret(1), load(nonce, 0), load(nonce, 8)]
        s = rounds(k, form, s, 12)
        s[3:] = [s[3] ^ secret(0), s[4] ^ secret(1)]
        blocks = (ASSOCIATED_BYTES + len(ending)) // AEAD_RATE
        s = form.restore(k.loop(blocks, absorb, *flat(s), unroll=False))
        s[4] = s[4] ^ form.constant(SEPARATOR, k.xlen)
        whole, rest = divmod(size, AEAD_RATE)
        s = form.restore(k.loop(whole, encrypt, *flat(s), unroll=False))
        last = [k.load(source, AEAD_RATE * whole + i, 8).slice(0, 8) for i in range(rest)]
        last += [const(1, 8)] + [const(0, 8)] * (AEAD_RATE - rest - 1)
        for j in range(2):
            s[j] = s[j] ^ form.encode(_from_bytes(last[8 * j : 8 * j + 8], k.xlen))
        out = [
            p.byte(i) for j in range(2) for p in form.decode(s[j]).parts for i in range(k.xlen // 8)
        ]
        for i in range(rest):
            k.store(target, AEAD_RATE * whole + i, out[i])
        s[2:4] = [s[2] ^ secret(0), s[3] ^ secret(1)]
        s = rounds(k, form, s, 12)
        for j in range(2):
            store_long(k, tag, form.decode(s[3 + j] ^ secret(j)), 8 * j)

    return Kernel(name, build, form.summary)


@register("ascon-aead128", default_bytes=32)
def aead_workload(message_bytes: int) -> Workload:
    """Ascon-AEAD128 encryption of a message, with 16 bytes of associated data."""
    _check_size("ascon-aead128", message_bytes)

    def golden(values: Values) -> dict[str, bytes]:
        output, tag = aead128(values["key"], values["nonce"], values["associated"], values["input"])
        return {"output": output, "tag": tag}

    vectors: tuple[Vector, ...] = ()
    if message_bytes in _ANSWERS:
        output, tag, count = _ANSWERS[message_bytes]
        inputs = {
            "key": bytes(range(16)),
            "nonce": bytes(range(16, 32)),
            "associated": bytes(range(48, 64)),
            "input": bytes(range(32, 32 + message_bytes)),
        }
        expected = {"output": bytes.fromhex(output), "tag": bytes.fromhex(tag)}
        source = f"ascon-c LWC_AEAD_KAT_128_128.txt, Count = {count}"
        vectors = (Vector(inputs, expected, source),)
    return Workload(
        "ascon-aead128",
        "NIST SP 800-232 section 4.1",
        (
            Buffer("key", 16, "in", secret=True),
            Buffer("nonce", 16, "in"),
            Buffer("associated", ASSOCIATED_BYTES, "in"),
            Buffer("input", message_bytes, "in", secret=True),
            Buffer("output", message_bytes, "out", declassified=True),
            Buffer("tag", 16, "out", declassified=True),
        ),
        golden,
        {name: _aead_kernel(name, form, message_bytes) for name, form in FORMS.items()},
        vectors,
        units=message_bytes // AEAD_RATE + 1,
        message_bytes=message_bytes,
    )
