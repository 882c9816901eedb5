"""Request: what `dse propose` is asked, checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import workloads
from dse.propose.enumeration import DEFAULT_BUDGET
from dse.propose.slot import MOST_OPERANDS
from dse.space import Space
from dse.suggestion import one_of, suggest
from isa.instruction_set import InstructionSet, extension_names
from isa.timing import Core
from workloads import Workload

DEFAULT_CORE = Core()
"""Five stages with forwarding."""


class RequestError(ValueError):
    """What is asked for cannot be proposed."""


@dataclass(frozen=True)
class Request:
    """What to find instructions for, and within which limits.

    Attributes:
        workloads: (workload, weight) each.
        base: Name of the base instruction set, with extensions joined by "+".
        core: The host core, for which cycles are counted.
        inputs: Most registers that are read, 1 to 3; 4 where there are two results.
        outputs: Most results, 1 or 2; the second takes an instruction of its own, and none of the
            two reads more than 3 registers.
        area_ge: Most area of the chosen set, as one extension block; None is no limit.
        top: How many proposals to deliver.
        budget: Search states of the enumeration of one block.
        fo4_ps: Length of one FO4 delay, in ps.
    """

    workloads: tuple[tuple[Workload, float], ...]
    base: str = "rv32i"
    core: Core = DEFAULT_CORE
    inputs: int = 2
    outputs: int = 1
    area_ge: float | None = None
    top: int = 5
    budget: int = DEFAULT_BUDGET
    fo4_ps: float = 50.0

    def __post_init__(self) -> None:
        if not self.workloads:
            raise RequestError("workloads must be one or more, not none")
        if self.outputs not in (1, 2):
            raise RequestError(f"outputs must be 1 or 2, not {self.outputs}")
        most = MOST_OPERANDS + self.outputs - 1
        if not 1 <= self.inputs <= most:
            raise RequestError(
                f"inputs must be 1 to {most}, not {self.inputs}: "
                "an instruction word names no more registers beside the result"
            )
        if self.top < 1:
            raise RequestError(f"top must be at least 1, not {self.top}")
        if self.area_ge is not None and self.area_ge <= 0:
            raise RequestError(f"area must be above 0 GE, not {self.area_ge:g}")

    @property
    def instructions(self) -> InstructionSet:
        """The base instruction set."""
        return base_set(self.base)

    @property
    def host(self) -> Core:
        """The core, with a third read port if instructions may read three registers."""
        return replace(
            self.core, read_ports=max(self.core.read_ports, min(self.inputs, MOST_OPERANDS))
        )

    @property
    def title(self) -> str:
        """The workloads' names."""
        return ", ".join(workload.name for workload, _ in self.workloads)


def base_set(text: str) -> InstructionSet:
    """The instruction set that `rv32i` or `rv32i+zbkb` names.

    Raises:
        RequestError: Unknown names, or no base among them.
    """
    names = text.split("+")
    known = extension_names()
    bases = [name for name in known if name in ("rv32i", "rv64i")]
    if names[0] not in bases:
        hint = suggest(names[0], bases)
        raise RequestError(f"base must start with {one_of(bases)}, not {names[0]!r}{hint}")
    for name in names[1:]:
        if name not in known:
            raise RequestError(f"base must name extensions, not {name!r}{suggest(name, known)}")
    try:
        return InstructionSet.of(int(names[0][2:4]), *names)
    except ValueError as error:
        raise RequestError(f"base {text}: {error}") from None


def named_workloads(names: Sequence[str]) -> tuple[tuple[Workload, float], ...]:
    """Workloads by name, of weight 1.

    Raises:
        RequestError: An unknown or repeated name.
    """
    known = workloads.workload_names()
    for i, name in enumerate(names):
        if name not in known:
            hint = suggest(name, known)
            raise RequestError(f"workload must be one of `dse list workloads`, not {name!r}{hint}")
        if name in names[:i]:
            raise RequestError(f"workload {name} must be given once, not twice")
    return tuple((workloads.get(name), 1.0) for name in names)


def from_space(space: Space) -> tuple[tuple[Workload, float], ...]:
    """The workloads of a space with their weights, and only the kernels it allows."""
    found = []
    for use in space.workloads:
        workload = workloads.get(use.workload, use.bytes)
        kernels = {name: workload.kernels[name] for name in use.kernels if name in workload.kernels}
        found.append((workloads.Workload(**{**vars(workload), "kernels": kernels}), use.weight))
    return tuple(found)
