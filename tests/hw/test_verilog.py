from __future__ import annotations

import random
import re
import subprocess
import sys
from pathlib import Path

import pyrtl
import pytest

from hw import icarus
from hw.cosim import Netlist
from hw.extension import build_extension
from hw.icarus import IcarusError, simulate
from hw.identifiers import Identifiers, is_identifier
from hw.units import circuits_for, table_names
from hw.verilog import verilog
from isa.core import Core
from isa.instruction_set import InstructionSet, load_extension
from tests.cosim.random_program import random_program
from tests.hw.traces import icarus_trace, needs_icarus, pyrtl_trace, stimuli


def small() -> pyrtl.Block:
    """A block with everything that PyRTL's own exporter gets wrong."""
    with pyrtl.temp_working_block():
        a, b = pyrtl.Input(4, "always"), pyrtl.Input(4, "b c")
        total, borrow = pyrtl.Output(5, "to.tal"), pyrtl.Output(5, "to_tal")
        total <<= ~a + b
        borrow <<= ~a - b
        wide = pyrtl.Output(10, "wide")
        wide <<= pyrtl.concat(~a * b, (a ^ b)[1:3])
        held = pyrtl.Register(4, "reg", reset_value=9)
        held.next <<= held + 1
        memory = pyrtl.MemBlock(4, 2, "memory", asynchronous=True)
        memory[a[:2]] <<= pyrtl.MemBlock.EnabledWrite(held, enable=b[0])
        rom = pyrtl.RomBlock(3, 2, [5, 2, 7, 1], "rom", asynchronous=True)
        read = pyrtl.Output(7, "rst")
        read <<= pyrtl.concat(memory[b[2:]], rom[a[2:]])
        signs = pyrtl.Output(9, "signs")
        signs <<= pyrtl.concat(a[3:1:-1], a.sign_extended(6), a[0])
        constant = pyrtl.Output(2, "constant")
        constant <<= pyrtl.Const(0b1100, 4)[1:3]
        less = pyrtl.Output(3, "less")
        less <<= pyrtl.concat(a < b, a > b, a == ~b)
        return pyrtl.working_block()


@needs_icarus
def test_names_widths_memories_and_resets_behave_as_in_pyrtl() -> None:
    block = small()
    cycles = stimuli(block, 300, seed=1)
    start = {memory: {1: 6, 3: 11} for memory in memories(block)}
    expected = pyrtl_trace(block, cycles, start)
    assert icarus_trace(block, cycles, start) == expected
    # What PyRTL's exporter makes of the first line: `~a + b` with the complement of five bits.
    assert any(cycle["to.tal"] >> 4 for cycle in expected)


def memories(block: pyrtl.Block) -> list[pyrtl.MemBlock]:
    stores = {net.op_param[1] for net in block.logic_subset("m@")}
    return [m for m in stores if not isinstance(m, pyrtl.RomBlock)]


def random_block(seed: int) -> pyrtl.Block:
    """Random operators on random widths, every result of which reaches an output."""
    rng = random.Random(seed)
    with pyrtl.temp_working_block():
        wires = [pyrtl.Input(rng.randint(1, 9), f"in{i}") for i in range(4)]
        for i in range(30):
            a, b = rng.choice(wires), rng.choice(wires)
            low = rng.randrange(len(a))
            wires.append(
                rng.choice(
                    [
                        lambda a=a, b=b: a + b,
                        lambda a=a, b=b: a - b,
                        lambda a=a, b=b: a[:5] * b[:5],
                        lambda a=a, b=b: ~a ^ b,
                        lambda a=a, b=b: a.nand(b),
                        lambda a=a, b=b: pyrtl.concat(a[:7], ~b[:7]),
                        lambda a=a, b=b: pyrtl.select(a[0], a, b),
                        lambda a=a, b=b: pyrtl.concat(a < b, a > ~b, a == b),
                        lambda a=a, low=low: a[low:][:8],
                        lambda a=a: a[::-1],
                        lambda a=a: a.sign_extended(len(a) + 3)[:11],
                    ]
                )()
            )
            output = pyrtl.Output(len(wires[-1]), f"out{i}")
            output <<= wires[-1]
        return pyrtl.working_block()


@needs_icarus
@pytest.mark.parametrize("seed", range(6))
def test_random_blocks_behave_as_in_pyrtl(seed: int) -> None:
    block = random_block(seed)
    cycles = stimuli(block, 100, seed)
    assert icarus_trace(block, cycles) == pyrtl_trace(block, cycles)


@needs_icarus
@pytest.mark.parametrize(
    ("table", "circuit"), [(t, c) for t in table_names() for c in circuits_for(t)]
)
def test_every_circuit_behaves_as_in_pyrtl(table: str, circuit: str) -> None:
    with pyrtl.temp_working_block():
        output = pyrtl.Output(8, "y")
        output <<= circuits_for(table)[circuit](pyrtl.Input(8, "x"))
        block = pyrtl.working_block()
    cycles = [{"x": x} for x in range(256)]
    assert icarus_trace(block, cycles) == pyrtl_trace(block, cycles)


@needs_icarus
@pytest.mark.parametrize("parts", [("zkne", "zknd", "zbkb", "zbkx"), ("nluv",)], ids=" ".join)
def test_extension_blocks_behave_as_in_pyrtl(parts: tuple[str, ...]) -> None:
    chosen = load_extension("nluv", banks=1) if parts == ("nluv",) else None
    units = InstructionSet.of(32, chosen) if chosen else InstructionSet.of(32, *parts)
    block = build_extension(units.instructions, 32, {})
    cycles = stimuli(block, 400, seed=3)
    rng = random.Random(4)
    for cycle in cycles:
        encoding = rng.choice(units.instructions).encoding
        cycle["instr"] = (cycle["instr"] & ~encoding.mask) | encoding.match
    assert icarus_trace(block, cycles) == pyrtl_trace(block, cycles)


@needs_icarus
@pytest.mark.parametrize("more", [(), ("zca",)], ids=["long", "compressed"])
@pytest.mark.parametrize("core", [Core(), Core(pipeline=2), Core(pipeline=3)], ids=str)
def test_a_core_runs_a_program_as_in_pyrtl(core: Core, more: tuple[str, ...]) -> None:
    nluv = load_extension("nluv", banks=2)
    instructions = InstructionSet.of(32, "rv32i", "zbkb", "zkne", nluv, *more)
    built = Netlist(core, instructions, {"aes32esmi": 2}).built
    program = random_program(instructions, 7, 300)
    images = {
        built.instruction_memory: dict(enumerate(program.words)),
        built.register_file: {i: (0x9E3779B9 * i) & 0xFFFFFFFF for i in range(1, 32)},
        **{
            lane: {0x4000 + j: 3 * j + i & 255 for j in range(64)}
            for i, lane in enumerate(built.data_lanes)
        },
    }
    cycles = [{} for _ in range(700)]
    expected = pyrtl_trace(built.block, cycles, images)
    assert sum(cycle["retire_valid"] for cycle in expected) > 150
    assert any(cycle["store_enable"] for cycle in expected)
    assert icarus_trace(built.block, cycles, images) == expected


def test_the_text_depends_on_the_block_alone() -> None:
    first = verilog(small()).text
    for _ in range(50):
        with pyrtl.temp_working_block():
            pyrtl.Input(3) + pyrtl.Const(5)
    assert verilog(small()).text == first
    assert re.search(r"\btmp\d|\bconst_\d", first) is None


DIGEST = """
import hashlib
from hw.verilog import verilog
from hw.extension import build_extension
from isa.instruction_set import InstructionSet
units = InstructionSet.of(32, "zkne", "zbkb").instructions
print(hashlib.sha256(verilog(build_extension(units, 32, {})).text.encode()).hexdigest())
"""


def test_the_text_does_not_depend_on_the_hash_seed() -> None:
    root = Path(__file__).parents[2]
    found = {
        subprocess.run(
            [sys.executable, "-c", DIGEST],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(root)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(found) == 1
    assert len(found.pop()) == 65


def test_open_memories_become_ports_and_tables_stay() -> None:
    module = verilog(small(), "unit", open_memories=True, reset=True, initial=False)
    assert ("memory_read0_data", 4) in module.inputs
    outputs = dict(module.outputs)
    assert outputs["memory_write0_enable"] == 1
    assert outputs["memory_read0_address"] == outputs["memory_write0_address"] == 2
    assert "reg [3:0] memory " not in module.text
    assert "reg [2:0] rom [0:3];" in module.text
    assert "reg_0 <= rst ? 4'h9 : " in module.text
    assert module.names["reg"] == "reg_0"
    assert module.names["rst"] == "rst_0"


def test_identifiers_are_valid_and_given_once() -> None:
    names = Identifiers(("clk",))
    given = [names.fresh(n) for n in ("clk", "a b", "a_b", "9x", "wire", "x", "x", "é")]
    assert given == ["clk_0", "a_b", "a_b_0", "_9x", "wire_0", "x", "x_0", "_"]
    assert all(map(is_identifier, given))


def test_what_cannot_be_exported_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^module must be a Verilog identifier, not 'my top'$"):
        verilog(small(), "my top")
    with pyrtl.temp_working_block():
        open_wire = pyrtl.WireVector(3, "loose")
        output = pyrtl.Output(3, "y")
        output <<= open_wire ^ 1
        block = pyrtl.working_block()
    with pytest.raises(ValueError, match=r"^wire loose must be driven, not left open$"):
        verilog(block)


@needs_icarus
def test_undefined_outputs_and_refused_modules_are_reported() -> None:
    with pyrtl.temp_working_block():
        held = pyrtl.Register(4, "held")
        held.next <<= held + 1
        output = pyrtl.Output(4, "y")
        output <<= held
        block = pyrtl.working_block()
    module = verilog(block, initial=False)
    with pytest.raises(IcarusError, match=r"^outputs must be defined, not 'x'$"):
        simulate(module, [{}])
    broken = type(module)(module.text + "endmodule", "toplevel", {}, (), ())
    with pytest.raises(IcarusError, match=r"^iverilog failed with code \d+: module\.v:\d+: "):
        simulate(broken, [{}])


def test_a_missing_icarus_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(icarus.shutil, "which", lambda name: None)
    with pytest.raises(
        IcarusError, match=r"^checking exported Verilog needs iverilog and vvp on the path; "
    ):
        simulate(verilog(small()), [])
