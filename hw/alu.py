"""ALU: the arithmetic that the instructions of a core share, and the formatting of memory data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import pyrtl

from hw.decoder import Control

Wire: TypeAlias = pyrtl.WireVector


@dataclass(frozen=True)
class Executed:
    """Results of the execute stage.

    Attributes:
        result: Value for rd, xlen bits.
        address: Address of a memory access, xlen bits.
        condition: 1 bit, that of a branch holds.
    """

    result: Wire
    address: Wire
    condition: Wire


def execute(
    control: Control, pc: Wire, rs1: Wire, rs2: Wire, immediate: Wire, link: Wire
) -> Executed:
    """Build the shared arithmetic: an adder that compares too, a shifter and logic.

    Args:
        control: Of the instruction.
        pc: Its address.
        rs1: First operand.
        rs2: Second operand.
        immediate: Its immediate.
        link: Distance to the instruction behind it.
    """
    width = len(rs1)

    def spread(bit: Wire) -> Wire:
        return bit.sign_extended(width)

    a = pyrtl.select(control.a_pc, pc, rs1) & spread(~control.a_zero)
    b = pyrtl.select(control.b_imm, immediate, rs2)
    addend = pyrtl.select(control.b_link, link, b) ^ spread(control.subtract)
    sum_, carry = _sum(a, addend, control.subtract)
    less = ~carry ^ (control.signed & (rs1[-1] ^ b[-1]))

    exclusive = rs1 ^ b
    logic = pyrtl.select(
        control.logic_and, rs1 & b, pyrtl.select(control.logic_or, rs1 | b, exclusive)
    )
    amount = b[: width.bit_length() - 1]
    result = pyrtl.select(control.less, less.zero_extended(width), sum_)
    result = pyrtl.select(control.logic, logic, result)
    result = pyrtl.select(control.shift, _shifted(control, rs1, amount), result)
    if width == 64:
        result = pyrtl.select(control.narrow, result[:32].sign_extended(64), result)
    return Executed(result, sum_, _condition(control, less, exclusive == 0))


def compare(control: Control, rs1: Wire, rs2: Wire) -> Wire:
    """Build a comparator of its own for branches; 1 bit, the condition holds."""
    _, carry = _sum(rs1, ~rs2, pyrtl.Const(1, 1))
    less = ~carry ^ (control.signed & (rs1[-1] ^ rs2[-1]))
    return _condition(control, less, rs1 == rs2)


def _condition(control: Control, less: Wire, equal: Wire) -> Wire:
    return pyrtl.select(control.compare_less, less, equal) ^ control.invert


def _sum(a: Wire, b: Wire, carry: Wire) -> tuple[Wire, Wire]:
    """Sum and carry; one enters below the lowest position, so that there is one adder only."""
    width = len(a)
    total = _named(pyrtl.concat(a, pyrtl.Const(1, 1)) + pyrtl.concat(b, carry))
    return total[1 : width + 1], total[width + 1]


def follow(
    control: Control,
    pc: Wire,
    rs1: Wire,
    immediate: Wire,
    condition: Wire,
    link: Wire,
    predicted: Wire | None = None,
) -> tuple[Wire, Wire]:
    """Build what finds the next instruction.

    Args:
        control: Of the instruction.
        pc: Its address.
        rs1: First operand.
        immediate: Its immediate.
        condition: 1 bit, the condition of a branch holds.
        link: Distance to the instruction behind it.
        predicted: 1 bit, fetch goes on where the instruction leads, else behind it.

    Returns:
        1 bit, fetch has to go on elsewhere; and where.
    """
    taken = control.jump | control.host | (control.branch & condition)
    base = pyrtl.select(control.to_register, rs1, pc)
    if predicted is not None:
        taken, immediate = taken ^ predicted, pyrtl.select(predicted, link, immediate)
    target = _named(base + immediate)[: len(pc)]
    return taken, pyrtl.concat(target[1:], pyrtl.Const(0, 1))


def _shifted(control: Control, value: Wire, amount: Wire) -> Wire:
    """One shifter to the right; a shift to the left goes through it reversed."""
    if len(value) == 64:
        fill = (control.shift_sign & value[31]).sign_extended(32)
        value = pyrtl.concat(pyrtl.select(control.narrow, fill, value[32:]), value[:32])
        amount = pyrtl.concat(amount[5] & ~control.narrow, amount[:5])
    reverse = pyrtl.concat_list(list(value)[::-1])
    x = pyrtl.select(control.shift_left, reverse, value)
    sign = control.shift_sign & value[-1]
    for i in range(len(amount)):
        fill = sign.sign_extended(1 << i)
        x = pyrtl.select(amount[i], pyrtl.concat(fill, x[1 << i :]), x)
    return pyrtl.select(control.shift_left, pyrtl.concat_list(list(x)[::-1]), x)


def _named(wire: Wire) -> Wire:
    """A wire of its own for an arithmetic result, which PyRTL's Verilog exporter needs."""
    own = Wire(bitwidth=len(wire))
    own <<= wire
    return own


def store_lanes(value: Wire, size: Wire, offset: Wire) -> tuple[Wire, Wire]:
    """Place a value to be stored.

    Args:
        value: The register, 32 or 64 bits.
        size: log2 of the bytes stored, 2 bits.
        offset: Lowest bits of the address, 2 or 3, a multiple of the size.

    Returns:
        The memory word with the value in the right bytes, and one write enable a byte.
    """
    if len(value) == 64:
        data, enables = store_lanes(value[:32], size, offset[:2])
        is_double = size[1] & size[0]
        parts = [is_double | ~offset[2], is_double | offset[2]]
        return (
            pyrtl.select(is_double, value, pyrtl.concat(data, data)),
            pyrtl.concat_list([enables & part.sign_extended(4) for part in parts]),
        )
    byte, half = value[0:8], value[0:16]
    is_word, is_half = size[1], size[0]
    data = pyrtl.select(
        is_word,
        value,
        pyrtl.select(is_half, pyrtl.concat(half, half), pyrtl.concat(byte, byte, byte, byte)),
    )
    enables = []
    for lane in range(4):
        same_half = offset[1] == (lane >> 1)
        same_byte = same_half & (offset[0] == (lane & 1))
        enables.append(is_word | pyrtl.select(is_half, same_half, same_byte))
    return data, pyrtl.concat_list(enables)


def loaded_value(word: Wire, size: Wire, offset: Wire, signed: Wire) -> Wire:
    """Pick and extend the bytes that a load of `size` at `offset` asks for, from a memory word."""
    if len(word) == 64:
        part = pyrtl.select(offset[2], word[32:], word[:32])
        low = loaded_value(part, size, offset[:2], signed)
        value = pyrtl.concat((signed & low[31]).sign_extended(32), low)
        return pyrtl.select(size[1] & size[0], word, value)
    half = pyrtl.select(offset[1], word[16:32], word[0:16])
    byte = pyrtl.select(offset[0], half[8:16], half[0:8])
    is_word, is_half = size[1], size[0]
    sign = signed & pyrtl.select(is_half, half[15], byte[7])
    low = pyrtl.select(is_half, half, pyrtl.concat(sign.sign_extended(8), byte))
    return pyrtl.select(is_word, word, pyrtl.concat(sign.sign_extended(16), low))
