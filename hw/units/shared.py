"""S-boxes of AES and SM4 around one inversion that all of those in a design share.

Each S-box keeps its own linear layers; multiplexers choose what is inverted and which result is
taken. Alone, an S-box is its composite-field circuit. Forward and inverse AES in one is from
A. Satoh, S. Morioka, K. Takano, S. Munetoh, "A compact Rijndael hardware architecture with S-box
optimization", ASIACRYPT 2001; the towers are those of D. Canright, CHES 2005.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product
from typing import Any

import pyrtl

from hw.inversion import BOXES, add_constant, xor
from hw.linear import Matrix, Network, apply_network, compose, xor_network
from hw.tower import Tower, towers
from hw.units import Build, Member, register

SOURCE = "one inversion for forward and inverse AES (Satoh et al., ASIACRYPT 2001) and SM4"


def _structure(tower: Tower) -> tuple[Matrix, ...]:
    """Return what the gates of an inversion depend on; towers of two fields may have it equal."""
    return tuple(
        part for bits in (2, 4) for part in (*tower.bilinear(bits), tower.scaled_square(bits))
    )


@cache
def _layers(tables: tuple[str, ...]) -> tuple[Tower, Network, Network]:
    """Return the tower and the XOR networks of all first and of all last linear layers.

    Of the towers in which all fields have an inversion of equal gates, that with fewest XORs.
    """
    boxes = [BOXES[name] for name in tables]
    best: tuple[int, Tower, Network, Network] | None = None
    for tower in towers(boxes[0].polynomial):
        alike = [
            [t for t in towers(box.polynomial) if _structure(t) == _structure(tower)]
            for box in boxes
        ]
        for chosen in product(*alike):
            same_field: dict[int, Tower] = {}
            for box, t in zip(boxes, chosen, strict=True):
                same_field.setdefault(box.polynomial, t)
            if any(same_field[b.polynomial] != t for b, t in zip(boxes, chosen, strict=True)):
                continue
            into = [
                row
                for box, t in zip(boxes, chosen, strict=True)
                for row in compose(t.to_tower(), box.before)
            ]
            out = [
                row
                for box, t in zip(boxes, chosen, strict=True)
                for row in compose(box.after, t.from_tower())
            ]
            first, last = xor_network(tuple(into), 8), xor_network(tuple(out), 8)
            size = len(first[0]) + len(last[0])
            if best is None or size < best[0]:
                best = (size, tower, first, last)
    assert best is not None  # the first box is alike itself, and SM4's field has AES's towers
    return best[1:]


def _constant_through(network: Network, constant: int) -> int:
    """Return what `constant` adds to the outputs of a linear network."""
    bits = [constant >> i & 1 for i in range(8)]
    return sum(bit << i for i, bit in enumerate(apply_network(network, bits, xor, 0)))


def _selected(rank: Sequence[Any], words: Sequence[Sequence[Any]]) -> list[Any]:
    """Return the word of that rank (bits of it least significant first); the first past the end."""
    if len(words) == 1:
        return list(words[0])
    result = list(words[0])
    for number in range(1, len(words)):
        bits = [r for i, r in enumerate(rank) if number >> i & 1]
        # Ranks are 1, 2 and 3 at most: one bit tells each from those before it, but for 3.
        condition = bits[0] if len(bits) == 1 else bits[0] & bits[1]
        result = [
            pyrtl.select(condition, one, zero)
            for one, zero in zip(words[number], result, strict=True)
        ]
    return result


def _joint(tables: tuple[str, ...]) -> Build:
    def build(index: pyrtl.WireVector) -> pyrtl.WireVector:
        tower, first, last = _layers(tables)
        bits = list(index)
        x, rank = bits[:8], bits[8:]
        mapped = apply_network(first, x, xor, pyrtl.Const(0, 1))
        words = []
        for k, name in enumerate(tables):
            constant = _constant_through(first, BOXES[name].constant_in) >> 8 * k & 0xFF
            words.append(add_constant(mapped[8 * k : 8 * k + 8], constant))
        inverted = tower.inverse(_selected(rank, words))
        mapped = apply_network(last, inverted, xor, pyrtl.Const(0, 1))
        words = [
            add_constant(mapped[8 * k : 8 * k + 8], BOXES[name].constant_out)
            for k, name in enumerate(tables)
        ]
        return pyrtl.concat_list(_selected(rank, words))

    return build


for _name in BOXES:
    register(table=_name, name="shared", source=SOURCE)(Member(_name, "inversion", _joint))
