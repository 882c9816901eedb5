"""Iterative: multipliers and dividers that take a step a cycle and hold their instruction in EX.

They read the operands where they stand (`hw.slot.Issue`), so only what changes is in registers.
Their cycles are those of `isa.iterative`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TypeAlias

import pyrtl

from hw.decoder import any_wire
from hw.extension import matches
from hw.slot import Answer, Issue, UnitPort, answered
from isa.core import Core
from isa.instruction import Instruction
from isa.iterative import cycles_of, operation_of

__all__ = ["with_iterative_units"]

Wire: TypeAlias = pyrtl.WireVector


def with_iterative_units(
    core: Core, instructions: Sequence[Instruction], otherwise: UnitPort
) -> UnitPort:
    """The slot with the iterative units of a core beside what is there already.

    Args:
        core: Says how many bits each does a cycle.
        instructions: Those that they execute.
        otherwise: The rest of the slot.
    """

    def build(issue: Issue) -> Answer:
        found = otherwise(issue)
        value, holds = found.value, [found.hold]
        selected = matches(issue.instr, instructions)
        asked: dict[str, dict[str, Wire]] = {}
        for instruction in instructions:
            operation = operation_of(core, instruction)
            assert operation is not None
            asked.setdefault(operation[0], {})[operation[1]] = selected[instruction.name]
        for unit, operations in asked.items():
            mine = issue.valid & any_wire(list(operations.values()))
            step = _Step.of(unit, mine, cycles_of(core, unit))
            one_of = _OneOf(operations)
            result = _BUILD[unit](issue.rs1, issue.rs2, getattr(core, unit), step, one_of)
            value = pyrtl.select(mine, result, value)
            holds.append(mine & ~step.last)
        return Answer(value, answered(*holds))

    return build


@dataclass(frozen=True)
class _OneOf:
    """Whether the instruction is one of some operations, by name."""

    operations: dict[str, Wire]

    def __call__(self, names: Iterable[str]) -> Wire:
        return any_wire([self.operations[n] for n in names if n in self.operations])


@dataclass(frozen=True)
class _Step:
    """Where a unit is: `first` and `last` of its cycles, `final` the last but one."""

    first: Wire
    final: Wire
    last: Wire

    @classmethod
    def of(cls, unit: str, runs: Wire, cycles: int) -> _Step:
        """Count the cycles for which `runs` is 1."""
        count = pyrtl.Register((cycles - 1).bit_length(), f"{unit}_count")
        last = count == cycles - 1
        following = Wire(bitwidth=len(count) + 1)
        following <<= count + pyrtl.Const(1, len(count))
        count.next <<= pyrtl.select(
            runs & ~last, following[: len(count)], pyrtl.Const(0, len(count))
        )
        return cls(count == 0, count == cycles - 2, last)


Build: TypeAlias = Callable[[Wire, Wire, int, _Step, _OneOf], Wire]


def _multiplier(a: Wire, b: Wire, bits: int, step: _Step, one_of: _OneOf) -> Wire:
    """Product, the lowest digit of b first; upper half in `high`, lower half and digits in `low`.

    With a signed and b signed where the operation says so: the sign of a weighs -2^width, the top
    bit of the last digit counts negative.
    """
    width, total = len(a), len(a) + 1 + bits
    high, low = pyrtl.Register(width + 1, "product_high"), pyrtl.Register(width, "product_low")
    digits = pyrtl.select(step.first, b, low)
    digit = digits[:bits]
    a_sign = a[-1] & one_of(["mulh", "mulhsu"])
    minus = digit[-1] & step.final & one_of(["mulh"])
    extended = pyrtl.concat(a_sign, a)
    partial = _named(a * digit)[: width + bits].zero_extended(total)
    so_far = pyrtl.select(step.first, pyrtl.Const(0, width + 1), high).sign_extended(total)
    sum_ = _modulo(so_far + partial, total)
    sum_ = _modulo(sum_ - _at(digit & a_sign.sign_extended(bits), width, total), total)
    sum_ = _modulo(sum_ - _at(extended & minus.sign_extended(width + 1), bits, total), total)
    high.next <<= sum_[bits:]
    low.next <<= _shifted_in(sum_[:bits], digits)
    result = pyrtl.select(one_of(["mulh", "mulhsu", "mulhu"]), high[:width], low)
    return _word(result, one_of(["mulw"]))


def _carryless(a: Wire, b: Wire, bits: int, step: _Step, one_of: _OneOf) -> Wire:
    """Carry-less product, the lowest digit of b first, in registers as those of the product."""
    width = len(a)
    high, low = pyrtl.Register(width, "carryless_high"), pyrtl.Register(width, "carryless_low")
    digits = pyrtl.select(step.first, b, low)
    rows = [_at(a & digits[i].sign_extended(width), i, width + bits) for i in range(bits)]
    so_far = pyrtl.select(step.first, pyrtl.Const(0, width), high).zero_extended(width + bits)
    sum_ = reduce(lambda x, y: x ^ y, rows, so_far)
    high.next <<= sum_[bits:]
    low.next <<= _shifted_in(sum_[:bits], digits)
    result = pyrtl.select(one_of(["clmulh"]), high, low)
    reversed_ = pyrtl.concat(high[: width - 1], low[-1])
    return pyrtl.select(one_of(["clmulr"]), reversed_, result)


def _divider(a: Wire, b: Wire, bits: int, step: _Step, one_of: _OneOf) -> Wire:
    """Restoring division; the dividend moves out of `quotient` as the quotient moves in.

    The first cycle makes the dividend positive; the divisor is added where it is negative, and
    subtracted else; the last cycle gives the result its sign.
    """
    width = len(a)
    is_signed = one_of(["div", "rem", "divw", "remw"])
    is_word = one_of(["divw", "divuw", "remw", "remuw"])
    if width == 64:
        a, b = (_operand_word(x, is_word, is_signed) for x in (a, b))
    remainder = pyrtl.Register(width, "remainder")
    quotient = pyrtl.Register(width, "quotient")
    a_minus, b_minus = is_signed & a[-1], is_signed & b[-1]
    divisor = pyrtl.concat(b_minus, b) ^ (~b_minus).sign_extended(width + 1)
    rest, digits = remainder, quotient
    for _ in range(bits):
        shifted = pyrtl.concat(rest, digits[-1])
        carried = pyrtl.concat(shifted, pyrtl.Const(1, 1)), pyrtl.concat(divisor, ~b_minus)
        difference = _named(carried[0] + carried[1])
        fits = difference[-1]
        rest = pyrtl.select(fits, difference[1 : width + 1], shifted[:width])
        digits = pyrtl.concat(digits[:-1], fits)
    remainder.next <<= pyrtl.select(step.first, pyrtl.Const(0, width), rest)
    quotient.next <<= pyrtl.select(step.first, _negated(a, a_minus), digits)
    wants_rest = one_of(["rem", "remu", "remw", "remuw"])
    minus = pyrtl.select(wants_rest, a_minus, (a_minus ^ b_minus) & (b != 0))
    result = _negated(pyrtl.select(wants_rest, remainder, quotient), minus)
    return _word(result, is_word)


_BUILD: dict[str, Build] = {
    "multiplier": _multiplier,
    "carryless": _carryless,
    "divider": _divider,
}


def _named(wire: Wire) -> Wire:
    """A wire of its own for an arithmetic result, as PyRTL's exporter needs it."""
    own = Wire(bitwidth=len(wire))
    own <<= wire
    return own


def _modulo(wire: Wire, width: int) -> Wire:
    return _named(wire)[:width]


def _at(value: Wire, low: int, width: int) -> Wire:
    """`value` from bit `low` on, in a word of `width` bits."""
    return pyrtl.concat_list([*([pyrtl.Const(0, low)] if low else []), value]).zero_extended(width)


def _shifted_in(digit: Wire, word: Wire) -> Wire:
    """`word` moved down by a digit, which enters at the top."""
    return pyrtl.concat(digit, word[len(digit) :]) if len(digit) < len(word) else digit


def _negated(value: Wire, minus: Wire) -> Wire:
    width = len(value)
    return _modulo((value ^ minus.sign_extended(width)) + minus.zero_extended(width), width)


def _word(value: Wire, is_word: Wire) -> Wire:
    """The lower 32 bits sign-extended where `is_word`."""
    if len(value) == 32:
        return value
    return pyrtl.select(is_word, value[:32].sign_extended(64), value)


def _operand_word(value: Wire, is_word: Wire, is_signed: Wire) -> Wire:
    """The lower 32 bits extended where `is_word`."""
    upper = (is_signed & value[31]).sign_extended(32)
    return pyrtl.concat(pyrtl.select(is_word, upper, value[32:]), value[:32])
