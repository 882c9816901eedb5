"""Bypass: how an instruction gets at results that are not in the register file yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import pyrtl

from hw.decoder import any_wire

Wire: TypeAlias = pyrtl.WireVector


@dataclass(frozen=True)
class Underway:
    """A result on its way to the register file.

    Attributes:
        writes: 1 bit, there is one.
        rd: Its register.
        value: It; None where it is not handed to an instruction that waits for it.
        late: 1 bit, it is not there yet; None where it is. With neither, what reads the register
            waits even if a later instruction writes it too.
    """

    writes: Wire
    rd: Wire
    value: Wire | None = None
    late: Wire | None = None


@dataclass(frozen=True)
class Source:
    """A register that an instruction may read.

    Attributes:
        number: Which one, 5 bits.
        reads: 1 bit, it is read.
        stored: What the register file holds.
    """

    number: Wire
    reads: Wire
    stored: Wire


def bypassed(source: Source, underway: Sequence[Underway]) -> tuple[Wire, Wire]:
    """Build the choice of an operand.

    Args:
        source: Where it is when all is written.
        underway: Results that come after that, the latest first.

    Returns:
        The operand; and 1 bit, it has to be waited for.
    """
    value = source.stored
    unseen: list[Wire] = []
    late: list[Wire] = []
    for result in reversed(underway):
        here = result.writes & (result.rd == source.number)
        if result.value is None and result.late is None:
            unseen.append(here)
            continue
        if result.value is not None:
            value = pyrtl.select(here, result.value, value)
        late = [wait & ~here for wait in late]
        if result.late is not None:
            late.append(source.reads & here & result.late)
    waits = [source.reads & any_wire(unseen[::-1]), *late] if unseen else late
    return value, any_wire(waits)
