"""Extension: one block of hardware for all instructions that are added to a core."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TypeAlias

import pyrtl

from hw.area import Cost, bitblast, estimate
from hw.joint import alone, joined
from hw.lower import Circuits, lower
from hw.merge import Choice, any_of, merge
from hw.sharing import share_lookups
from hw.technology import Technology
from hw.xors import share_xors
from isa.bits import Bits, arg, substitute
from isa.encoding import Immediate
from isa.instruction import REGISTER_SOURCES, Effects, Instruction

__all__ = [
    "ExtensionLogic",
    "build_datapath",
    "build_extension",
    "extension_logic",
    "matches",
    "unit_arrivals",
]

Wire: TypeAlias = pyrtl.WireVector

_FIELDS = ((0, 7), (7, 12), (12, 15), (15, 20), (20, 25), (25, 32))
"""Fields of an instruction word, so that comparisons of equal fields are one comparator."""


@dataclass(frozen=True)
class ExtensionLogic:
    """Wires of the extension in the working block.

    Attributes:
        is_ext: 1 bit, the word is one of the extension's instructions.
        writes_rd: 1 bit, and that instruction has a destination register.
        result: xlen bits, its result; without meaning where `writes_rd` is 0.
        selected: 1 bit for each instruction by name.
        state: register of each architectural state element by name.
    """

    is_ext: Wire
    writes_rd: Wire
    result: Wire
    selected: Mapping[str, Wire]
    state: Mapping[str, pyrtl.Register]


def matches(instr: Wire, instructions: Sequence[Instruction]) -> dict[str, Wire]:
    """Return for each instruction, by name, a bit that says whether `instr` encodes it.

    The fixed bits of each field of the word are compared once for all instructions.
    """
    comparators: dict[tuple[int, int], Wire] = {}

    def compare(mask: int, match: int) -> Wire:
        found = comparators.get((mask, match))
        if found is None:
            positions = [i for i in range(32) if mask >> i & 1]
            value = sum((match >> p & 1) << i for i, p in enumerate(positions))
            bits = pyrtl.concat_list([instr[p] for p in positions])
            found = comparators[mask, match] = bits == pyrtl.Const(value, len(positions))
        return found

    result = {}
    for instruction in instructions:
        parts = []
        for low, high in _FIELDS:
            mask = instruction.encoding.mask & ((1 << high) - (1 << low))
            if mask:
                parts.append(compare(mask, instruction.encoding.match & mask))
        result[instruction.name] = reduce(lambda a, b: a & b, parts)
    return result


def extension_logic(
    instructions: Sequence[Instruction],
    xlen: int,
    circuits: Circuits,
    *,
    instr: Wire,
    operands: Mapping[str, Wire],
    commit: Wire,
) -> ExtensionLogic:
    """Build decoder, datapaths, result selection and state in the working block.

    All datapaths stand on the same operand wires and are merged (`hw.joint`, `hw.sharing`,
    `hw.xors`, `hw.merge`), so that what two instructions share is built once. One cycle: `result`
    follows the inputs combinationally, and state registers take their new value at the end of a
    cycle in which `commit` is 1 and the word is one that writes them. Registers start at 0.

    Args:
        instructions: Register-to-register instructions whose encodings do not overlap, as an
            `InstructionSet` ensures.
        xlen: Width of the operands, 32 or 64.
        circuits: Circuit for each table by name; tables without one become multiplexers.
        instr: Instruction word, 32 bits; immediates are taken from it.
        operands: "rs1", "rs2" and, where an instruction reads them, "rs3" and "pc".
        commit: 1 bit, the instruction in this cycle takes effect.

    Raises:
        ValueError: when an instruction accesses memory, jumps or calls the host.
    """
    immediates: dict[str, Immediate] = {}
    effects = [_effects(i, xlen, immediates) for i in instructions]
    widths: dict[str, int] = {}
    for instruction in instructions:
        for name in (*instruction.reads_state, *(n for n, _ in _state_of(instruction, xlen))):
            widths[name] = instruction.state[name]
    state = {name: pyrtl.Register(width, name) for name, width in widths.items()}
    env: dict[str, Wire] = {**operands, **state}
    env.update((name, _immediate(instr, i)) for name, i in immediates.items())

    selected = matches(instr, instructions)
    select = {name: arg(f"select {name}", 1) for name in selected}
    env.update((str(select[name].attr), wire) for name, wire in selected.items())

    valued: list[Instruction] = []
    results: list[Choice] = []
    updates: dict[str, list[Choice]] = {name: [] for name in state}
    for instruction, e in zip(instructions, effects, strict=True):
        chosen = select[instruction.name]
        if e.rd is not None:
            valued.append(instruction)
            results.append((e.rd, chosen))
        for name, value in e.state:
            updates[name].append((value, chosen))
    results, circuits = share_lookups(joined(valued, results, xlen, circuits), circuits)
    results = share_xors(results)
    roots = [any_of(select.values()), any_of(s for _, s in results), merge(results, xlen)]
    for name, choices in updates.items():
        roots += [any_of(s for _, s in choices), merge(choices, widths[name])]
    is_ext, writes_rd, result, *rest = lower(roots, env, circuits)
    for register, enable, value in zip(state.values(), rest[::2], rest[1::2], strict=True):
        register.next <<= pyrtl.select(enable & commit, value, register)
    return ExtensionLogic(is_ext, writes_rd, result, selected, state)


def _state_of(instruction: Instruction, xlen: int) -> tuple[tuple[str, Bits], ...]:
    return instruction.effects(xlen).state


def _effects(instruction: Instruction, xlen: int, immediates: dict[str, Immediate]) -> Effects:
    """Return the effects, with an immediate renamed where its name is taken by other bits."""
    effects = instruction.effects(xlen)
    if effects.load or effects.store or effects.next_pc or effects.host:
        raise ValueError(
            f"instruction of an extension unit must compute rd or state, not {instruction.name}, "
            f"a {instruction.kind}; the core itself executes it"
        )
    renamed: dict[Bits, Bits] = {}
    for immediate in instruction.encoding.immediates:
        if immediate.name not in instruction.parameters:
            continue
        name = immediate.name
        while immediates.setdefault(name, immediate) != immediate:
            name += "'"
        if name != immediate.name:
            renamed[arg(immediate.name, immediate.width)] = arg(name, immediate.width)
    if not renamed:
        return effects
    return Effects(
        rd=None if effects.rd is None else substitute(effects.rd, renamed),
        state=tuple((name, substitute(value, renamed)) for name, value in effects.state),
    )


def _immediate(instr: Wire, immediate: Immediate) -> Wire:
    """Return the immediate's bits, wired from the instruction word."""
    position = {
        low + i: word_low + i for word_low, low, length in immediate.pieces for i in range(length)
    }
    return pyrtl.concat_list(
        [instr[position[i]] if i in position else pyrtl.Const(0, 1) for i in range(immediate.width)]
    )


def _operands(instructions: Sequence[Instruction], xlen: int) -> dict[str, Wire]:
    """Return inputs for rs1 and rs2, and for rs3 and pc where an instruction reads them."""
    read = {p for i in instructions for p in i.parameters}
    names = ["rs1", "rs2", *(n for n in (*REGISTER_SOURCES[2:], "pc") if n in read)]
    return {name: pyrtl.Input(xlen, name) for name in names}


def build_extension(
    instructions: Sequence[Instruction], xlen: int, circuits: Circuits
) -> pyrtl.Block:
    """Return the extension as a block of its own, for its area and its simulation.

    Inputs: instr (32), rs1, rs2, base_result (xlen), commit (1), and rs3 and pc where read.
    Outputs: result (xlen), which is `base_result` unless the word is an instruction of the
    extension that has a destination, and is_ext (1). The multiplexer is part of the price.
    """
    with pyrtl.temp_working_block():
        instr = pyrtl.Input(32, "instr")
        logic = extension_logic(
            instructions,
            xlen,
            circuits,
            instr=instr,
            operands=_operands(instructions, xlen),
            commit=pyrtl.Input(1, "commit"),
        )
        result, is_ext = pyrtl.Output(xlen, "result"), pyrtl.Output(1, "is_ext")
        base = pyrtl.Input(xlen, "base_result")
        result <<= pyrtl.select(logic.writes_rd, logic.result, base)
        is_ext <<= logic.is_ext
        return pyrtl.working_block()


def build_datapath(
    instructions: Sequence[Instruction], xlen: int, circuits: Circuits
) -> pyrtl.Block:
    """Return the merged datapaths of stateless instructions alone, without a decoder.

    Inputs: rs1, rs2 (rs3, pc) where read, the immediates by name, and one bit for each
    instruction, its name after "op_", of which one is 1. Output: result (xlen). What published
    sizes of a functional unit count.

    Raises:
        ValueError: when an instruction reads or writes state, accesses memory or jumps.
    """
    immediates: dict[str, Immediate] = {}
    effects = [_effects(i, xlen, immediates) for i in instructions]
    for instruction in instructions:
        if instruction.state:
            raise ValueError(
                f"instruction of a datapath must have no state, not {instruction.name}; "
                "build the extension instead"
            )
    read = {p for i in instructions for p in i.parameters}
    with pyrtl.temp_working_block():
        sources = [n for n in (*REGISTER_SOURCES, "pc") if n in read]
        env = {name: pyrtl.Input(xlen, name) for name in sources}
        env.update((n, pyrtl.Input(i.width, n)) for n, i in immediates.items())
        choices: list[Choice] = []
        for instruction, e in zip(instructions, effects, strict=True):
            assert e.rd is not None
            select = f"op_{instruction.name}"
            env[select] = pyrtl.Input(1, select)
            choices.append((e.rd, arg(select, 1)))
        choices, circuits = share_lookups(joined(instructions, choices, xlen, circuits), circuits)
        (wire,) = lower([merge(share_xors(choices), xlen)], env, circuits)
        result = pyrtl.Output(xlen, "result")
        result <<= wire
        return pyrtl.working_block()


def unit_arrivals(
    instructions: Sequence[Instruction],
    xlen: int,
    circuits: Circuits,
    technology: Technology,
    starts: Mapping[str, float] | None = None,
    rung: Callable[..., Cost] = estimate,
) -> dict[str, float]:
    """Return when the datapath of each instruction is ready, FO4, on `estimate` or `mapped`.

    Before decode and result selection; with `starts` (see `hw.area.estimate`) after the arrival
    of its operands. What decides how many cycles an instruction needs.
    """
    immediates: dict[str, Immediate] = {}
    effects = [_effects(i, xlen, immediates) for i in instructions]
    with pyrtl.temp_working_block():
        instr = pyrtl.Input(32, "instr")
        env = _operands(instructions, xlen)
        widths = {n: i.state[n] for i in instructions for n in i.reads_state}
        env.update((name, pyrtl.Input(width, name)) for name, width in widths.items())
        env.update((name, _immediate(instr, i)) for name, i in immediates.items())
        effects = [
            replace(e, rd=alone(i, e.rd, xlen, circuits)) if e.rd is not None else e
            for i, e in zip(instructions, effects, strict=True)
        ]
        wires = iter(lower([root for e in effects for root in e.values()], env, circuits))
        for instruction, e in zip(instructions, effects, strict=True):
            for k in range(len(e.values())):
                wire = next(wires)
                output = pyrtl.Output(len(wire), f"{instruction.name} {k}")
                output <<= wire
        graph = bitblast(pyrtl.working_block())
    cost = rung(graph, technology, starts=starts)
    return {
        i.name: max(cost.arrival(f"{i.name} {k}") for k in range(len(e.values())))
        for i, e in zip(instructions, effects, strict=True)
    }
