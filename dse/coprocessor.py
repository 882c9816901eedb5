"""The co-processor of a design: its record, and which of its parameters make no difference.

Which algorithms it holds is no parameter: they are those of the workloads that it does, that is,
whose kernel is a driver program.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from dse.design import Value

if TYPE_CHECKING:
    from dse.parameter import Parameter
    from dse.space import WorkloadUse
    from hw.coprocessors.parameters import Coprocessor
    from isa.core import Core


class CoprocessorError(ValueError):
    """A co-processor that cannot be built."""


ENTRY = "coprocessor"
"""Name of the parameter that says whether there is one, and head of the names of the others."""


@cache
def accepted() -> Mapping[str, tuple[Value, ...]]:
    """Parameters by name and the values each accepts, its default first."""
    from hw import units
    from hw.coprocessors.parameters import CHOICES, RANGES, Coprocessor

    choices: dict[str, tuple[Value, ...]] = {
        **CHOICES,
        **{name: tuple(range(low, high + 1)) for name, (low, high) in RANGES.items()},
        "aes_sbox": tuple(units.circuit_names("aes_sbox")),
    }
    found = {}
    for field in fields(Coprocessor):
        if field.name in choices:
            default: Any = field.default
            others = (c for c in choices[field.name] if c != default)
            found[field.name] = (default, *others)
    return found


def algorithms(uses: tuple[WorkloadUse, ...], design: Mapping[str, Value]) -> tuple[str, ...]:
    """Algorithms that the driver programs of a design ask for, sorted."""
    from workloads.coprocessor_driver import algorithms_of

    found = {
        algorithm
        for use in uses
        for algorithm in algorithms_of(use.workload, str(design[f"kernel.{use.workload}"]))
    }
    return tuple(sorted(found))


def coprocessor_of(
    uses: tuple[WorkloadUse, ...], design: Mapping[str, Value]
) -> Coprocessor | None:
    """The co-processor that a design has; None where it has none or gives it nothing to do.

    Raises:
        CoprocessorError: Parameters that do not go together, such as a buffer smaller than a
            block.
    """
    from hw.coprocessors.parameters import Coprocessor

    held = algorithms(uses, design) if design.get(ENTRY) else ()
    if not held:
        return None
    head = f"{ENTRY}."
    chosen: Any = {n.removeprefix(head): v for n, v in design.items() if n.startswith(head)}
    try:
        return Coprocessor(held, **chosen)
    except ValueError as error:
        raise CoprocessorError(f"coprocessor: {error}") from None


def refuse_host(p: Coprocessor | None, core: Core) -> None:
    """Refuse a core that cannot host a co-processor.

    Raises:
        CoprocessorError: It is a preset, or a co-processor that reaches its data memory, or is
            reached through it, would have to wait for the memory.
    """
    if p is None:
        return
    if core.name != "default":
        raise CoprocessorError(f"coprocessor: core must be one of parameters, not {core.name}")
    is_slow = core.memory_latency > 1 or core.memory != "separate"
    if is_slow and (p.mover == "dma" or p.attachment == "mapped"):
        what = "mover dma" if p.mover == "dma" else "attachment mapped"
        raise CoprocessorError(
            f"coprocessor: {what} needs data memory with a port of its own that answers in the "
            f"next cycle, not memory={core.memory} and memory_latency={core.memory_latency}"
        )


def alone(p: Coprocessor, algorithms: tuple[str, ...]) -> Coprocessor:
    """The member that does `algorithms` just as `p`, in as many cycles, and holds no others."""
    burst = p.burst_beats if p.mover == "dma" else p.burst_length
    return replace(p, algorithms=algorithms, burst_length=burst).canonical()


def untimed(p: Coprocessor) -> Coprocessor:
    """The member that gives the same answers to the same commands, all that is time at its default.

    Where each block has an output, how many words it accepts before that must be got is part of
    the answers; else any buffer will do.
    """
    plain = replace(p, width=64, rounds_per_cycle=1, stages=1, buffer="registers", bus_latency=1)
    if not any(algorithm.per_block for algorithm in p.held()):
        plain = replace(plain, buffer_words=32, double_buffer=False)
    return replace(plain, burst_length=1).canonical()


def without_idle_choices(
    uses: tuple[WorkloadUse, ...],
    parameters: tuple[Parameter, ...],
    design: Mapping[str, Value],
) -> dict[str, Value]:
    """Changes that give every parameter the first of the choices that build the same hardware.

    A co-processor that has nothing to do is left out.
    """
    try:
        record = coprocessor_of(uses, design)
    except CoprocessorError:  # cannot be built at all; whoever evaluates the design will say why
        return {}
    if record is None:
        return {ENTRY: False}
    same = record.canonical()
    changes: dict[str, Value] = {}
    for parameter in parameters:
        head, _, name = parameter.name.partition(".")
        if head != ENTRY or not name:
            continue
        for choice in parameter.choices:
            if choice == design[parameter.name]:
                break
            other: dict[str, Any] = {name: choice}
            try:
                changed = replace(record, **other)
            except ValueError:
                continue
            if changed.canonical() == same:
                record = changed
                changes[parameter.name] = choice
                break
    return changes
