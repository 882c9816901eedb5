"""ML-KEM (FIPS 203): number-theoretic transform, its inverse, and multiplication of transforms.

A polynomial is 256 signed values of 16 bits, any representatives modulo 3329; results are the
least non-negative ones.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from isa.bits import Bits
from isa.kernel import Builder, Index, Pointer
from isa.table import Table
from workloads import register
from workloads.workload import Buffer, Kernel, Values, Vector, Workload

Q = 3329
ROOT = 17
"""Primitive 256th root of unity (FIPS 203 section 4.3)."""
LENGTHS = (128, 64, 32, 16, 8, 4, 2)
HALF_INVERSE = 3303
"""128^-1 modulo q."""


def _reversed_bits(x: int) -> int:
    return int(f"{x:07b}"[::-1], 2)


ZETAS = tuple(pow(ROOT, _reversed_bits(i), Q) for i in range(128))
"""Powers of the root in the order of use (FIPS 203 appendix A)."""
GAMMAS = tuple(pow(ROOT, 2 * _reversed_bits(i) + 1, Q) for i in range(128))


# --- Golden --------------------------------------------------------------------------------------


def unpack(data: bytes) -> list[int]:
    """Coefficients modulo q."""
    return [x % Q for x in struct.unpack("<256h", data)]


def pack(f: Sequence[int]) -> bytes:
    """Undo `unpack`."""
    return struct.pack("<256h", *f)


def ntt(f: Sequence[int]) -> list[int]:
    """FIPS 203 algorithm 9."""
    f = list(f)
    i = 1
    for length in LENGTHS:
        for start in range(0, 256, 2 * length):
            for j in range(start, start + length):
                t = ZETAS[i] * f[j + length]
                f[j], f[j + length] = (f[j] + t) % Q, (f[j] - t) % Q
            i += 1
    return f


def inverse_ntt(f: Sequence[int]) -> list[int]:
    """FIPS 203 algorithm 10."""
    f = list(f)
    i = 127
    for length in reversed(LENGTHS):
        for start in range(0, 256, 2 * length):
            for j in range(start, start + length):
                low, high = f[j], f[j + length]
                f[j], f[j + length] = (low + high) % Q, ZETAS[i] * (high - low) % Q
            i -= 1
    return [x * HALF_INVERSE % Q for x in f]


def multiply(f: Sequence[int], g: Sequence[int]) -> list[int]:
    """FIPS 203 algorithms 11 and 12."""
    out = []
    for i, gamma in enumerate(GAMMAS):
        (a0, a1), (b0, b1) = f[2 * i : 2 * i + 2], g[2 * i : 2 * i + 2]
        out += [(a0 * b0 + a1 * b1 * gamma) % Q, (a0 * b1 + a1 * b0) % Q]
    return out


# --- Arithmetic of kernels ------------------------------------------------------------------------


@dataclass(frozen=True)
class Arithmetic:
    """How kernels compute modulo q.

    Attributes:
        name: Prefix of its tables.
        factor: A constant in the form in which `times` takes it.
        times: Product of a value of less than 2^17 and a constant.
        operand: A value of 16 bits as the first factor of a product of two variables.
        settled: What that product, or the sum of two, is modulo q.
        canonical: The least non-negative representative of a product with a constant.
        unroll: As in `Builder.loop`, of the loops over coefficients.
        requires: What they need of the instruction set.
    """

    name: str
    factor: Callable[[int], int]
    times: Callable[[Bits, Bits | int], Bits]
    operand: Callable[[Bits], Bits]
    settled: Callable[[Bits], Bits]
    canonical: Callable[[Bits], Bits]
    unroll: bool | None
    requires: frozenset[str]

    def reduced(self, x: Bits) -> Bits:
        """A small representative."""
        return self.times(x, self.factor(1))

    def table(self, name: str, constants: Iterable[int]) -> Table:
        """Constants in memory, 4 bytes each."""
        return Table(f"mlkem_{self.name}_{name}", 32, tuple(map(self.factor, constants)))


# Plantard's multiplication by constants (Huang et al., TCHES 2022(4), algorithm 8).

_INVERSE = pow(Q, -1, 2**32)


def _plantard_factor(x: int) -> int:
    return (x * -(2**32) % Q) * _INVERSE % 2**32


def _folded(t: Bits) -> Bits:
    """The last steps of Plantard's reduction; at most (q + 1) / 2 in absolute value."""
    return ((t.sar(16) + 8) * Q).sar(16)


def _plantard_times(x: Bits, factor: Bits | int) -> Bits:
    return _folded(x * factor)


def _plantard_settled(x: Bits) -> Bits:
    """The product of two variables has a factor that a constant takes away."""
    return _plantard_times(_folded(x * _INVERSE), _plantard_factor(-(2**32) % Q))


def _plus_q(x: Bits) -> Bits:
    """Add q to what is negative."""
    return x + (x.sar(31) & Q)


_PLANTARD = Arithmetic(
    "plantard",
    _plantard_factor,
    _plantard_times,
    lambda x: _plantard_times(x, _plantard_factor(1)),
    _plantard_settled,
    _plus_q,
    None,
    frozenset({"mul"}),
)

# Longa's and Naehrig's reduction (CANS 2016), for q = 13 2^8 + 1: constants of 12 bits are all that
# remains to be multiplied, which additions can do. With |x| < 2^17, `times` gives -|x| / 19 - 13 to
# 3328 + |x| / 19, so that seven layers stay below 2^15.6, and the six before a store below 2^15.


def _once(x: Bits) -> Bits:
    """13 x modulo q, shorter by 8 bits down to 12."""
    return (x & 0xFF) * 13 - x.sar(8)


def _longa_factor(x: int) -> int:
    return x * pow(13, -2, Q) % Q


def _longa_times(x: Bits, factor: Bits | int) -> Bits:
    factor = factor if isinstance(factor, int) else factor.slice(0, 12).zext(32)
    return _once(_once(x * factor))


def _longa_settled(x: Bits) -> Bits:
    """Of the sum of two products whose first factors carry 13 from `operand`."""
    return _longa_times(_once(_once(x)), _longa_factor(pow(13, -3, Q)))


def _longa_canonical(x: Bits) -> Bits:
    return _plus_q(_plus_q(x) - Q)


_LONGA = Arithmetic(
    "longa",
    _longa_factor,
    _longa_times,
    lambda x: _once(x).slice(0, 13).sext(32),
    _longa_settled,
    _longa_canonical,
    False,
    frozenset(),
)


# --- Kernels --------------------------------------------------------------------------------------


def _load(k: Builder, f: Pointer, offset: Index | int) -> Bits:
    return k.load(f, 2 * offset, 16, signed=True).slice(0, 32)


def _forward_pass(k: Builder, q: Arithmetic, f: Pointer, lengths: Sequence[int]) -> None:
    """Several layers on coefficients held in registers."""
    zetas = k.constants(q.table("zetas", ZETAS))
    layers, stride = len(lengths), lengths[-1]
    first, last = lengths[0] == 128, lengths[-1] == 2

    def block(b: Index) -> tuple[Bits, ...]:
        factors = [
            [
                k.load(zetas, 4 * ((1 << i) * b + (128 // lengths[0] << i) + s)).slice(0, 32)
                for s in range(1 << i)
            ]
            for i in range(layers)
        ]

        def column(j: Index) -> tuple[Bits, ...]:
            places = [2 * lengths[0] * b + j + stride * m for m in range(1 << layers)]
            x = [_load(k, f, p) for p in places]
            if first:
                half = len(x) // 2
                x[:half] = [q.reduced(v) for v in x[:half]]
            for i in range(layers):
                distance = 1 << layers - 1 - i
                for m in range(1 << layers):
                    if not m & distance:
                        t = q.times(x[m + distance], factors[i][m // (2 * distance)])
                        x[m], x[m + distance] = x[m] + t, x[m] - t
            for p, v in zip(places, x, strict=True):
                k.store(f, 2 * p, q.canonical(q.reduced(v)) if last else v, 16)
            return ()

        k.loop(stride, column, unroll=q.unroll)
        return ()

    k.loop(128 // lengths[0], block, unroll=False)


def _inverse_pass(k: Builder, q: Arithmetic, f: Pointer, lengths: Sequence[int]) -> None:
    """Several layers of the inverse, shortest first."""
    zetas = k.constants(q.table("zetas", ZETAS))
    scaled = k.constants(q.table("scaled_zetas", (z * HALF_INVERSE for z in ZETAS)))
    layers, stride = len(lengths), lengths[0]
    first, last = lengths[0] == 2, lengths[-1] == 128

    def block(b: Index) -> tuple[Bits, ...]:
        factors = []
        for i, length in enumerate(lengths):
            table = scaled if last and i == layers - 1 else zetas
            groups = 1 << layers - 1 - i
            top = 2 * (128 // length) - 1
            factors.append(
                [k.load(table, 4 * ((-groups) * b + (top - s))).slice(0, 32) for s in range(groups)]
            )

        def column(j: Index) -> tuple[Bits, ...]:
            places = [2 * lengths[-1] * b + j + stride * m for m in range(1 << layers)]
            x = [_load(k, f, p) for p in places]
            if first:
                x = [q.reduced(v) for v in x]
            for i in range(layers):
                distance = 1 << i
                for m in range(1 << layers):
                    if not m & distance:
                        low, high = x[m], x[m + distance]
                        x[m] = low + high
                        x[m + distance] = q.times(high - low, factors[i][m // (2 * distance)])
            half = len(x) // 2
            final = q.factor(HALF_INVERSE if last else 1)
            x[:half] = [q.times(v, final) for v in x[:half]]
            for p, v in zip(places, x, strict=True):
                k.store(f, 2 * p, q.canonical(v) if last else v, 16)
            return ()

        k.loop(stride, column, unroll=q.unroll)
        return ()

    k.loop(128 // lengths[-1], block, unroll=False)


def _multiply(k: Builder, q: Arithmetic) -> None:
    """Pair by pair."""
    f, g, out = k.pointer("f"), k.pointer("g"), k.pointer("product")
    gammas = k.constants(q.table("gammas", GAMMAS))

    def pair(i: Index) -> tuple[Bits, ...]:
        a0, a1 = (q.operand(_load(k, f, 2 * i + j)) for j in range(2))
        b0, b1 = (_load(k, g, 2 * i + j) for j in range(2))
        turned = q.times(a1, k.load(gammas, 4 * i).slice(0, 32))
        for j, value in enumerate((a0 * b0 + turned * b1, a0 * b1 + a1 * b0)):
            k.store(out, 4 * i + 2 * j, q.canonical(q.settled(value)), 16)
        return ()

    k.loop(128, pair, unroll=q.unroll)


# --- Workloads -----------------------------------------------------------------------------------


def _passes(*splits: int) -> list[tuple[int, ...]]:
    """The layers cut at the given numbers."""
    return [LENGTHS[a:b] for a, b in pairwise((0, *splits, len(LENGTHS)))]


_BY_LAYERS = _passes(1, 2, 3, 4, 5, 6)
_VARIANTS = {
    "plain": (_PLANTARD, _BY_LAYERS, "layer by layer, Plantard's multiplication"),
    "merged": (
        _PLANTARD,
        _passes(3, 5),
        "three, two and two layers at a time, Plantard's multiplication",
    ),
    "additions": (_LONGA, _BY_LAYERS, "layer by layer, constants of 12 bits without a multiplier"),
}


def _transform_kernels(*, inverse: bool) -> dict[str, Kernel]:
    def kernel(name: str, q: Arithmetic, passes: Sequence[Sequence[int]], summary: str) -> Kernel:
        def build(k: Builder) -> None:
            f = k.pointer("f")
            for lengths in reversed(passes) if inverse else passes:
                if inverse:
                    _inverse_pass(k, q, f, lengths[::-1])
                else:
                    _forward_pass(k, q, f, lengths)

        return Kernel(name, build, summary, q.requires)

    return {name: kernel(name, *parts) for name, parts in _VARIANTS.items()}


_MULTIPLY_VARIANTS = {
    "plantard": (_PLANTARD, "pairs, Plantard's reduction"),
    "additions": (_LONGA, "pairs, multiplied bit by bit without a multiplier"),
}


def _multiply_kernels() -> dict[str, Kernel]:
    return {
        name: Kernel(name, partial(_multiply, q=q), summary, q.requires)
        for name, (q, summary) in _MULTIPLY_VARIANTS.items()
    }


def _polynomial(text: str) -> list[int]:
    """256 coefficients of 12 bits as FIPS 203 ByteEncode12 packs them."""
    x = int.from_bytes(bytes.fromhex(text), "little")
    return [x >> 12 * i & 0xFFF for i in range(256)]


_S = _polynomial(
    "010000001d00000d000020000000d00100000220000000d0002d000100d0001d"
    "00001d000000000100d0001d00ff0c00000d0001100000100000000000fdcf01"
    "0000000d00011000000d00002d000100000020000120000100d0001000fefccf"
    "010000002000fe0cd00000d000fdcf0100d000fdcf00000001200003200001f0"
    "cf000d0003100000000002100000000000fdcf0000000110000010000100d0ff"
    "1c000100d000000000f0cf002d00010000001d00ff1c00000000ff0cd0020000"
    "0000000100000100d00010000000d0001d00011000002d000110000100d0000d"
    "d0000dd00210000100d0010000001000001d00001d0001200003000000000000"
    "0d000010000200d0fffccf011000000dd0001d000120000000d00100d000fdcf"
    "0000000000d0001d00001000fefccf00fdcf012000fe0cd00100000000000100"
    "0000300003f0cf0100d0000d000020000100d0000000000000000000000d0000"
    "10000000000000d0000dd000f0cf001000000dd00000d00020000000000100d0"
)
_S_HAT = _polynomial(
    "2d17c4ba262edec00f00f2247692b87bc2564ffc7910f113fb8c7d8b1c3981ac"
    "95d8a8488781bedab191e69170151c2ce942191276691eeb395cc29afde60915"
    "91ccef038ae9235a201510eef014554626010c9574e7ccfa5657d09994456640"
    "45fb20a22a5b3168268b12abfb9933e2486e45b84b8d3973785c8e158915fb49"
    "9493e0195cf70443bcc4517b7cc323b0051ba31ae44bdb415e63c66fa0f14334"
    "f75e376411b91bb7296a18f323b6ef37bee5c8b84ecbb65f9c00bd504b316a9a"
    "6a7c6091d28fe65c3436b5c9c0f89a47104767f7b0f79a8fc2901d49e31611b2"
    "b18c52b510ac054e926229f532d2187657244836254c193014fde766e8d29038"
    "e0a388774cb55335439732bb032399c32301052a8f155e3a49a33914581729b1"
    "1fe0602bbac54b495c1a96b5ff16152a659617c7b79d8245c7d4aba65b5d5ccc"
    "941e24c09dea2630d1acda6811b21b78ac89b662581cba46586257c734802263"
    "2948cb1cc8a12c8c6712176e6154d5b2ce9e17b20ed770fc959f03f4a2e25184"
)
_SOURCE = "C2SP/CCTV ML-KEM/intermediate/ML-KEM-512.txt: s[0] and its transform"


@register("mlkem-ntt")
def ntt_workload() -> Workload:
    """The transform, in place."""
    return Workload(
        "mlkem-ntt",
        "FIPS 203 (2024) algorithm 9",
        (Buffer("f", 512, "inout", secret=True),),
        lambda v: {"f": pack(ntt(unpack(v["f"])))},
        _transform_kernels(inverse=False),
        (Vector({"f": pack(_S)}, {"f": pack(_S_HAT)}, _SOURCE),),
        message_bytes=512,
    )


@register("mlkem-inverse-ntt")
def inverse_ntt_workload() -> Workload:
    """The inverse transform, in place."""
    return Workload(
        "mlkem-inverse-ntt",
        "FIPS 203 (2024) algorithm 10",
        (Buffer("f", 512, "inout", secret=True),),
        lambda v: {"f": pack(inverse_ntt(unpack(v["f"])))},
        _transform_kernels(inverse=True),
        (Vector({"f": pack(_S_HAT)}, {"f": pack(_S)}, _SOURCE),),
        message_bytes=512,
    )


@register("mlkem-multiply")
def multiply_workload() -> Workload:
    """The product of two transforms (base multiplication)."""

    def golden(values: Values) -> dict[str, bytes]:
        return {"product": pack(multiply(unpack(values["f"]), unpack(values["g"])))}

    return Workload(
        "mlkem-multiply",
        "FIPS 203 (2024) algorithms 11 and 12",
        (
            Buffer("f", 512, "in", secret=True),
            Buffer("g", 512, "in", secret=True),
            Buffer("product", 512, "out"),
        ),
        golden,
        _multiply_kernels(),
        (
            Vector(
                {"f": pack([1, 0] * 128), "g": pack(_S_HAT)},
                {"product": pack(_S_HAT)},
                f"{_SOURCE}, times the transform of 1",
            ),
        ),
        message_bytes=512,
    )
