"""Keccak (FIPS 202): the permutation keccak-f1600, SHA3-256, SHA3-512, SHAKE128 and SHAKE256.

Lane (x, y) stands at index x + 5 y. Kernels hold lanes in a form of their own: as they are, or on
RV32 bit-interleaved (even bits in one word, odd bits in the other), and with six lanes inverted so
that fewer inversions are executed ("lane complementing"; Bertoni et al., Keccak implementation
overview 3.2, sections 2.1 and 2.2).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from isa.bits import Bits
from isa.keccak import CONSTANTS, OFFSETS, ROUNDS
from isa.keccak import permute as permute_lanes
from isa.kernel import Builder, Index, Pointer, UnsupportedKernel
from isa.table import Table
from workloads import keccak_looped, register
from workloads.interleaved import (
    Interleaved,
    deinterleave,
    interleave,
    interleaved_constant,
)
from workloads.long import Long, flat, load_long, store_long, unflat
from workloads.padding import padded_copy
from workloads.words import constant_words
from workloads.workload import Buffer, Kernel, Values, Vector, Workload

COMPLEMENTED = frozenset({1, 2, 8, 12, 17, 20})
"""Lanes that lane complementing stores inverted."""
LARGEST = 65_536
"""Largest message in bytes; one that does not fit data memory can only be extrapolated."""
_MASK = 2**64 - 1


# --- Golden --------------------------------------------------------------------------------------


def permute(state: bytes) -> bytes:
    """Keccak-f[1600] on 200 bytes (FIPS 202 section 3.3)."""
    return struct.pack("<25Q", *permute_lanes(struct.unpack("<25Q", state)))


def padding(size: int, rate: int, suffix: int) -> bytes:
    """What follows a message of `size` bytes (FIPS 202 sections 5.1 and B.2)."""
    tail = bytearray(-size % rate or rate)
    tail[0] |= suffix
    tail[-1] |= 0x80
    return bytes(tail)


def sponge(message: bytes, rate: int, suffix: int, output_bytes: int) -> bytes:
    """Hash a message; the output must not exceed the rate."""
    data = message + padding(len(message), rate, suffix)
    state = bytes(200)
    for i in range(0, len(data), rate):
        block = data[i : i + rate] + bytes(200 - rate)
        state = permute(bytes(a ^ b for a, b in zip(state, block, strict=True)))
    return state[:output_bytes]


# --- Forms of a lane -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Form:
    """How lanes are held.

    Attributes:
        interleaved: Bit-interleaved, RV32 only.
        complemented: Lanes stored inverted.
    """

    interleaved: bool = False
    complemented: frozenset[int] = frozenset()

    def check(self, xlen: int) -> None:
        """Refuse RV64 where the form is for RV32."""
        if self.interleaved and xlen != 32:
            raise UnsupportedKernel("kernel needs RV32: bits are interleaved over two words")

    def encode(self, lane: Long) -> Long:
        """A lane in this form, not inverted."""
        return interleave(lane) if self.interleaved else lane

    def decode(self, lane: Long) -> Long:
        """Undo `encode`."""
        return deinterleave(lane) if self.interleaved else lane

    def constant(self, value: int) -> int:
        """A constant in this form."""
        return interleaved_constant(value) if self.interleaved else value

    def load(self, k: Builder, pointer: Pointer, offset: Index | int) -> Long:
        """Read a lane that is held in this form."""
        lane = load_long(k, pointer, offset)
        return Interleaved(lane.parts) if self.interleaved else lane

    @property
    def pieces(self) -> int:
        """Into how many pieces a round splits: the words of interleaved lanes stand alone."""
        return 2 if self.interleaved else 1

    def load_piece(self, k: Builder, pointer: Pointer, offset: Index | int, piece: int) -> Long:
        """Read a piece of a lane."""
        if self.interleaved:
            return Long((k.load(pointer, offset + 4 * piece),))
        return load_long(k, pointer, offset)

    def store_piece(
        self, k: Builder, pointer: Pointer, value: Long, offset: Index | int, piece: int
    ) -> None:
        """Write a piece of a lane."""
        if self.interleaved:
            k.store(pointer, offset + 4 * piece, value.parts[0])
        else:
            store_long(k, pointer, value, offset)

    @property
    def table(self) -> Table:
        """Round constants."""
        name = "keccak_rc_interleaved" if self.interleaved else "keccak_rc"
        return constant_words(name, 64, [self.constant(c) for c in CONSTANTS])


Permutation = Callable[[Builder, Pointer], None]
"""Kernel of the permutation on a state in memory, held in a form."""


# --- Rounds --------------------------------------------------------------------------------------


def _theta(c: Sequence[Long]) -> list[Long]:
    """What theta adds to each column, from the column parities."""
    return [c[(x - 1) % 5] ^ c[(x + 1) % 5].rotl(1) for x in range(5)]


def _source(x: int, y: int) -> int:
    """Lane that rho and pi bring to (x, y)."""
    return (x + 3 * y) % 5 + 5 * x


def _inverted_after_theta(form: Form) -> list[bool]:
    """Which lanes stand inverted after theta."""
    inverted = [i in form.complemented for i in range(25)]
    c = [sum(inverted[x::5]) % 2 for x in range(5)]
    d = [(c[(x - 1) % 5] + c[(x + 1) % 5]) % 2 for x in range(5)]
    return [inverted[i] != bool(d[i % 5]) for i in range(25)]


def _chi_lane(b: Sequence[Long], inverted: Sequence[bool], target_inverted: bool) -> Long:
    """b0 ^ (~b1 & b2) from values of which some are inverted, with at most one inversion."""
    b0, b1, b2 = b
    flip = inverted[0] != target_inverted
    match inverted[1], inverted[2]:
        case True, False:
            term = b1 & b2
        case False, True:
            term, flip = b1 | b2, not flip
        case True, True:
            if not flip:
                return b0 ^ (b1 & ~b2)
            return b0 ^ (~b1 | b2)
        case _:
            if not flip:
                return b0 ^ (~b1 & b2)
            return b0 ^ (b1 | ~b2)
    return (~b0 if flip else b0) ^ term


def _chi_row(form: Form, y: int, b: Sequence[Long]) -> list[Long]:
    after = _inverted_after_theta(form)
    inverted = [after[_source(x, y)] for x in range(5)]
    return [
        _chi_lane(
            [b[(x + j) % 5] for j in range(3)],
            [inverted[(x + j) % 5] for j in range(3)],
            x + 5 * y in form.complemented,
        )
        for x in range(5)
    ]


def _in_registers(form: Form) -> Permutation:
    """All lanes carried in registers."""

    def apply(k: Builder, state: Pointer) -> None:
        form.check(k.xlen)
        if k.xlen != 64:
            raise UnsupportedKernel("kernel needs RV64: its 25 lanes must fit registers")
        constants = k.constants(form.table)

        def one_round(i: Index, *lanes: Bits) -> tuple[Bits, ...]:
            a = unflat(lanes)
            d = _theta([_sum(a[x::5]) for x in range(5)])
            out: list[Long] = []
            for y in range(5):
                sources = [_source(x, y) for x in range(5)]
                out += _chi_row(form, y, [(a[s] ^ d[s % 5]).rotl(OFFSETS[s]) for s in sources])
            out[0] = out[0] ^ form.load(k, constants, 8 * i)
            return flat(out)

        lanes = k.loop(ROUNDS, one_round, *flat([load_long(k, state, 8 * i) for i in range(25)]))
        for i, lane in enumerate(unflat(lanes)):
            store_long(k, state, lane, 8 * i)

    return apply


def _sum(lanes: Sequence[Long]) -> Long:
    result = lanes[0]
    for lane in lanes[1:]:
        result = result ^ lane
    return result


def _columns(k: Builder, form: Form, state: Pointer) -> list[Long]:
    """Column parities."""
    return [_sum([form.load(k, state, 8 * (x + 5 * y)) for y in range(5)]) for x in range(5)]


def _in_memory(form: Form) -> Permutation:
    """Lanes in memory, two rounds to and fro."""

    def apply(k: Builder, state: Pointer) -> None:
        form.check(k.xlen)
        constants = k.constants(form.table)
        other = k.scratch("other_state", 200)

        def one_round(source: Pointer, target: Pointer, constant: Index) -> None:
            d = _theta(_columns(k, form, source))
            for piece in range(form.pieces):
                for y in range(5):
                    row = _rotated_row(k, form, source, d, y, piece)
                    out = _chi_row(form, y, row)
                    if y == 0:
                        out[0] = out[0] ^ form.load_piece(k, constants, constant, piece)
                    for x in range(5):
                        form.store_piece(k, target, out[x], 8 * (x + 5 * y), piece)

        def two_rounds(i: Index) -> tuple[Bits, ...]:
            one_round(state, other, 16 * i)
            one_round(other, state, 16 * i + 8)
            return ()

        k.loop(ROUNDS // 2, two_rounds)

    return apply


def _rotated_row(
    k: Builder, form: Form, source: Pointer, d: Sequence[Long], y: int, piece: int
) -> list[Long]:
    """A piece of row y after theta, rho and pi."""
    row = []
    for x in range(5):
        lane = _source(x, y)
        offset, added = OFFSETS[lane], d[lane % 5]
        if form.interleaved:
            half, odd = divmod(offset, 2)
            came = piece ^ odd
            loaded = k.load(source, 8 * lane + 4 * came)
            row.append(Long(((loaded ^ added.parts[came]).rotl(half + (odd & came)),)))
        else:
            row.append((load_long(k, source, 8 * lane) ^ added).rotl(offset))
    return row


def _compact(form: Form) -> Permutation:
    """One round at a time, rows of chi in a loop."""
    assert not form.complemented  # rows would differ

    def apply(k: Builder, state: Pointer) -> None:
        form.check(k.xlen)
        constants = k.constants(form.table)
        other = k.scratch("other_state", 200)

        def one_round(i: Index) -> tuple[Bits, ...]:
            d = _theta(_columns(k, form, state))
            for piece in range(form.pieces):
                for y in range(5):
                    for x, lane in enumerate(_rotated_row(k, form, state, d, y, piece)):
                        form.store_piece(k, other, lane, 8 * (x + 5 * y), piece)

            def row(y: Index) -> tuple[Bits, ...]:
                b = [load_long(k, other, 40 * y + 8 * x) for x in range(5)]
                for x, lane in enumerate(_chi_row(form, 0, b)):
                    store_long(k, state, lane, 40 * y + 8 * x)
                return ()

            k.loop(5, row)
            first = load_long(k, state) ^ load_long(k, constants, 8 * i)
            store_long(k, state, first)
            return ()

        k.loop(ROUNDS, one_round)

    return apply


def _looped(form: Form) -> Permutation:
    """Every step in a loop."""

    def apply(k: Builder, state: Pointer) -> None:
        form.check(k.xlen)
        keccak_looped.permute(k, state, k.constants(form.table))

    return apply


@dataclass(frozen=True)
class Variant:
    """A kernel of the permutation, its form, one line about it, and mnemonics it needs."""

    permute: Permutation
    form: Form
    summary: str
    requires: frozenset[str]


def _variant(make: Callable[[Form], Permutation], form: Form, summary: str) -> Variant:
    requires = frozenset({"ld"} if make is _in_registers else ())  # RV64
    return Variant(make(form), form, summary, requires)


_PLAIN, _COMPLEMENTED = Form(), Form(complemented=COMPLEMENTED)
_INTERLEAVED, _BOTH = Form(True), Form(True, COMPLEMENTED)
_OVERVIEW = "(Keccak implementation overview 3.2)"
VARIANTS = {
    "plain": _variant(_in_registers, _PLAIN, "RV64: 25 lanes in registers"),
    "lane-complemented": _variant(
        _in_registers, _COMPLEMENTED, f"RV64: the same with fewer inversions {_OVERVIEW}"
    ),
    "memory": _variant(_in_memory, _PLAIN, "lanes in memory, two rounds to and fro"),
    "memory-lane-complemented": _variant(
        _in_memory, _COMPLEMENTED, f"the same with fewer inversions {_OVERVIEW}"
    ),
    "compact": _variant(_compact, _PLAIN, "lanes in memory, one round and one row of chi"),
    "interleaved": _variant(
        _in_memory, _INTERLEAVED, f"RV32: even and odd bits in a word each {_OVERVIEW}"
    ),
    "interleaved-lane-complemented": _variant(
        _in_memory, _BOTH, f"RV32: the same with fewer inversions {_OVERVIEW}"
    ),
    "interleaved-compact": _variant(
        _compact, _INTERLEAVED, "RV32: even and odd bits, one round and one row of chi"
    ),
}
PERMUTATIONS = {
    **VARIANTS,
    "looped": _variant(_looped, _INTERLEAVED, "RV32, small: even and odd bits, loops over words"),
}
"""Also those that are for the permutation alone."""


# --- Workloads: the permutation ------------------------------------------------------------------

_ZERO_STATE = (
    "e7dde140798f25f18a47c033f9ccd584eea95aa61e2698d54d49806f304715bd57d05362054e288bd46f8e7f2da497ff"
    "c44746a4a0e5fe90762e19d60cda5b8c9c05191bf7a630ad64fc8fd0b75a933035d617233fa95aeb0321710d26e6a6a9"
    "5f55cfdb167ca58126c84703cd31b8439f56a5111a2ff20161aed9215a63e505f270c98cf2febe641166c47b95703661"
    "cb0ed04f555a7cb8c832cf1c8ae83e8c14263aae22790c94e409c5a224f94118c26504e72635f5163ba1307fe944f675"
    "49a2ec5c7bfff1ea"
)
_ZERO_SOURCE = "Keccak team, KeccakF-1600-IntermediateValues.txt, permutation of zero"


def _converted(state: bytes) -> bytes:
    """A state in the form of bit-interleaved lanes."""
    return struct.pack("<25Q", *map(interleaved_constant, struct.unpack("<25Q", state)))


def _from_interleaved(state: bytes) -> bytes:
    lanes = []
    for x in struct.unpack("<25Q", state):
        even, odd = x & 0xFFFFFFFF, x >> 32
        bits = [(even >> i & 1) | (odd >> i & 1) << 1 for i in range(32)]
        lanes.append(sum(b << 2 * i for i, b in enumerate(bits)))
    return struct.pack("<25Q", *lanes)


def _build_permutation(variant: Variant, *, held: bool) -> Callable[[Builder], None]:
    """Kernel of the permutation on a buffer.

    Args:
        variant: How.
        held: The buffer is held bit-interleaved, before and after; else it is converted.
    """
    form = variant.form

    def convert(k: Builder, state: Pointer, change: Callable[[Long], Long]) -> None:
        def lane(i: Index) -> tuple[Bits, ...]:
            store_long(k, state, change(form.load(k, state, 8 * i)), 8 * i)
            return ()

        if form.interleaved and not held:
            k.loop(25, lane)

    def invert(k: Builder, state: Pointer) -> None:
        for i in sorted(form.complemented):
            store_long(k, state, ~load_long(k, state, 8 * i), 8 * i)

    def build(k: Builder) -> None:
        form.check(k.xlen)
        state = k.pointer("state")
        convert(k, state, form.encode)
        invert(k, state)
        variant.permute(k, state)
        invert(k, state)
        convert(k, state, form.decode)

    return build


@register("keccak-f1600")
def permutation_workload() -> Workload:
    """The permutation of 200 bytes, lanes as FIPS 202 has them."""
    return Workload(
        "keccak-f1600",
        "FIPS 202 (2015) section 3.4",
        (Buffer("state", 200, "inout", secret=True),),
        lambda v: {"state": permute(v["state"])},
        {
            name: Kernel(
                name, _build_permutation(variant, held=False), variant.summary, variant.requires
            )
            for name, variant in PERMUTATIONS.items()
        },
        (Vector({"state": bytes(200)}, {"state": bytes.fromhex(_ZERO_STATE)}, _ZERO_SOURCE),),
        message_bytes=200,
    )


@register("keccak-f1600-interleaved")
def interleaved_workload() -> Workload:
    """The permutation of 25 bit-interleaved lanes, as RV32 software holds them between calls."""
    return Workload(
        "keccak-f1600-interleaved",
        "FIPS 202 (2015) section 3.4; Keccak implementation overview 3.2, section 2.1",
        (Buffer("state", 200, "inout", secret=True),),
        lambda v: {"state": _converted(permute(_from_interleaved(v["state"])))},
        {
            name: Kernel(name, _build_permutation(variant, held=True), variant.summary)
            for name, variant in PERMUTATIONS.items()
            if variant.form.interleaved
        },
        (
            Vector(
                {"state": bytes(200)},
                {"state": _converted(bytes.fromhex(_ZERO_STATE))},
                f"{_ZERO_SOURCE}, interleaved",
            ),
        ),
        message_bytes=200,
    )


# --- Workloads: hashes ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Function:
    """A sponge function.

    Attributes:
        name: Name of the workload.
        rate: Bytes of a block.
        suffix: Domain bits and the first bit of the padding.
        output_bytes: Bytes squeezed, at most the rate.
        answer: Digest of 200 bytes of 0xa3 (NIST example values, 1600-bit message).
    """

    name: str
    rate: int
    suffix: int
    output_bytes: int
    answer: str


FUNCTIONS = (
    Function(
        "sha3-256",
        136,
        0x06,
        32,
        "79f38adec5c20307a98ef76e8324afbfd46cfd81b22e3973c65fa1bd9de31787",
    ),
    Function(
        "sha3-512",
        72,
        0x06,
        64,
        "e76dfad22084a8b1467fcf2ffa58361bec7628edf5f3fdc0e4805dc48caeeca8"
        "1b7c13c30adf52a3659584739a2df46be589c51ca1a4a8416df6545a1ce8ba00",
    ),
    Function(
        "shake128",
        168,
        0x1F,
        32,
        "131ab8d2b594946b9c81333f9bb6e0ce75c3b93104fa3469d3917457385da037",
    ),
    Function(
        "shake256",
        136,
        0x1F,
        64,
        "cd8a920ed141aa0407a22d59288652e9d9f1a7ee0c1e7c1ca699424da84a904d"
        "2d700caae7396ece96604440577da4f3aa22aeb8857f961c4cd8e06f0ae6610b",
    ),
)


def _build_sponge(function: Function, variant: Variant, size: int) -> Callable[[Builder], None]:
    form = variant.form
    lanes = function.rate // 8
    tail = padding(size, function.rate, function.suffix)

    def build(k: Builder) -> None:
        form.check(k.xlen)
        message, digest = k.pointer("message"), k.pointer("digest")
        padded = padded_copy(k, message, size, tail)
        state = k.scratch("state", 200)
        for i in range(25):
            start = Long.of(_MASK if i in form.complemented else 0, k.xlen)
            store_long(k, state, start, 8 * i)

        def absorb(block: Index) -> tuple[Bits, ...]:
            def lane(i: Index) -> tuple[Bits, ...]:
                new = form.encode(load_long(k, padded, function.rate * block + 8 * i))
                store_long(k, state, form.load(k, state, 8 * i) ^ new, 8 * i)
                return ()

            k.loop(lanes, lane)
            variant.permute(k, state)
            return ()

        k.loop((size + len(tail)) // function.rate, absorb, unroll=False)
        for i in range(function.output_bytes // 8):
            out = form.load(k, state, 8 * i)
            store_long(k, digest, form.decode(~out if i in form.complemented else out), 8 * i)

    return build


def _hash_workload(function: Function, message_bytes: int) -> Workload:
    """A hash of a message of 1 byte or more, with padding; units are its blocks."""
    if not 1 <= message_bytes <= LARGEST:
        raise ValueError(
            f"message of {function.name} must have 1 to {LARGEST} bytes, not {message_bytes}"
        )

    def golden(values: Values) -> dict[str, bytes]:
        message = values["message"]
        digest = sponge(message, function.rate, function.suffix, function.output_bytes)
        return {"digest": digest}

    example = Vector(
        {"message": b"\xa3" * 200},
        {"digest": bytes.fromhex(function.answer)},
        "NIST example values for FIPS 202, 1600-bit message",
    )
    return Workload(
        function.name,
        f"FIPS 202 (2015), {function.output_bytes} bytes of output",
        (
            Buffer("message", message_bytes, "in", secret=True),
            Buffer("digest", function.output_bytes, "out", declassified=True),
        ),
        golden,
        {
            name: Kernel(
                name,
                _build_sponge(function, variant, message_bytes),
                variant.summary,
                variant.requires,
            )
            for name, variant in VARIANTS.items()
        },
        (example,) if message_bytes == 200 else (),
        units=message_bytes // function.rate + 1,
        message_bytes=message_bytes,
    )


def _register_hash(function: Function) -> None:
    register(function.name, default_bytes=200)(lambda size: _hash_workload(function, size))


for _function in FUNCTIONS:
    _register_hash(_function)
