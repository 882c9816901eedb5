"""Poly1305 (RFC 8439): the one-time authenticator of a message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from isa.bits import Bits, concat, const
from isa.kernel import Builder, Index, Pointer
from workloads import register
from workloads.long import Long
from workloads.words import Words, load_word, load_words, store_words
from workloads.workload import Buffer, Kernel, Vector, Workload

PRIME = 2**130 - 5
CLAMP = 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
"""Bits of r that may be 1 (RFC 8439 section 2.5)."""
LIMB = 26
"""Bits of a limb; five make an element."""
MASK = (1 << LIMB) - 1
LARGEST = 65_536
"""Largest message in bytes; it must fit data memory."""
VARIANTS: Mapping[str, tuple[str, frozenset[str]]] = {
    "radix26": (
        "five limbs of 26 bits (Floodyberry's poly1305-donna)",
        frozenset({"mul", "mulhu"}),
    ),
    "serial": ("limbs of 26 bits, multiplied by additions without a multiplier", frozenset()),
}
"""Summary and what is required, by name."""


# --- Golden --------------------------------------------------------------------------------------


def authenticate(key: bytes, message: bytes) -> bytes:
    """Tag of 16 bytes (RFC 8439 section 2.5.1)."""
    r = int.from_bytes(key[:16], "little") & CLAMP
    total = 0
    for i in range(0, len(message), 16):
        total = (total + int.from_bytes(message[i : i + 16] + b"\x01", "little")) * r % PRIME
    return ((total + int.from_bytes(key[16:], "little")) % 2**128).to_bytes(16, "little")


# --- Kernel --------------------------------------------------------------------------------------


def _split(words: Sequence[Bits], xlen: int) -> Words:
    """Five limbs, in registers, of four words; the last has 24 bits."""
    w = [word.zext(xlen) for word in words]
    parts = [w[0], (w[0] >> 26) | (w[1] << 6), (w[1] >> 20) | (w[2] << 12)]
    parts += [(w[2] >> 14) | (w[3] << 18), w[3] >> 8]
    return [part & MASK for part in parts[:4]] + parts[4:]


def _product(a: Bits, b: Bits) -> Long:
    """Product of two limbs as a value of 64 bits."""
    if a.width == 64:
        return Long((a * b,))
    full = a.mul_wide(b)
    return Long((full.slice(0, 32), full.slice(32, 32)))


def _low(x: Long) -> Bits:
    return x.parts[0] & MASK


def _carry(x: Long) -> Bits:
    """The bits above a limb; they fit 32 bits, as r is clamped."""
    if len(x.parts) == 1:
        return x.parts[0] >> LIMB
    return (x.parts[0] >> LIMB) | (x.parts[1] << 32 - LIMB)


def _extended(x: Bits) -> Long:
    return Long((x,)) if x.width == 64 else Long((x, const(0, 32)))


def _times(h: Sequence[Bits], r: Sequence[Bits]) -> Words:
    """Product modulo the prime, limbs of at most 26 bits and a little."""
    folded = [(x << 2) + x for x in r]  # 2^130 = 5
    d: list[Long] = []
    for i in range(5):
        total: Long | None = None
        for j in range(5):
            factor = r[i - j] if i >= j else folded[5 + i - j]
            term = _product(h[j], factor)
            total = term if total is None else total + term
        assert total is not None
        d.append(total)
    out: Words = []
    for i in range(5):
        if i:
            d[i] = d[i] + _extended(_carry(d[i - 1]))
        out.append(_low(d[i]))
    top = _carry(d[4])
    first = out[0] + ((top << 2) + top)
    out[0], out[1] = first & MASK, out[1] + (first >> LIMB)
    return out


def _times_serially(k: Builder, h: Sequence[Bits], r: Pointer) -> Words:
    """The same by additions, four bits of r at a time from the top; r in memory."""

    def word(j: Index, *total: Bits) -> tuple[Bits, ...]:
        def nibble(_: Index, bits: Bits, *total: Bits) -> tuple[Bits, ...]:
            for i in range(4):
                mask = (bits << i).sar(31).sext(k.xlen)
                total = tuple((t << 1) + (x & mask) for t, x in zip(total, h, strict=True))
            return bits << 4, *_carried(total)

        return k.loop(8, nibble, load_word(k, r, 12 - 4 * j), *total)[1:]

    return list(k.loop(4, word, *[const(0, k.xlen)] * 5, unroll=False))


def _carried(h: Sequence[Bits]) -> Words:
    """Limbs of 26 bits, the second of a little more."""
    out = list(h)
    for i in range(4):
        out[i], out[i + 1] = out[i] & MASK, out[i + 1] + (out[i] >> LIMB)
    top = out[4] >> LIMB
    first = out[0] + ((top << 2) + top)
    out[0], out[1], out[4] = first & MASK, out[1] + (first >> LIMB), out[4] & MASK
    return out


def _reduced(h: Sequence[Bits]) -> Words:
    """The least residue, limbs of 26 bits."""
    h = list(h)
    for i in (1, 2, 3, 4, 0):
        carry = h[i] >> LIMB
        h[i] = h[i] & MASK
        h[(i + 1) % 5] = h[(i + 1) % 5] + (carry if i < 4 else (carry << 2) + carry)
    minus: Words = []
    carry = const(5, h[0].width)
    for limb in h:
        total = limb + carry
        minus.append(total & MASK)
        carry = total >> LIMB
    keep = carry - 1  # all ones if h is below the prime
    return [(a & keep) | (b & ~keep) for a, b in zip(h, minus, strict=True)]


def _tag(h: Sequence[Bits], pad: Sequence[Bits]) -> Words:
    """The four words of h plus `pad`, modulo 2^128."""
    limbs = [x.slice(0, 32) for x in _reduced(h)]
    w = [
        limbs[0] | (limbs[1] << 26),
        (limbs[1] >> 6) | (limbs[2] << 20),
        (limbs[2] >> 12) | (limbs[3] << 14),
        (limbs[3] >> 18) | (limbs[4] << 8),
    ]
    out: Words = []
    carry: Bits | None = None
    for a, b in zip(w, pad, strict=True):
        total = a + b
        over = total.ult(b)
        if carry is not None:
            with_carry = total + carry
            over = over | with_carry.ult(carry)
            total = with_carry
        out.append(total)
        carry = over.zext(32)
    return out


def authenticator(
    k: Builder,
    key: Pointer,
    data: Pointer,
    offset: int,
    whole: int,
    last: Sequence[Bits] = (),
    *,
    serial: bool = False,
) -> Words:
    """The tag of a message, four words.

    Args:
        k: Builder.
        key: r, then what is added at the end, 16 bytes each.
        data: Buffer of the message.
        offset: Where it starts.
        whole: Number of its whole blocks.
        last: Its further bytes.
        serial: Multiply by additions.
    """
    clamp = [CLAMP >> s & 0xFFFFFFFF for s in range(0, 128, 32)]
    words = [w & c for w, c in zip(load_words(k, key, 4), clamp, strict=True)]
    if serial:
        multiplier = k.scratch("r", 16)
        store_words(k, multiplier, words)
        times = partial(_times_serially, k, r=multiplier)
    else:
        times = partial(_times, r=_split(words, k.xlen))

    def add(h: Sequence[Bits], block: Sequence[Bits], top: int) -> Words:
        limbs = _split(block, k.xlen)
        limbs[4] = limbs[4] | top
        return times([a + b for a, b in zip(h, limbs, strict=True)])

    def step(i: Index, *h: Bits) -> Words:
        return add(h, load_words(k, data, 4, 16 * i + offset), 1 << 24)

    h: Sequence[Bits] = k.loop(whole, step, *[const(0, k.xlen)] * 5, unroll=False)
    if last:
        padded = [*last, const(1, 8)] + [const(0, 8)] * (15 - len(last))
        block = [concat(*reversed(padded[i : i + 4])) for i in range(0, 16, 4)]
        h = add(h, block, 0)
    return _tag(h, load_words(k, key, 4, 16))


# --- Workload ------------------------------------------------------------------------------------

_KEY = bytes.fromhex("85d6be7857556d337f4452fe42d506a80103808afb0db2fd4abff6af4149f51b")
_MESSAGE = b"Cryptographic Forum Research Group"
_TAG = bytes.fromhex("a8061dc1305136c6c22b8baf0c0127a9")


@register("poly1305", default_bytes=34)
def message_workload(message_bytes: int) -> Workload:
    """The tag of a message of 1 byte or more."""
    if not 1 <= message_bytes <= LARGEST:
        raise ValueError(f"message of poly1305 must have 1 to {LARGEST} bytes, not {message_bytes}")
    whole, rest = divmod(message_bytes, 16)

    def build(k: Builder, *, serial: bool) -> None:
        key, message, tag = k.pointer("key"), k.pointer("message"), k.pointer("tag")
        last = [k.load(message, 16 * whole + i, 8).slice(0, 8) for i in range(rest)]
        words = authenticator(k, key, message, 0, whole, last, serial=serial)
        store_words(k, tag, words)

    vectors: tuple[Vector, ...] = ()
    if message_bytes == len(_MESSAGE):
        inputs = {"key": _KEY, "message": _MESSAGE}
        vectors = (Vector(inputs, {"tag": _TAG}, "RFC 8439 section 2.5.2"),)
    kernels = {
        name: Kernel(name, partial(build, serial=name == "serial"), *about)
        for name, about in VARIANTS.items()
    }
    return Workload(
        "poly1305",
        "RFC 8439 section 2.5",
        (
            Buffer("key", 32, "in", secret=True),
            Buffer("message", message_bytes, "in", secret=True),
            Buffer("tag", 16, "out", declassified=True),
        ),
        lambda v: {"tag": authenticate(v["key"], v["message"])},
        kernels,
        vectors,
        units=(message_bytes + 15) // 16,
        message_bytes=message_bytes,
    )
