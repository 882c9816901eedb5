"""Frame: which stack buffers offsets from sp reach, and where the others are."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

REACH = 2047
"""Largest 12-bit offset."""
NEAR = 256
"""Bytes up to which a buffer stays near sp although all of them together do not."""


def far_buffers(scratch: Mapping[str, int]) -> frozenset[str]:
    """Names of the buffers that get an address of their own.

    None, where all of them may be reached from sp; else the large ones, which stand behind.
    """
    return _far(tuple(scratch.items()))


@cache
def _far(scratch: tuple[tuple[str, int], ...]) -> frozenset[str]:
    if sum(size for _, size in scratch) <= REACH:
        return frozenset()
    return frozenset(name for name, size in scratch if size > NEAR)


def near_first(scratch: Mapping[str, int]) -> list[tuple[str, int]]:
    """Buffers and their bytes in the order in which they stand, from sp upward."""
    far = far_buffers(scratch)
    return sorted(scratch.items(), key=lambda item: item[0] in far)
