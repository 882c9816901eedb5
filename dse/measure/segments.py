"""The segments of a design's programs: compiled and executed, no hardware built."""

from __future__ import annotations

from typing import Any

import workloads
from dse.cache import Cache
from dse.design import Design
from dse.measure.measurement import compiled, measure, mnemonics
from dse.measure.target import served, target_of
from dse.space import Space
from isa.encoding import EncodingError
from isa.kernel import KernelError, UnsupportedKernel


def segments(*, space: Space, design: Design, cache: Cache) -> list[dict[str, Any]]:
    """One segment for each workload's kernel, as data of `dse.learn.structure.Segment`.

    Empty where a program cannot be compiled. Programs and executions are kept in the cache, where
    an evaluation finds them again.
    """
    found = []
    chosen = [entry for entry in space.entries if design[entry.name]]
    try:
        target = target_of(space, design)
        for use in space.workloads:
            workload = workloads.get(use.workload, use.bytes)
            kernel = str(design[f"kernel.{use.workload}"])
            done = measure(workload, kernel, target, {}, cache)
            program = compiled(workload, kernel, target, {}, cache)
            used = mnemonics(program, target.instructions)
            used = served(space, design, used | set(use.requires.get(kernel, ())))
            found.append(
                {
                    "workload": use.workload,
                    "name": kernel,
                    "cycles": done.cycles,
                    "bytes": done.code_bytes,
                    "uses": [e.name for e in chosen if used & {e.name, *e.provides}],
                }
            )
    except (UnsupportedKernel, KernelError, EncodingError):
        return []
    return found
