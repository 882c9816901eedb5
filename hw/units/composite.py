"""S-boxes by inversion in a tower of fields, after D. Canright (CHES 2005)."""

from __future__ import annotations

from functools import cache
from typing import Any

import pyrtl

from hw.inversion import BOXES, InversionBox, add_constant, xor
from hw.linear import apply_network, compose, xor_network
from hw.tower import Tower, towers
from hw.units import Build, register

SOURCE = "tower of normal bases, Canright, CHES 2005; basis changes searched here"


@cache
def _best(box: InversionBox) -> tuple[Tower, Any, Any]:
    """Return the tower whose two basis changes take the fewest XORs, and their networks."""
    candidates = []
    for tower in towers(box.polynomial):
        into = xor_network(compose(tower.to_tower(), box.before), 8)
        out = xor_network(compose(box.after, tower.from_tower()), 8)
        candidates.append((tower, into, out))
    return min(candidates, key=lambda c: len(c[1][0]) + len(c[2][0]))


def _builder(box: InversionBox) -> Build:
    def build(x: pyrtl.WireVector) -> pyrtl.WireVector:
        tower, into, out = _best(box)
        word = apply_network(into, add_constant(list(x), box.constant_in), xor, 0)
        word = apply_network(out, tower.inverse(word), xor, 0)
        return pyrtl.concat_list(add_constant(word, box.constant_out))

    return build


for _name, _box in BOXES.items():
    register(table=_name, name="composite", source=SOURCE)(_builder(_box))
