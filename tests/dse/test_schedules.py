"""Programs are scheduled for what a core makes them wait for."""

from __future__ import annotations

import workloads
from dse.cache import Cache
from dse.measure.measurement import compiled, measure
from dse.measure.target import Target
from hw.technology import Technology
from isa.instruction_set import InstructionSet
from isa.timing import Core


def target(core: Core) -> Target:
    return Target(InstructionSet.of(32, "rv32i"), core, (), (), 1, Technology("ge"))


def test_cores_share_a_program_where_they_wait_alike() -> None:
    workload = workloads.get("sm4-encrypt")
    cache = Cache(None)
    programs = {
        core: compiled(workload, "ttable", target(core), {}, cache)
        for core in (Core(), Core(pipeline=2), Core(forwarding=False), Core(branch="decode"))
    }
    first, shallow, slow, early = programs.values()
    assert first.digest == shallow.digest == early.digest != slow.digest


def test_a_core_without_forwarding_waits_less_for_its_own_schedule() -> None:
    """By hand: two instructions stand between a result and its use, or the core waits."""
    workload = workloads.get("sm4-encrypt")
    plain, slow = target(Core()), target(Core(forwarding=False))
    fast = measure(workload, "ttable", plain, {}, Cache(None))
    own = measure(workload, "ttable", slow, {}, Cache(None))
    assert own.instructions <= 1.02 * fast.instructions
    assert own.cycles < 1.5 * own.instructions  # 2.0 with the schedule of the others
