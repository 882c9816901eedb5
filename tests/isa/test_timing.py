from __future__ import annotations

import pytest

from isa.assembler import assemble
from isa.core import PRESETS, Core
from isa.instruction_set import InstructionSet
from isa.machine import Machine, Run
from isa.timing import Pricer, automaton, price, retirements
from tests.cosim.random_program import random_program

SET = InstructionSet.of(32, "rv32i", "zkne", "nluv")
CORES = {
    "5": Core(),
    "5n": Core(forwarding=False),
    "3": Core(pipeline=3),
    "3n": Core(pipeline=3, forwarding=False),
    "2": Core(pipeline=2),
}


def run(body: str, *args: int) -> tuple[Run, int]:
    program = assemble(f"_start: jal ra, kernel\n ebreak\nkernel:\n{body}\n ret\n", SET)
    return Machine(SET, program).run(args), program.entry


# Cycles beyond one an instruction, by hand from the table of isa/pipeline.py; the call into the
# kernel and its return add the same to each: the entry costs a taken jump.
@pytest.mark.parametrize(
    ("body", "extra"),
    [
        ("nop\n nop", {"5": 0, "5n": 0, "3": 0, "3n": 0, "2": 0}),
        ("addi t0, t0, 1\n addi t0, t0, 1", {"5": 0, "5n": 2, "3": 0, "3n": 1, "2": 0}),
        ("addi t0, t0, 1\n nop\n addi t0, t0, 1", {"5": 0, "5n": 1, "3": 0, "3n": 0, "2": 0}),
        ("addi t0, t0, 1\n nop\n nop\n mv t1, t0", {"5": 0, "5n": 0, "3": 0, "3n": 0, "2": 0}),
        ("lw t0, -4(sp)\n mv t1, t0", {"5": 1, "5n": 2, "3": 1, "3n": 1, "2": 1}),
        ("lw t0, -4(sp)\n nop\n mv t1, t0", {"5": 0, "5n": 1, "3": 0, "3n": 0, "2": 1}),
        ("lw t0, -4(sp)\n sw t0, -8(sp)", {"5": 1, "5n": 2, "3": 1, "3n": 1, "2": 1}),
        ("lw t0, -4(sp)\n li t0, 1\n mv t1, t0", {"5": 0, "5n": 2, "3": 0, "3n": 1, "2": 1}),
        ("addi zero, t0, 1\n mv t1, zero", {"5": 0, "5n": 0, "3": 0, "3n": 0, "2": 0}),
        ("fence\n mv t1, zero", {"5": 0, "5n": 0, "3": 0, "3n": 0, "2": 0}),
        ("beq zero, zero, a\n nop\na: nop", {"5": 2, "5n": 2, "3": 1, "3n": 1, "2": 1}),
        ("beq zero, zero, a\na: nop", {"5": 2, "5n": 2, "3": 1, "3n": 1, "2": 1}),
        ("bne zero, zero, a\na: nop", {"5": 0, "5n": 0, "3": 0, "3n": 0, "2": 0}),
        ("jal t0, a\na: mv t1, t0", {"5": 2, "5n": 2, "3": 1, "3n": 1, "2": 1}),
        ("nldl 0, 1\n nmu t0, t1", {"5": 4, "5n": 4, "3": 4, "3n": 4, "2": 4}),
        ("nmu t0, t1\n nmu t0, t0", {"5": 4, "5n": 6, "3": 5, "3n": 5, "2": 4}),
        ("addi t0, t0, 1\n nmu t1, t0", {"5": 2, "5n": 4, "3": 3, "3n": 3, "2": 2}),
        ("addi t0, t0, 1\n nop\n nmu t1, t0", {"5": 2, "5n": 3, "3": 2, "3n": 2, "2": 2}),
        ("addi t0, t0, 1\n nnlaese t1, t0", {"5": 0, "5n": 2, "3": 0, "3n": 1, "2": 0}),
    ],
)
@pytest.mark.parametrize("name", CORES)
def test_cycles_by_hand(name: str, body: str, extra: dict[str, int]) -> None:
    latencies = {"nldl": 3, "nmu": 3}
    done, entry = run(body)
    into = 2 if CORES[name].pipeline == 5 else 1  # the jump that enters
    cycles = price(done.blocks, done.trace, CORES[name], latencies, entry=entry)
    assert cycles - done.kernel_instructions - into == extra[name]


DECODE = Core(branch="decode")
BACK = Core(prediction="backward-taken")
NONE = Core(prediction="none")
SHARED = Core(memory="shared")
TAKEN = "beq zero, zero, a\n nop\na: nop"
NOT_TAKEN = "bne zero, zero, a\na: nop"
BACKWARD = "j b\na: nop\n j c\nb: beq zero, zero, a\nc: nop"  # each of the three is taken


# As above; by hand from what isa/pipeline.py says of the parameter.
@pytest.mark.parametrize(
    ("core", "body", "extra"),
    [
        (DECODE, TAKEN, 1),
        (DECODE, NOT_TAKEN, 0),
        (DECODE, "addi t0, zero, 1\n bnez zero, a\na: nop", 0),
        (DECODE, "addi t0, zero, 1\n beqz t0, a\na: nop", 1),
        (DECODE, "lw t0, -4(sp)\n beqz t0, a\n nop\na: nop", 2 + 1),
        (NONE, TAKEN, 2),
        (NONE, NOT_TAKEN, 1),
        (BACK, TAKEN, 2),
        (BACK, "j a\na: nop", 0),
        (BACK, BACKWARD, 0),
        (Core(), BACKWARD, 6),
        (BACK, "j b\na: nop\nb: bne zero, zero, a\n nop", 2),  # followed in vain
        (SHARED, "lw t0, -4(sp)\n nop", 0),  # what is fetched late comes behind the return
        (SHARED, "lw t0, -4(sp)\n nop\n nop", 1),
        (SHARED, "lw t0, -4(sp)\n mv t1, t0\n nop", 2),  # the nop in IF is fetched again
        (SHARED, "sw t0, -4(sp)\n sw t0, -4(sp)\n nop", 2),
    ],
)
def test_cycles_of_other_cores_by_hand(core: Core, body: str, extra: int) -> None:
    done, entry = run(body)
    back = core.prediction == "backward-taken"
    into = 0 if back else 1 if core.branch == "decode" else 2  # the jump that enters
    cycles = price(done.blocks, done.trace, core, entry=entry)
    assert cycles - done.kernel_instructions - into == extra


@pytest.mark.parametrize(("pipeline", "latency"), [(5, 2), (5, 4), (3, 2), (2, 3)])
def test_a_slow_memory_hands_on_an_instruction_every_so_often(pipeline: int, latency: int) -> None:
    core = Core(pipeline=pipeline, memory_latency=latency)
    cycles = []
    for count in (4, 8):
        done, entry = run("\n".join(["nop"] * count))
        cycles.append(price(done.blocks, done.trace, core, entry=entry))
    assert cycles[1] - cycles[0] == 4 * latency


@pytest.mark.parametrize("name", [*CORES, "icicle"])
def test_memoised_price_equals_stepping(name: str) -> None:
    core = CORES[name] if name in CORES else PRESETS[name]
    latencies = {"aes32esmi": 3, "nmu": 2}
    for seed in range(3):
        program = random_program(SET, seed, 300)
        done = Machine(SET, program).run([seed, 1, 2, 3])
        steps = list(retirements(done.blocks, done.trace, automaton(core, latencies)))
        assert len(steps) == done.instructions
        assert steps[-2][0] - steps[0][0] == price(
            done.blocks, done.trace, core, latencies, entry=program.entry
        )


def test_loop_is_priced_once_per_state() -> None:
    body = "loop: addi a0, a0, -1\n lw t0, -4(sp)\n add t0, t0, a0\n bnez a0, loop"
    done, entry = run(body, 1000)
    pricer = Pricer(done.blocks, automaton(Core()))
    assert pricer.price(done.trace, entry) == 1000 * (4 + 1 + 2) - 2 + 2 + 1
    assert len(pricer._known) <= 8


def test_other_core_needs_no_other_run() -> None:
    done, entry = run("lw t0, -4(sp)\n mv t1, t0")
    blocks = tuple(done.blocks)
    prices = [price(blocks, done.trace, c, entry=entry) for c in CORES.values()]
    assert prices == [6, 7, 5, 5, 5]


def test_two_stages_have_nothing_to_forward() -> None:
    assert Core(pipeline=2, forwarding=False).canonical() == Core(pipeline=2)
    assert Core(forwarding=False).canonical() == Core(forwarding=False)
    assert Core("icicle", pipeline=2).canonical() is PRESETS["icicle"]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"pipeline": 4}, r"pipeline must be one of \[2, 3, 5\], not 4"),
        ({"pipeline": True}, r"pipeline must be one of \[2, 3, 5\], not True"),
        ({"xlen": 16}, "xlen must be 32 or 64, not 16"),
        ({"forwarding": 1}, "forwarding must be true or false, not 1"),
        ({"name": "boom"}, r"name of a core must be one of \['default', 'icicle'\], not 'boom'"),
    ],
)
def test_bad_cores_are_refused(parameters: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Core(**parameters)  # type: ignore[arg-type]


def test_latency_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="latency of nmu must be at least 1 cycle, not 0"):
        automaton(Core(), {"nmu": 0})
