"""S-boxes without tables: four bytes of a word at once, in constant time.

An S-box that is an inversion in GF(2^8) between affine maps is that of AES between other affine
maps, which has a circuit of few gates. The circuit runs on words of which bits 0, 8, 16 and 24
count, one S-box each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache

from isa import aes
from isa.aes_circuit import sbox as aes_circuit
from isa.bits import Bits
from workloads.words import total

ONES = 0x01010101
Matrix = tuple[int, ...]
"""Row i gives bit i of the product: the parity of row and byte."""


class _Contradiction(Exception):
    """Two maps are not linear together."""


def _extend(known: dict[int, int], x: int, y: int) -> None:
    """Let a linear map send x to y, and every sum with what it is known to send where."""
    if x in known:
        if known[x] != y:
            raise _Contradiction
        return
    known.update({k ^ x: v ^ y for k, v in tuple(known.items())})


def _linear_maps(box: Sequence[int], other: Sequence[int]) -> tuple[dict[int, int], dict[int, int]]:
    """Linear bijections a and c with c[box[x]] = other[a[x]]; both permutations fix 0.

    Guess what a few inputs go to and follow the consequences to and fro (Biryukov et al.,
    "A toolbox for cryptanalysis: linear and affine equivalence algorithms", EUROCRYPT 2003). The
    first is 1, as 1 / (s x) = (1 / s) (1 / x) lets any map be scaled by any s.
    """
    box_inverse = {y: x for x, y in enumerate(box)}
    other_inverse = {y: x for x, y in enumerate(other)}

    def follow(a: dict[int, int], c: dict[int, int]) -> None:
        size = 0
        while len(a) + len(c) > size:
            size = len(a) + len(c)
            for x, y in tuple(a.items()):
                _extend(c, box[x], other[y])
            for u, v in tuple(c.items()):
                _extend(a, box_inverse[u], other_inverse[v])

    def search(a: dict[int, int], c: dict[int, int]) -> Iterator[tuple[dict[int, int], ...]]:
        if len(a) == 256:
            yield a, c
            return
        unknown = next(x for x in range(256) if x not in a)
        for guess in range(1, 2 if len(a) == 1 else 256):
            further = dict(a), dict(c)
            try:
                _extend(further[0], unknown, guess)
                follow(*further)
            except _Contradiction:
                continue
            yield from search(*further)

    a, c = next(search({0: 0}, {0: 0}), ({}, {}))
    if not a or len(set(a.values())) < 256:
        raise ValueError("S-box must be an inversion in GF(2^8) between affine maps")
    return a, c


def _matrix(linear: Callable[[int], int]) -> Matrix:
    images = [linear(1 << j) for j in range(8)]
    return tuple(sum((image >> i & 1) << j for j, image in enumerate(images)) for i in range(8))


@cache
def _layers(box: bytes, zero: int) -> tuple[Matrix, Matrix]:
    """Matrices before and after the circuit of AES; `zero` is the input whose inverse is 0."""
    shifted = [box[x ^ zero] ^ box[zero] for x in range(256)]
    bare = [y ^ 0x63 for y in aes.sbox().entries]
    before, after = _linear_maps(shifted, bare)
    back = {y: x for x, y in after.items()}
    return _matrix(before.__getitem__), _matrix(back.__getitem__)


def _product(matrix: Matrix, x: Sequence[Bits]) -> list[Bits]:
    return [total(*(b for j, b in enumerate(x) if row >> j & 1)) for row in matrix]


def _masked(matrices: Sequence[Matrix], x: Sequence[Bits]) -> list[Bits]:
    """Products with the matrix of each byte; differing ones under masks."""
    masks: dict[Matrix, int] = {}
    for byte, matrix in enumerate(matrices):
        masks[matrix] = masks.get(matrix, 0) | 1 << 8 * byte
    if len(masks) == 1:
        return _product(matrices[0], x)
    parts = [[y & mask for y in _product(matrix, x)] for matrix, mask in masks.items()]
    return [total(*ys) for ys in zip(*parts, strict=True)]


def sliced(boxes: Sequence[bytes], zeros: Sequence[int]) -> Callable[[Bits], Bits]:
    """The substitution of a word of 32 bits.

    Args:
        boxes: S-box of each byte, the least significant first; each an inversion between affine
            maps.
        zeros: The input of each that its inversion sees as 0.
    """

    def substituted(w: Bits) -> Bits:
        layers = [_layers(box, zero) for box, zero in zip(boxes, zeros, strict=True)]
        w = w ^ sum(zero << 8 * i for i, zero in enumerate(zeros))
        x = _masked([before for before, _ in layers], [w >> j for j in range(8)])
        y = aes_circuit(x[::-1])[::-1]
        out = _masked([after for _, after in layers], y)
        bits = total(*((b & ONES) << j for j, b in enumerate(out)))
        constants = (box[zero] for box, zero in zip(boxes, zeros, strict=True))
        return bits ^ sum(constant << 8 * i for i, constant in enumerate(constants))

    return substituted


SUMMARY = "constant time: S-box circuit of Boyar and Peralta 2010 on the bits of four bytes"
UNROLL = False
"""Its rounds stay loops: a round is so long that unrolling only costs code."""
