from __future__ import annotations

import pytest

from hw.cosim import Netlist, compare, run_netlist
from isa.assembler import assemble
from isa.core import Core
from isa.instruction_set import InstructionSet
from isa.machine import Machine
from isa.program import Program
from isa.timing import price
from tests.cosim.test_random import CORES

SET = InstructionSet.of(32, "rv32i", "zkne", "nluv")
EVERY = {
    **CORES,
    "decode, backward": Core(branch="decode", prediction="backward-taken"),
    "no prediction": Core(forwarding=False, prediction="none"),
    "backward": Core(prediction="backward-taken"),
    "shared, slow": Core(memory="shared", memory_latency=2),
    "3-stage, backward, shared": Core(pipeline=3, prediction="backward-taken", memory="shared"),
    "2-stage, backward, slow": Core(pipeline=2, prediction="backward-taken", memory_latency=2),
}
NETLISTS: dict[str, Netlist] = {}


def netlist(name: str) -> Netlist:
    if name not in NETLISTS:
        NETLISTS[name] = Netlist(EVERY[name], SET, {"nldnl": 3})
    return NETLISTS[name]


def program(body: str) -> Program:
    return assemble(f"_start: jal ra, kernel\n ebreak\nkernel:\n{body}\n", SET)


LEAVE = {
    "taken branch": "beq zero, zero, over",
    "jump": "jal zero, over",
    "computed jump": "jalr zero, 0(a1)",
    "branch after load": "lw t0, -4(sp)\n beq t0, zero, over",
    "branch after unit": "aes32esmi t0, zero, zero, 0\n bne t0, zero, over",
    "branch after branch": "bne zero, zero, over\n beq zero, zero, over",
}


WRONG = "nldnl 0, 0x1234\n nldl 0, 0x1234\n sw sp, -8(sp)\n nmu a0, sp\n addi a0, a0, 1"


@pytest.mark.parametrize("how", [*LEAVE, "branch back not taken"])
@pytest.mark.parametrize(
    "name", [*CORES, *(pytest.param(n, marks=pytest.mark.slow) for n in EVERY if n not in CORES)]
)
def test_wrong_path_changes_nothing(name: str, how: str) -> None:
    # The published RTL of NLU-V pushes on the wrong path; see isa/extensions/nluv.py.
    for order in (WRONG, "\n".join(sorted(WRONG.split("\n"), reverse=True))):
        if how in LEAVE:
            made = program(f"{LEAVE[how]}\n{order}\nover: nldnl 0, 7\n ret")
        else:  # followed where branches back are predicted taken
            made = program(f"j over\nback: {order}\nover: bne zero, zero, back\n nldnl 0, 7\n ret")
        args = (0, made.symbols["over"])
        run = netlist(name).run(made, args)
        assert run.state == {"nlrg": 7, "lrg0": 0, "rl0": 0, "rl1": 0, "rl2": 0, "rl3": 0}
        assert run.registers[10] == 0
        assert run.memory == bytes(len(run.memory))
        assert compare(netlist(name), made, args).equal


@pytest.mark.parametrize("name", CORES)
def test_code_behind_the_end_is_not_executed(name: str) -> None:
    made = Program(
        tuple(assemble("ebreak\n sw sp, -4(sp)\n li a0, 1\n nldnl 0, 7", SET).words), b"", {}
    )
    run = netlist(name).run(made)
    assert [pc for _, pc in run.retirements] == [0]
    assert (run.registers[10], run.state["nlrg"]) == (0, 0)
    assert run.memory == bytes(len(run.memory))


@pytest.mark.parametrize("name", CORES)
def test_kernel_cycles_are_those_of_the_timing_model(name: str) -> None:
    made = program("loop: addi a0, a0, -1\n nldnl 3, 5\n lw t0, -4(sp)\n bnez a0, loop\n ret")
    run = Machine(SET, made).run([9])
    expected = price(run.blocks, run.trace, CORES[name], {"nldnl": 3}, entry=made.entry)
    assert netlist(name).run(made, [9]).cycles(made.entry) == expected
    result = compare(netlist(name), made, [9])
    assert (result.equal, result.cycles, result.instructions) == (True, expected, run.instructions)


def test_runs_do_not_remember() -> None:
    made = program("lw a0, 0(a0)\n nldnl 0, 7\n sw sp, 4(a1)\n ret")
    runs = [
        netlist("5-stage").run(made, [0x1_0000, 0x1_0000], {0x1_0000: bytes([value])})
        for value in (3, 4)
    ]
    assert [r.registers[10] for r in runs] == [3, 4]
    assert [r.state["nlrg"] for r in runs] == [7, 7]


def test_wrong_cycles_are_found() -> None:
    wrong = Netlist(CORES["5-stage"], SET, {"nmu": 2})
    wrong.latencies = {}
    result = compare(wrong, program("nop\n nmu t0, t1\n ret"))
    assert result.difference == (
        "retirement 2 of the netlist must be pc 0xc (nmu t0, t1) in cycle 5, not pc 0xc in cycle 6"
    )
    assert not result.equal


@pytest.mark.parametrize(
    ("body", "difference"),
    [
        ("aes32esi a0, zero, zero, 0\n ret", "x10 of the netlist must be 0x63, not 0x0"),
        (
            "aes32esi t0, zero, zero, 0\n sb t0, -3(sp)\n li t0, 0\n ret",
            "byte 0x2fffd of the netlist's memory must be 0x63, not 0x0",
        ),
        (
            "aes32esi t0, zero, zero, 0\n bnez t0, a\n nop\na: ret",
            "retirement 3 of the netlist must be pc 0x14 (jalr zero, 0(ra)) in cycle 8, "
            "not pc 0x10 in cycle 6",
        ),
    ],
)
def test_wrong_circuits_are_found(body: str, difference: str) -> None:
    wrong = Netlist(CORES["5-stage"], SET, circuits={"aes_sbox": lambda index: index})
    assert compare(wrong, program(body)).difference == difference


def test_endless_netlist_is_refused() -> None:
    with pytest.raises(RuntimeError, match="reach a host call within 50 cycles, not retire pc 0x8"):
        netlist("2-stage").run(program("j kernel"), limit=50)


def test_one_call_builds_and_runs() -> None:
    run = run_netlist(CORES["3-stage"], SET, program("addi a0, a0, 1\n ret"), [41])
    assert run.registers[10] == 42
