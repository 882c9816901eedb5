"""Core: an in-order RV32 or RV64 core in PyRTL, parametric, with a slot for units."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import pyrtl

from hw.decoder import Decoder
from hw.extension import extension_logic
from hw.iterative import with_iterative_units
from hw.lower import Circuits
from hw.pipeline import Ports, build_pipeline
from hw.retired import Retired
from hw.slot import Access, Answer, Command, Coprocessor, Issue, UnitPort, answered, command_of
from isa.core import Core
from isa.instruction_set import InstructionSet
from isa.timing import Latencies

__all__ = ["CoreBlock", "build_core", "core_block"]

Wire: TypeAlias = pyrtl.WireVector

TEXT_WORDS_BITS = 14
"""Address bits of instruction memory in words: 64 KiB from address 0."""
DATA_BYTES_BITS = 18
"""Address bits of data memory in bytes: the lowest 256 KiB of the address space."""


@dataclass(frozen=True)
class CoreBlock:
    """A core with its memories, for simulation.

    Attributes:
        block: The PyRTL block. Outputs: retire_valid, retire_pc, write_enable, write_rd,
            write_value, and store_enable, store_address, store_data, store_bytes.
        instruction_memory: Words by word address; None where they are among the data.
        data_lanes: One memory of bytes for each byte of a word of xlen bits, lowest first, by word
            address.
        register_file: x0 to x31.
        state: Register of each architectural state element.
    """

    block: pyrtl.Block
    instruction_memory: pyrtl.MemBlock | None
    data_lanes: tuple[pyrtl.MemBlock, ...]
    register_file: pyrtl.MemBlock
    state: Mapping[str, pyrtl.Register]


def build_core(
    core: Core,
    instructions: InstructionSet,
    latencies: Latencies | None = None,
    circuits: Circuits | None = None,
    coprocessor: Coprocessor | None = None,
) -> CoreBlock:
    """Build a core with its memories and the units that the instruction set asks for.

    Args:
        core: Pipeline parameters.
        instructions: What it executes. What the shared arithmetic cannot do goes to units.
        latencies: Cycles in EX of instructions that units execute.
        circuits: Circuit for each table by name, see `hw.units.circuits_for`.
        coprocessor: What executes commands, and data memory is reached through.

    Raises:
        ValueError: A core, an instruction or a latency that cannot be built.
    """
    decoder = _check(core, instructions, latencies or {})
    if decoder.commands and coprocessor is None:
        raise ValueError(
            "a core with commands must have a co-processor, "
            f"not none for {decoder.commands[0].name}"
        )
    core = core.canonical()
    with pyrtl.temp_working_block():
        separate = core.memory == "separate"
        text = _memory(32, TEXT_WORDS_BITS, "instruction_memory") if separate else None
        count = core.xlen // 8
        bits = DATA_BYTES_BITS - count.bit_length() + 1
        ports_of = 1 if coprocessor is None else None  # as many as the words it accesses at once
        lanes = [_memory(8, bits, f"data_memory_{i}", ports_of) for i in range(count)]
        registers = _register_file(core)
        state: dict[str, pyrtl.Register] = {}
        ports = Ports(
            None if text is None else lambda address: _text_port(core, text, address),
            lambda access: _data_port(core, lanes, access),
            _unit_port(decoder, core.xlen, circuits or {}, state),
            registers,
        )
        ports = _with_iterative(core, decoder, ports)
        if coprocessor is not None:
            ports = _attached(ports, decoder, coprocessor)
        retired = build_pipeline(core, decoder, latencies or {}, ports)
        _retire_port(retired)
        return CoreBlock(pyrtl.working_block(), text, tuple(lanes), registers, state)


def core_block(
    core: Core,
    instructions: InstructionSet,
    latencies: Latencies | None = None,
    circuits: Circuits | None = None,
    *,
    joined: bool = False,
    held: bool = False,
) -> pyrtl.Block:
    """Build a core without memories, for its area and its paths.

    Instruction and data memory are ports: output `imem_address` is answered by input `imem_word`
    after the memory's latency, and outputs `dmem_address`, `dmem_data`, `dmem_bytes` and
    `dmem_write` by input `dmem_word`; to time them, start these inputs at the memory's access time.
    A shared port has the latter alone. The register file is a MemBlock, which `hw.area` sets apart.

    Where the set has instructions for units and `joined` is false, the slot is a port too:
    outputs `unit_rs1`, `unit_rs2`, `unit_word`, `unit_commit` and, where read, `unit_rs3` and
    `unit_pc`, inputs `unit_result` and `unit_writes_rd`. The arrival at `unit_rs1` and `unit_rs2`
    is when operands are ready; the latest arrival with only `unit_result` started is what follows
    a unit.

    Where the set has commands for a co-processor, outputs `command_valid`, `command_commit`,
    `command_code`, `command_a` and `command_b` and inputs `command_hold` and `command_result` are
    its port (`hw.slot.Command`); with `held` (a co-processor that uses data memory, or is seen
    through it), `dmem_valid`, `dmem_read` and input `dmem_hold` too (`hw.slot.Access`).
    """
    decoder = _check(core, instructions, latencies or {})
    core = core.canonical()
    with pyrtl.temp_working_block():
        unit = (
            _unit_port(decoder, core.xlen, circuits or {}, {})
            if joined or not decoder.units
            else lambda issue: _open_slot(decoder, issue)
        )
        ports = Ports(
            _open_text if core.memory == "separate" else None,
            lambda access: _open_data(access, held=held),
            unit,
            _register_file(core),
        )
        ports = _with_iterative(core, decoder, ports)
        if decoder.commands:
            ports = replace(ports, unit=_command_port(decoder, _open_command, ports.unit))
        build_pipeline(core, decoder, latencies or {}, ports)
        return pyrtl.working_block()


def _check(core: Core, instructions: InstructionSet, latencies: Latencies) -> Decoder:
    if instructions.xlen != core.xlen:
        raise ValueError(
            f"xlen of core and instruction set must be the same, not {core.xlen} and "
            f"{instructions.xlen}"
        )
    fault = core.fault(instructions)
    if fault:
        raise ValueError(fault)
    decoder = Decoder(instructions, core)
    for name, cycles in sorted(latencies.items()):
        if name not in instructions or not isinstance(cycles, int) or cycles < 1:
            raise ValueError(
                f"latency must be at least 1 cycle, of an instruction of the set, "
                f"not {cycles!r} of {name!r}"
            )
        for way, executed in (
            ("iterative", decoder.iterative),
            ("pipelined", [i for unit in decoder.pipelined.values() for i in unit]),
        ):
            if instructions.by_name[name] in executed:
                raise ValueError(
                    f"latency of {name} must be left to the {way} unit that executes it"
                )
        if cycles > 1 and instructions.by_name[name].kind != "alu":
            raise ValueError(
                f"latency above 1 must be of an instruction that neither accesses memory nor "
                f"jumps, not of {name!r}"
            )
    return decoder


def _memory(width: int, address_bits: int, name: str, ports: int | None = 1) -> pyrtl.MemBlock:
    return pyrtl.MemBlock(width, address_bits, name, ports, ports)


def _register_file(core: Core) -> pyrtl.MemBlock:
    return pyrtl.MemBlock(
        core.xlen, 5, "register_file", max_read_ports=core.read_ports, asynchronous=True
    )


def _delayed(address: Wire, cycles: int, name: str) -> Wire:
    """An address on its way through a memory that answers after `cycles`."""
    for i in range(cycles):
        held = pyrtl.Register(len(address), name if i == 0 else f"{name}_{i}")
        held.next <<= address
        address = held
    return address


def _text_port(core: Core, memory: pyrtl.MemBlock, address: Wire) -> Wire:
    word = address[2 : 2 + TEXT_WORDS_BITS]
    return memory[_delayed(word, core.memory_latency, "imem_held")]


def _data_port(core: Core, lanes: list[pyrtl.MemBlock], access: Access) -> Answer:
    """Data memory, as many words wide as what is accessed."""
    size = len(access.enables)
    row = access.address[size.bit_length() - 1 : DATA_BYTES_BITS]
    written = _delayed(row, 1, "dmem_written")
    read = written if core.memory_latency == 1 else _delayed(row, core.memory_latency, "dmem_held")
    data, enables = pyrtl.Register(8 * size, "dmem_data"), pyrtl.Register(size, "dmem_bytes")
    data.next <<= access.data
    enables.next <<= access.enables & access.write.sign_extended(size)
    bits = (size // len(lanes) - 1).bit_length()
    found = []
    for i in range(size):
        lane = lanes[i % len(lanes)]
        word = [pyrtl.Const(i // len(lanes), bits)] if bits else []
        value = data[8 * i : 8 * i + 8]
        lane[pyrtl.concat(written, *word)] <<= pyrtl.MemBlock.EnabledWrite(value, enables[i])
        found.append(lane[pyrtl.concat(read, *word)])
    _output("store_enable", access.write)
    _output("store_address", access.address)
    _output("store_data", access.data)
    _output("store_bytes", access.enables)
    return Answer(pyrtl.concat_list(found))


def _open_text(address: Wire) -> Wire:
    _output("imem_address", address)
    return pyrtl.Input(32, "imem_word")


def _open_data(access: Access, *, held: bool) -> Answer:
    _output("dmem_address", access.address)
    _output("dmem_data", access.data)
    _output("dmem_bytes", access.enables)
    _output("dmem_write", access.write)
    word = pyrtl.Input(len(access.data), "dmem_word")
    if not held:
        return Answer(word)
    _output("dmem_valid", access.valid)
    _output("dmem_read", access.read)
    return Answer(word, pyrtl.Input(1, "dmem_hold"))


def _output(name: str, wire: Wire) -> None:
    output = pyrtl.Output(len(wire), name)
    output <<= wire


def _reads(name: str, decoder: Decoder) -> bool:
    return any(name in unit.parameters for unit in decoder.units)


def _open_slot(decoder: Decoder, issue: Issue) -> Answer:
    _output("unit_word", issue.instr)
    _output("unit_rs1", issue.rs1)
    _output("unit_rs2", issue.rs2)
    if _reads("pc", decoder):
        _output("unit_pc", issue.pc)
    if issue.rs3 is not None and _reads("rs3", decoder):
        _output("unit_rs3", issue.rs3)
    _output("unit_commit", issue.commit)
    result = pyrtl.Input(len(issue.result), "unit_result")
    return Answer(pyrtl.select(pyrtl.Input(1, "unit_writes_rd"), result, issue.result))


def _unit_port(
    decoder: Decoder, xlen: int, circuits: Circuits, state: dict[str, pyrtl.Register]
) -> UnitPort:
    """The slot with the units in it; their state registers are noted in `state`."""

    def build(issue: Issue) -> Answer:
        if not decoder.units:
            return Answer(issue.result)
        logic = extension_logic(
            decoder.units,
            xlen,
            circuits,
            instr=issue.instr,
            operands=_operands(issue),
            commit=issue.commit,
        )
        state.update(logic.state)
        return Answer(pyrtl.select(logic.writes_rd, logic.result, issue.result))

    return build


def _operands(issue: Issue) -> dict[str, Wire]:
    """What a unit may read, by name."""
    found = {"rs1": issue.rs1, "rs2": issue.rs2, "pc": issue.pc}
    return found if issue.rs3 is None else {**found, "rs3": issue.rs3}


def _with_iterative(core: Core, decoder: Decoder, ports: Ports) -> Ports:
    if not decoder.iterative:
        return ports
    return replace(ports, unit=with_iterative_units(core, decoder.iterative, ports.unit))


def _attached(ports: Ports, decoder: Decoder, coprocessor: Coprocessor) -> Ports:
    """Ports of a core that a co-processor stands beside."""
    unit = ports.unit
    if decoder.commands:
        unit = _command_port(decoder, coprocessor.command, unit)

    def data(access: Access) -> Answer:
        found = coprocessor.access(access, ports.data)
        return Answer(found.value, None if found.hold is None else access.valid & found.hold)

    return replace(ports, unit=unit, data=data)


def _command_port(
    decoder: Decoder, execute: Callable[[Command], Answer], otherwise: UnitPort
) -> UnitPort:
    """The slot with a co-processor in it beside what is there already."""

    def build(issue: Issue) -> Answer:
        command = command_of(decoder.commands, issue)
        found, rest = execute(command), otherwise(issue)
        hold = None if found.hold is None else command.valid & found.hold
        value = pyrtl.select(command.valid, found.value, rest.value)
        return Answer(value, answered(hold, rest.hold))

    return build


def _open_command(command: Command) -> Answer:
    _output("command_valid", command.valid)
    _output("command_commit", command.commit)
    _output("command_code", command.code)
    _output("command_a", command.a)
    _output("command_b", command.b)
    result = pyrtl.Input(len(command.a), "command_result")
    return Answer(result, pyrtl.Input(1, "command_hold"))


def _retire_port(retired: Retired) -> None:
    _output("retire_valid", retired.valid)
    _output("retire_pc", retired.pc)
    _output("write_enable", retired.writes)
    _output("write_rd", retired.rd)
    _output("write_value", retired.value)
