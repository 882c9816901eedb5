"""Serial: units that do a part of their work a cycle, while their operands are held.

For figures beside units that take several cycles: carry-less products some bits of an operand a
cycle, CRCs a byte a cycle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TypeAlias

import pyrtl

from isa.extensions.xzbr import POLYNOMIALS

__all__ = ["SERIAL", "serial_clmul", "serial_crc"]

Wire: TypeAlias = pyrtl.WireVector


def _reversed(x: Wire) -> Wire:
    return pyrtl.concat_list(list(x)[::-1])


def _counted(start: Wire, cycles: int) -> Wire:
    """Return how many cycles the instruction has been in its unit; 0 in the first."""
    count = pyrtl.Register((cycles - 1).bit_length(), "count")
    following = count + 1
    count.next <<= pyrtl.select(start, pyrtl.Const(1, len(count)), following[: len(count)])
    return pyrtl.select(start, pyrtl.Const(0, len(count)), count)


def serial_clmul(instructions: Sequence[str], xlen: int, cycles: int) -> pyrtl.Block:
    """Return clmul, clmulh and clmulr in `cycles` cycles, xlen / cycles bits of rs2 a cycle.

    The product is summed up from the top bits of rs2 down; the other two are that of the operands
    with their bits reversed, reversed. Inputs: rs1, rs2 (xlen), held from the cycle with `start`
    on, and one bit for each instruction, its name after "op_". Output: result (xlen), valid in the
    last cycle.
    """
    bits = xlen // cycles
    with pyrtl.temp_working_block():
        rs1, rs2 = pyrtl.Input(xlen, "rs1"), pyrtl.Input(xlen, "rs2")
        start = pyrtl.Input(1, "start")
        op: Mapping[str, Wire] = {n: pyrtl.Input(1, f"op_{n}") for n in instructions}
        backwards = op["clmulh"] | op["clmulr"]
        count = _counted(start, cycles)
        a = pyrtl.select(backwards, _reversed(rs1), rs1)
        parts = [rs2[i * bits : (i + 1) * bits] for i in range(cycles)]
        # Forwards the top part comes first; backwards the lowest, the bits of each reversed.
        forwards = pyrtl.mux(count, *parts[::-1])
        part = pyrtl.select(backwards, _reversed(pyrtl.mux(count, *parts)), forwards)
        total = pyrtl.Register(xlen, "total")
        kept = pyrtl.select(start, pyrtl.Const(0, xlen), total)
        rows = [pyrtl.concat(kept[: xlen - bits], pyrtl.Const(0, bits))]
        for j in range(bits):
            row = a[: xlen - j] & part[j].sign_extended(xlen - j)
            rows.append(pyrtl.concat(row, pyrtl.Const(0, j)) if j else row)
        product = reduce(lambda x, y: x ^ y, rows)
        total.next <<= product
        turned = _reversed(product)
        high = pyrtl.concat(pyrtl.Const(0, 1), turned[1:])
        result = pyrtl.Output(xlen, "result")
        result <<= pyrtl.select(op["clmulh"], high, pyrtl.select(op["clmulr"], turned, product))
        return pyrtl.working_block()


def serial_crc(instructions: Sequence[str], xlen: int, cycles: int) -> pyrtl.Block:
    """Return crc32 and crc32c of a byte, half and word, a byte a cycle; `cycles` is that of a word.

    Inputs and output as of `serial_clmul`, without rs2; the result is valid in the cycle after the
    last byte.
    """
    if xlen != 32 or cycles != 4:
        raise ValueError(f"a serial CRC takes 4 cycles for 32 bits, not {cycles} for {xlen}")
    with pyrtl.temp_working_block():
        rs1, start = pyrtl.Input(xlen, "rs1"), pyrtl.Input(1, "start")
        op: Mapping[str, Wire] = {n: pyrtl.Input(1, f"op_{n}") for n in instructions}
        castagnoli = reduce(lambda x, y: x | y, [w for n, w in op.items() if "c32c" in n])
        register = pyrtl.Register(xlen, "register")
        x = list(pyrtl.select(start, rs1, register))
        for _ in range(8):
            low = x[0]
            only = {True: low & castagnoli, False: low & ~castagnoli}
            x = [*x[1:], pyrtl.Const(0, 1)]
            for i in range(xlen):
                ieee, other = (POLYNOMIALS[n] >> i & 1 for n in ("crc32", "crc32c"))
                if ieee or other:
                    x[i] = x[i] ^ (low if ieee and other else only[bool(other)])
        register.next <<= pyrtl.concat_list(x)
        result = pyrtl.Output(xlen, "result")
        result <<= register
        return pyrtl.working_block()


SERIAL = {
    frozenset({"clmul", "clmulh", "clmulr"}): serial_clmul,
    frozenset(f"{n}.{size}" for n in POLYNOMIALS for size in "bhw"): serial_crc,
}
"""Builders by the instructions that they do."""
