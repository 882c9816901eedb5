"""Golden Ascon against the designers' known answers (github.com/ascon/ascon-c)."""

from __future__ import annotations

import pytest

import workloads
from workloads.ascon import hash256
from workloads.ascon_aead import aead128

KEY, NONCE = bytes(range(16)), bytes(range(16, 32))
AEAD = [
    (0, 32, "e8c3deee246cc5eae3e872313897a2bb6089aa3e15e80307970f2d1f006654c2"
            "aaa5fa172cb9f07d07463cefc7440bc1"),
    (1, 31, "96107d8a29a7529a7941bdc7df1fe3c6c7210336ab5b1eb94cfc067ce22487"
            "89e62f1a99ed4a0eb805b9d19f3117bc"),
    (15, 32, "20fd19dabc1a5cc449a621d34dac6013ef43f597df00a4fcc9570f4c64c4d006"
             "dbc8504a6ee24be1de7f594925d38471"),
    (17, 32, "bf77c71b3de9f1c5b372ef273a08e89be9675adc5777342f1d1ef3c5d4bfc7aa"
             "055dd1908bb4c524bc967452ffdaa943"),
    (32, 32, "cb34d04660a66dbfbe9c856601f5b8aa51a499b55ac8f7fbefbc331a613ee9cd"
             "fd191750a47f211c0a15ed28173d7caa"),
    (31, 30, "4b392e5fa60e0cbbca547db96e3262bd8382d6c0e608e24f441aaafc4726"
             "e1a76a7a67c2709dfefe5a56b7c3d062"),
]  # fmt: skip
HASHES = {
    0: "0b3be5850f2f6b98caf29f8fdea89b64a1fa70aa249b8f839bd53baa304d92b2",
    9: "94269c30e0296e1ec86655041841823efa1927f520fd58c8e9bce6197878c1a6",
    15: "6421330df99c05eb715415ee17b455f2674f862ae3cc5badffe43a4a3ed273e1",
    32: "bd9d3d60a66b53868eab2a5c74539a518a1f60f01eb176c60e43dee81680b33e",
}


@pytest.mark.parametrize(("associated", "size", "expected"), AEAD)
def test_aead(associated: int, size: int, expected: str) -> None:
    data = bytes(range(48, 48 + associated))
    text, tag = aead128(KEY, NONCE, data, bytes(range(32, 32 + size)))
    assert (text + tag).hex() == expected
    assert aead128(KEY, NONCE, data, text, inverse=True) == (bytes(range(32, 32 + size)), tag)


@pytest.mark.parametrize("size", sorted(HASHES))
def test_hash(size: int) -> None:
    assert hash256(bytes(range(size))).hex() == HASHES[size]


@pytest.mark.parametrize("size", [1, 7, 8, 16, 100])
def test_hash_of_other_sizes(size: int) -> None:
    workload = workloads.get("ascon-hash256", size)
    (vector,) = workload.vectors
    assert workload.golden(vector.inputs) == vector.outputs


def test_bad_size() -> None:
    pattern = r"^message of ascon-hash256 must have 1 to 65536 bytes, not 0$"
    with pytest.raises(ValueError, match=pattern):
        workloads.get("ascon-hash256", 0)
