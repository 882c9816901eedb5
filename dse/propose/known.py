"""Known: what existing instructions compute, so that a proposal can be told it is not new."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product

from dse.propose.meaning import REGISTERS, meaning_of
from isa.bits import Bits, arg, arguments, const, substitute
from isa.instruction import Instruction
from isa.instruction_set import extension_names, extension_parameters, load_extension

LARGEST_IMMEDIATE = 6
"""Immediate bits up to which an instruction is compared for every value of its immediates."""


@dataclass(frozen=True)
class Known:
    """An existing instruction with its immediates fixed.

    Attributes:
        instruction: The instruction.
        immediates: (name, value), in the order of the encoding.
        root: What it computes, over `rs1`, `rs2`.. in the order of its sources.
        operands: Registers it reads.
    """

    instruction: Instruction
    immediates: tuple[tuple[str, int], ...]
    root: Bits
    operands: int

    def __str__(self) -> str:
        values = ", ".join(f"{name}={value}" for name, value in self.immediates)
        return f"{self.instruction.name} {values}".strip()


@cache
def known_instructions(xlen: int) -> dict[bytes, tuple[Known, ...]]:
    """Every register-to-register instruction of `isa/extensions/`, by fingerprint.

    Where several are equal the base set's come first, then ratified extensions (named z*), then
    others, and among these those with fewer immediates.
    """
    found: dict[bytes, tuple[Known, ...]] = {}
    names_seen: set[str] = set()
    names = sorted(extension_names(), key=lambda n: (n[:2] != "rv", n[0] != "z", n))
    for name in names:
        first = {key: values[0] for key, values in extension_parameters(name).items()}
        extension = load_extension(name, **first)
        if xlen not in extension.xlens:
            continue
        chosen = [i for i in extension.instructions if xlen in i.xlens]
        for instruction in sorted(chosen, key=lambda i: len(i.immediates)):
            if instruction.name in names_seen:  # a group such as zkn repeats its members
                continue
            names_seen.add(instruction.name)
            for known in specialisations(instruction, xlen):
                fingerprint = meaning_of(known.root, known.operands).fingerprint
                found[fingerprint] = (*found.get(fingerprint, ()), known)
    return found


def specialisations(instruction: Instruction, xlen: int) -> Iterator[Known]:
    """The instruction for each value of its immediates, if it only computes and they are few."""
    effects = instruction.effects(xlen)
    immediates = instruction.encoding.immediates
    if effects.rd is None or effects.load or effects.next_pc or effects.state or effects.host:
        return
    used = {str(a.attr) for a in arguments([effects.rd])}
    if not used <= {*REGISTERS, *(i.name for i in immediates)}:
        return
    if sum(i.width for i in immediates if i.name in used) > LARGEST_IMMEDIATE:
        return
    read = [i for i in immediates if i.name in used]
    sources = [r for r in REGISTERS if r in instruction.sources]
    ports = {
        arg(source, xlen): arg(port, xlen) for source, port in zip(sources, REGISTERS, strict=False)
    }
    for values in product(*(range(1 << i.width) for i in read)):
        fixed = {
            arg(i.name, i.width): const(value, i.width)
            for i, value in zip(read, values, strict=True)
        }
        named = tuple((i.name, value) for i, value in zip(read, values, strict=True))
        yield Known(instruction, named, substitute(effects.rd, {**ports, **fixed}), len(sources))
