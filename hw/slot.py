"""Slot: how the execute stage of a core meets units, co-processors and memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import pyrtl

from hw.decoder import immediate_bits
from hw.extension import matches
from hw.lower import lower
from hw.merge import any_of, merge
from isa.bits import Bits, arg, const
from isa.coprocessor import COMMANDS
from isa.instruction import Instruction

__all__ = [
    "Access",
    "Answer",
    "Command",
    "Coprocessor",
    "DataPort",
    "Issue",
    "UnitPort",
    "answered",
    "command_of",
]

Wire: TypeAlias = pyrtl.WireVector


@dataclass(frozen=True)
class Issue:
    """The instruction in EX. Its word and operands stand still as long as it is there.

    Attributes:
        valid: 1 bit, there is one, on the right path and with its operands.
        commit: 1 bit, this is its last cycle in EX, in which it takes effect.
        instr: Its word, 32 bits; expanded if it is compressed.
        rs1: First operand, xlen bits.
        rs2: Second operand.
        rs3: Third operand; None where the register file has no port for it.
        pc: Its address.
        result: What the core itself makes of it, xlen bits.
    """

    valid: Wire
    commit: Wire
    instr: Wire
    rs1: Wire
    rs2: Wire
    rs3: Wire | None
    pc: Wire
    result: Wire


@dataclass(frozen=True)
class Access:
    """What EX asks of data memory.

    Attributes:
        valid: 1 bit, a load or store is in EX, on the right path and with its operands.
        read: 1 bit, it is a load that takes the word with which memory answers to this cycle.
        address: Of the access, xlen bits.
        data: The word to store, its bytes where they belong.
        enables: Which bytes of the word are meant, a bit each.
        write: 1 bit, it is a store, whose bytes are written at the end of this cycle.
    """

    valid: Wire
    read: Wire
    address: Wire
    data: Wire
    enables: Wire
    write: Wire


@dataclass(frozen=True)
class Answer:
    """The answer to an `Issue` or an `Access`.

    Attributes:
        value: For an issue the value for rd, in the last cycle in EX; for an access the word at
            the address, in the next cycle.
        hold: 1 bit, the instruction stays in EX for a cycle more than it would; looked at where
            `valid` is 1, and not to be made from `commit`, `read` or `write`. The cycles that it
            stays there of itself come after those for which it is held. None: never held.
    """

    value: Wire
    hold: Wire | None = None


UnitPort: TypeAlias = Callable[[Issue], Answer]
DataPort: TypeAlias = Callable[[Access], Answer]


def answered(*holds: Wire | None) -> Wire | None:
    """OR of what holds an instruction; None if nothing ever does."""
    found: Wire | None = None
    for hold in holds:
        if hold is not None:
            found = hold if found is None else found | hold
    return found


@dataclass(frozen=True)
class Command:
    """A command to a co-processor in EX.

    Attributes:
        valid: 1 bit, from the first to the last of its cycles in EX.
        commit: 1 bit, in the last of them.
        code: Which one, its place in `isa.coprocessor.COMMANDS`, 3 bits.
        a: First operand, xlen bits; without meaning where the command has none.
        b: Second operand.
    """

    valid: Wire
    commit: Wire
    code: Wire
    a: Wire
    b: Wire


def command_of(commands: Sequence[Instruction], issue: Issue) -> Command:
    """Build the decoder of commands in the working block; an immediate has one place in all.

    Args:
        commands: Instructions whose effect is a command.
        issue: The instruction in EX.
    """
    xlen = len(issue.rs1)
    env: dict[str, Wire] = {"rs1": issue.rs1, "rs2": issue.rs2}
    selected = matches(issue.instr, commands)
    select = {name: arg(f"select {name}", 1) for name in selected}
    env.update((str(select[name].attr), wire) for name, wire in selected.items())
    operands: dict[str, list[tuple[Bits, Bits]]] = {"a": [], "b": [], "code": []}
    for instruction in commands:
        command = instruction.effects(xlen).command
        assert command is not None
        chosen = select[instruction.name]
        for immediate in instruction.encoding.immediates:
            env.setdefault(
                immediate.name, pyrtl.concat_list(immediate_bits(issue.instr, immediate))
            )
        operands["code"].append((const(COMMANDS.index(command.name), 3), chosen))
        for name, value in (("a", command.a), ("b", command.b)):
            if value is not None:
                operands[name].append((value, chosen))
    widths = {"a": xlen, "b": xlen, "code": 3}
    roots = [any_of(select.values()), *(merge(operands[n], w) for n, w in widths.items())]
    is_command, a, b, code = lower(roots, env, {})
    return Command(issue.valid & is_command, issue.commit & is_command, code, a, b)


class Coprocessor(Protocol):
    """What stands beside a core: it executes commands, and data memory is reached through it."""

    def command(self, command: Command) -> Answer:
        """Build the answer to commands in the working block; called once if the set has any."""

    def access(self, access: Access, memory: DataPort) -> Answer:
        """Build the answer to loads and stores in the working block; called once, after `command`.

        Args:
            access: What the core asks.
            memory: Data memory, to be called once, with an access of the core or of its own.
        """
