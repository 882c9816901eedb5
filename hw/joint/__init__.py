"""Joint: circuits written for several instructions at once, where merging meanings does not do.

`hw.merge` shares an operator of two meanings when all operands but one are the same. Here what is
shared is found by hand: a right shift serves left shifts and rotations, one network of exchanges
gathers, scatters and reverses bits. One file each, found without a list of them; each is equal to
the meanings of its instructions (tests/hw/test_joint.py) and used where it is smaller, or where a
design says so by the name of its unit (`hw/units/joint.py`).
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import pyrtl

from hw.area import estimate
from hw.lower import Circuits, lower
from hw.merge import Choice, any_of, merge
from hw.technology import Technology
from isa.bits import Bits, arg, arguments, const
from isa.instruction import REGISTER_SOURCES, Instruction

__all__ = ["AUTO", "MERGED", "Joint", "Wanted", "Way", "alone", "joined", "joints", "register"]


@dataclass(frozen=True)
class Wanted:
    """An instruction: the one bit that says that it is wanted, and its immediate if it has one."""

    select: Bits
    immediate: Bits | None


@dataclass(frozen=True)
class Joint:
    """A circuit for several instructions.

    Attributes:
        name: Its name.
        unit: What it is a way to build, by the name that designs use.
        instructions: What it can do.
        build: Its result for those of the instructions that there are, and the register width.
        source: Whence the idea is.
        is_slower: Than the merged meanings: built only where a design names it.
    """

    name: str
    unit: str
    instructions: tuple[str, ...]
    build: Callable[[Mapping[str, Wanted], int], Bits]
    source: str
    is_slower: bool = False


AUTO, MERGED = "auto", "merged"
"""Ways to build a unit beside its circuits: what is smaller, and the merged meanings."""


@dataclass(frozen=True)
class Way:
    """A way to build a unit, for `hw.lower.Circuits`: not the circuit of a table, but its name."""

    name: str

    def __call__(self, x: pyrtl.WireVector) -> pyrtl.WireVector:
        """Refuse, as no table has the name of a unit."""
        raise TypeError(f"{self.name} must be a way to build instructions, not a table's circuit")


_registry: dict[str, Joint] = {}


def register(joint: Joint) -> Joint:
    """Add a circuit."""
    _registry[joint.name] = joint
    return joint


@cache
def _discover() -> None:
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda m: m.name):
        importlib.import_module(f"{__name__}.{module.name}")


def joints() -> tuple[Joint, ...]:
    """Return all circuits, by name."""
    _discover()
    return tuple(_registry[name] for name in sorted(_registry))


def joined(
    instructions: Sequence[Instruction],
    choices: Sequence[Choice],
    xlen: int,
    circuits: Circuits | None = None,
) -> list[Choice]:
    """Return choices in which those that a joint circuit does in fewer gates are one.

    `choices` are value and select of each of the instructions, in their order. The result has the
    meaning of `hw.merge.merge`: it holds where one select is 1. A `Way` in `circuits`, by the name
    of its unit, decides instead of the gates.
    """
    remaining = {i.name: (i, choice) for i, choice in zip(instructions, choices, strict=True)}
    done: list[Choice] = []
    for joint in joints():
        mine = [remaining[n] for n in joint.instructions if n in remaining]
        name = _named(joint, circuits)
        wins = not joint.is_slower and name == AUTO
        if mine and (
            name == joint.name or (wins and _is_smaller(joint, tuple(i for i, _ in mine), xlen))
        ):
            done.append(_one(joint, [i.name for i, _ in mine], [c for _, c in mine], xlen))
            for i, _ in mine:
                del remaining[i.name]
    return [*(choice for _, choice in remaining.values()), *done]


def alone(instruction: Instruction, value: Bits, xlen: int, circuits: Circuits) -> Bits:
    """Return `value`, what an instruction computes, as the way that a design names builds it."""
    for joint in joints():
        if instruction.name in joint.instructions and _named(joint, circuits) == joint.name:
            wanted = _wanted((value, const(1, 1)))
            return joint.build({instruction.name: wanted}, xlen)
    return value


def _named(joint: Joint, circuits: Circuits | None) -> str:
    """The way to build its unit."""
    way = (circuits or {}).get(joint.unit)
    return way.name if isinstance(way, Way) else AUTO


def _one(joint: Joint, names: Sequence[str], choices: Sequence[Choice], xlen: int) -> Choice:
    """Return the joint circuit for these choices, as one."""
    wanted = {name: _wanted(choice) for name, choice in zip(names, choices, strict=True)}
    return joint.build(wanted, xlen), any_of(select for _, select in choices)


@lru_cache(maxsize=256)
def _is_smaller(joint: Joint, instructions: tuple[Instruction, ...], xlen: int) -> bool:
    """Whether the joint circuit has a smaller estimated area than the merged meanings."""
    choices = []
    for instruction in instructions:
        value = instruction.effects(xlen).rd
        assert value is not None
        choices.append((value, arg(f"select {instruction.name}", 1)))
    together, _ = _one(joint, [i.name for i in instructions], choices, xlen)
    return _area_ge(together) < _area_ge(merge(choices, xlen))


def _area_ge(value: Bits) -> float:
    with pyrtl.temp_working_block():
        env = {str(a.attr): pyrtl.Input(a.width, str(a.attr)) for a in arguments([value])}
        (wire,) = lower([value], env, {})
        output = pyrtl.Output(len(wire), "y")
        output <<= wire
        return estimate(pyrtl.working_block(), Technology("ge")).area_ge


def _wanted(choice: Choice) -> Wanted:
    value, select = choice
    read = [a for a in arguments([value]) if str(a.attr) not in (*REGISTER_SOURCES, "pc")]
    return Wanted(select, read[0] if read else None)
