"""Crossbar: permuting nibbles and bytes by one network, each choice decoded to one line of many."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from hw.joint import Joint, Wanted, register
from hw.merge import any_of
from isa.bits import Bits, arg, concat, const, mux

_NIBBLES, _BYTES = ("xperm4", "xperm.n"), ("xperm8", "xperm.b")


def _crossbar(wanted: Mapping[str, Wanted], xlen: int) -> Bits:
    """Nibble i of the result is the nibble of rs1 of a number.

    That in nibble i of rs2; or twice that in the byte that nibble i is in, plus the place in it.
    """
    rs1, rs2 = arg("rs1", xlen), arg("rs2", xlen)
    by_nibble = any_of(wanted[n].select for n in _NIBBLES if n in wanted)
    by_byte = any_of(wanted[n].select for n in _BYTES if n in wanted)
    bits = (xlen // 4).bit_length() - 1
    lines = []
    for i in range(xlen // 4):
        nibble, byte = rs2.slice(4 * i, 4), rs2.byte(i // 2)
        number = concat(byte.slice(0, bits - 1), const(i & 1, 1))
        far = byte.slice(bits - 1, 8 - bits + 1).eq(0)
        near = nibble.slice(bits, 4 - bits).eq(0) if bits < 4 else const(1, 1)
        if by_nibble.op != "const":
            own = nibble.slice(0, bits)
            number = mux(by_byte, number, own) if by_byte.op != "const" else own
            far = mux(by_byte, far, near) if by_byte.op != "const" else near
        lines.append(_selected(rs1, number, far))
    return concat(*reversed(lines))


def _selected(rs1: Bits, number: Bits, enable: Bits) -> Bits:
    """The nibble of that number, 0 without `enable`: an AND for each nibble, and an OR."""
    chosen = _decoded(number, enable)
    gated = [rs1.slice(4 * k, 4) & line.sext(4) for k, line in enumerate(chosen)]
    return _tree(gated)


def _decoded(number: Bits, enable: Bits) -> list[Bits]:
    """2^width lines of which the one of that number is 1, none without `enable`."""
    lines = [enable]
    for i in reversed(range(number.width)):
        bit = number.bit(i)
        lines = [x & b for x in lines for b in (~bit, bit)]
    return lines


def _tree(values: list[Bits]) -> Bits:
    while len(values) > 1:
        pairs = zip(values[::2], values[1::2], strict=True)
        values = [reduce(lambda a, b: a | b, pair) for pair in pairs]
    return values[0]


register(
    Joint(
        "one_hot",
        "crossbar",
        (*_NIBBLES, *_BYTES),
        _crossbar,
        "decoders and AND-OR, bytes through the network for nibbles",
        is_slower=True,
    )
)
