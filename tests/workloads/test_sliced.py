"""S-boxes as the circuit of AES between linear maps: every input of every box."""

from __future__ import annotations

import random

import pytest

from isa import aes
from isa.bits import arg, evaluate
from isa.sm4 import INVERTED_ZERO, sbox
from workloads.camellia import _BOXES, _ZEROS
from workloads.seed import S0, S1
from workloads.sliced import sliced

BOXES = {
    "aes": (bytes(aes.sbox().entries), 0),
    "sm4": (bytes(sbox().entries), INVERTED_ZERO),
    "seed 0": (S0, 0),
    "seed 1": (S1, 0),
    **{f"camellia {i}": (bytes(_BOXES[i]), _ZEROS[i]) for i in range(4)},
}


@pytest.mark.parametrize("name", sorted(BOXES))
def test_every_input_in_every_byte(name: str) -> None:
    box, zero = BOXES[name]
    other, other_zero = BOXES["seed 1"]
    same = sliced([box] * 4, [zero] * 4)(arg("w", 32))
    mixed = sliced([box, other] * 2, [zero, other_zero] * 2)(arg("w", 32))
    for x in range(256):
        word = [x, x ^ 0xFF, 255 - x ^ 0x5A, x * 7 & 0xFF]
        given = {"w": int.from_bytes(bytes(word), "little")}
        assert evaluate(same, given).to_bytes(4, "little") == bytes(box[b] for b in word)
        expected = bytes((box, other)[i % 2][b] for i, b in enumerate(word))
        assert evaluate(mixed, given).to_bytes(4, "little") == expected


def test_other_boxes_are_refused() -> None:
    shuffled = random.Random(1).sample(range(256), 256)
    with pytest.raises(ValueError, match=r"^S-box must be an inversion in GF\(2\^8\)"):
        sliced([bytes(shuffled)] * 4, [0] * 4)(arg("w", 32))
