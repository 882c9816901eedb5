"""Ascon (NIST SP 800-232): permutations and Ascon-Hash256.

A state is five 64-bit words, each least significant byte first in memory.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from isa.ascon import CONSTANTS, HASH_IV, ROTATIONS, permute
from isa.bits import Bits, const
from isa.kernel import Builder, Index, Pointer, UnsupportedKernel
from workloads import register
from workloads.aead import check_size
from workloads.interleaved import Interleaved, deinterleave, interleave, interleaved_constant
from workloads.long import Long, flat, load_long, store_long, unflat
from workloads.padding import padded_copy
from workloads.words import constant_words
from workloads.workload import Buffer, Kernel, Vector, Workload

HASH_RATE = 8


# --- Golden --------------------------------------------------------------------------------------


def padded(data: bytes, rate: int) -> bytes:
    """Data, a 1 and zeros to whole blocks of `rate` bytes (SP 800-232 section 2.1)."""
    return data + b"\x01" + bytes(-(len(data) + 1) % rate)


def hash256(message: bytes) -> bytes:
    """Ascon-Hash256, 32 bytes (SP 800-232 section 5.1)."""
    s = permute([HASH_IV, 0, 0, 0, 0], 12)
    for (word,) in struct.iter_unpack("<Q", padded(message, HASH_RATE)):
        s[0] ^= word
        s = permute(s, 12)
    out = s[0].to_bytes(8, "little")
    for _ in range(3):
        s = permute(s, 12)
        out += s[0].to_bytes(8, "little")
    return out


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
    tail = padded(bytes(size), HASH_RATE)[size:]

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
    check_size("ascon-hash256", message_bytes)
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
