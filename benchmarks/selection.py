"""A synthetic selection of instructions whose exact front is known: what samplers are measured on.

Segments of a program run in the least cycles among variants that need one to three instructions,
so that gains overlap and complement each other; instructions share hardware components that are
paid once; multi-cycle instructions stall, by the pipeline; unrolling trades time for code. A hash
of the design adds 1.5 % either way. There is no compiler, no core and no hardware, and nothing is
claimed about any: the shape is that of the real spaces, the size is free.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.backend import Backend
from dse.cache import Cache
from dse.design import Design
from dse.evaluation import Evaluation
from dse.measure.confirmation import Confirmation
from dse.metrics import Quantity
from dse.pareto import Loss
from dse.space import Space, parse_space

PIPELINES = (2, 3, 5)
UNROLLS = (1, 2, 4, 8)
_STALLS = {2: 4, 3: 2, 5: 1}
_PERIODS = {2: 1.35, 3: 1.15, 5: 1.0}
_CORES = {2: 400, 3: 520, 5: 700}
_FORWARDING = 90
_CODE = {1: 1.0, 2: 1.7, 4: 3.1, 8: 5.9}
_NOISE = 0.015
_COMPONENTS = 8


@dataclass(frozen=True)
class Variant:
    """A way to run a segment once: instructions as a mask, cycles, bytes, multi-cycle ones."""

    mask: int
    cycles: int
    bytes: int
    slow: int


@dataclass(frozen=True)
class Problem:
    """One instance.

    Attributes:
        own: Area of each instruction.
        is_slow: Whether it takes several cycles.
        components: Area of each shared component, and the mask of instructions that need it.
        segments: Executions, loop overhead and variants of each segment.
    """

    own: tuple[int, ...]
    is_slow: tuple[bool, ...]
    components: tuple[tuple[int, int], ...]
    segments: tuple[tuple[int, int, tuple[Variant, ...]], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the instructions."""
        return tuple(f"i{number:02}" for number in range(len(self.own)))


@cache
def problem(instructions: int, segments: int, seed: int) -> Problem:
    """Draw an instance."""
    draw = random.Random(seed)
    own = tuple(draw.randint(20, 160) for _ in range(instructions))
    is_slow = tuple(draw.random() < 0.35 for _ in range(instructions))
    areas = [draw.randint(80, 500) for _ in range(_COMPONENTS)]
    needs = [draw.sample(range(_COMPONENTS), draw.choice([1, 1, 2])) for _ in range(instructions)]
    components = tuple(
        (area, sum(1 << i for i, need in enumerate(needs) if number in need))
        for number, area in enumerate(areas)
    )
    return Problem(
        own, is_slow, components, tuple(_segment(draw, is_slow) for _ in range(segments))
    )


def _segment(draw: random.Random, is_slow: Sequence[bool]) -> tuple[int, int, tuple[Variant, ...]]:
    base, length = draw.randint(20, 120), draw.randint(10, 40)
    variants = [Variant(0, base, length, 0)]
    for _ in range(draw.randint(3, 6)):
        chosen = draw.sample(range(len(is_slow)), draw.choice([1, 1, 2, 2, 3]))
        speed = draw.uniform(1.15, 1.5) * 1.55 ** (len(chosen) - 1) * draw.uniform(0.9, 1.3)
        mask = sum(1 << i for i in chosen)
        size = max(2, int(length / speed**0.8))
        slow = sum(is_slow[i] for i in chosen)
        variants.append(Variant(mask, max(2, int(base / speed)), size, slow))
    return draw.choice([1, 4, 10, 10, 16, 40]), draw.choice([0, 2, 4, 8]), tuple(variants)


def _of(space: Space) -> Problem:
    """The instance that the name of a space states: NAME-INSTRUCTIONS-SEGMENTS-SEED."""
    _, instructions, segments, seed = space.name.split("-")
    return problem(int(instructions), int(segments), int(seed))


def evaluate(*, space: Space, design: Design, cache: Cache) -> Evaluation:
    """Time, area and code of a design, reduced to the instructions its variants use."""
    instance = _of(space)
    mask = sum(1 << i for i, name in enumerate(instance.names) if design[name])
    pipeline, unroll = int(str(design["core.pipeline"])), int(str(design["compiler.unroll"]))
    cycles, size, used = 0.0, 0, 0
    for count, loop, variants in instance.segments:
        chosen = _chosen(variants, mask, pipeline)
        cycles += count * (chosen.cycles + chosen.slow * _STALLS[pipeline] + loop / unroll)
        size += chosen.bytes
        used |= chosen.mask
    changes = {name: bool(used >> i & 1) for i, name in enumerate(instance.names)}
    canonical = space.reduce(design.replace(changes))
    is_forwarding = bool(canonical["core.forwarding"])
    cycles *= (1.0 if is_forwarding else 1.25) * (1 + _NOISE * _hash(used, pipeline))
    area = sum(own for i, own in enumerate(instance.own) if used >> i & 1)
    area += sum(own for own, needed in instance.components if needed & used)
    area += _CORES[pipeline] + _FORWARDING * is_forwarding
    values = {
        "cycles": (cycles, "cycles"),
        "time_ns": (cycles * _PERIODS[pipeline], "ns"),
        "area_ge": (float(area), "GE"),
        "code_bytes": (round(size * _CODE[unroll], 3), "bytes"),
    }
    metrics = {name: Quantity(value, unit, "exact") for name, (value, unit) in values.items()}
    facts = {"program": {"kernel": "plain", "cycles": cycles, "leaks": 0}}
    return Evaluation(canonical, feasible=True, metrics=metrics, workloads=facts)


def segments(*, space: Space, design: Design, cache: Cache) -> list[dict[str, Any]]:
    """The segments of the program, in cycles without stalls."""
    instance = _of(space)
    mask = sum(1 << i for i, name in enumerate(instance.names) if design[name])
    found = []
    for number, (count, _, variants) in enumerate(instance.segments):
        chosen = _chosen(variants, mask, 5)
        uses = [name for i, name in enumerate(instance.names) if chosen.mask >> i & 1]
        found.append(
            {
                "workload": "program",
                "name": str(number),
                "cycles": count * chosen.cycles,
                "bytes": chosen.bytes,
                "uses": uses,
            }
        )
    return found


def confirm(*, space: Space, design: Design, cache: Cache) -> Confirmation:
    """Nothing to confirm."""
    return Confirmation(True, 0, 0)


def _chosen(variants: Sequence[Variant], mask: int, pipeline: int) -> Variant:
    available = (v for v in variants if v.mask & mask == v.mask)
    return min(available, key=lambda v: _rank(v, pipeline))


def _rank(variant: Variant, pipeline: int) -> tuple[int, int, int]:
    return (variant.cycles + variant.slow * _STALLS[pipeline], variant.bytes, variant.mask)


def _hash(used: int, pipeline: int) -> float:
    """From -1 to 1."""
    x = ((used * 8 + pipeline) * 2654435761 + 0x9E3779B9) & 0xFFFFFFFF
    x = (x ^ x >> 15) * 2246822519 & 0xFFFFFFFF
    x = (x ^ x >> 13) * 3266489917 & 0xFFFFFFFF
    return (x ^ x >> 16) / 0x7FFFFFFF - 1


def exact_front(space: Space) -> list[Loss]:
    """The front over every mask of instructions that is just what its own variants use."""
    import moocore

    instance = _of(space)
    masks = np.arange(1 << len(instance.own), dtype=np.int64)
    columns = {"time_ns": 0, "area_ge": 1, "code_bytes": 2}
    kept = [columns[objective.metric] for objective in space.objectives]
    fronts = []
    for pipeline in PIPELINES:
        points = _points(instance, masks, pipeline)[:, kept]
        fronts.append(points[moocore.is_nondominated(points)])
    union = np.unique(np.vstack(fronts), axis=0)
    front = union[moocore.is_nondominated(union)]
    return sorted(tuple(float(value) for value in point) for point in front)


def _points(instance: Problem, masks: NDArray[np.int64], pipeline: int) -> NDArray[np.float64]:
    """Time, area and code of all closed masks, with and without forwarding, for every unrolling."""
    cycles, size = np.zeros(len(masks)), np.zeros(len(masks))
    used = np.zeros_like(masks)
    for count, _, variants in instance.segments:
        best = np.zeros(len(masks), dtype=np.int8)
        ranked = sorted(variants, key=lambda v: _rank(v, pipeline))
        for position in range(len(ranked) - 1, -1, -1):
            best[masks & ranked[position].mask == ranked[position].mask] = position
        stalled = [count * (v.cycles + v.slow * _STALLS[pipeline]) for v in ranked]
        cycles += np.array(stalled, dtype=float)[best]
        size += np.array([v.bytes for v in ranked])[best]
        used |= np.array([v.mask for v in ranked])[best]
    closed = used == masks
    masks, cycles, size = masks[closed], cycles[closed], size[closed]
    area = np.full(len(masks), float(_CORES[pipeline]))
    for number, own in enumerate(instance.own):
        area += own * (masks >> number & 1)
    for own, needed in instance.components:
        area += own * (masks & needed != 0)
    noise = 1 + _NOISE * np.array([_hash(int(mask), pipeline) for mask in masks])
    loops = sum(count * loop for count, loop, _ in instance.segments)
    points = []
    forwardings = ((1.0, _FORWARDING), (1.25, 0)) if pipeline > 2 else ((1.0, _FORWARDING),)
    for unroll in UNROLLS:
        for factor, extra in forwardings:
            time = (cycles + loops / unroll) * factor * noise * _PERIODS[pipeline]
            points.append(np.column_stack([time, area + extra, np.round(size * _CODE[unroll], 3)]))
    return np.vstack(points)


class Names:
    """The vocabulary of these spaces."""

    def workload_names(self) -> Sequence[str]:
        """One program."""
        return ("program",)

    def kernel_names(self, workload: str) -> Sequence[str]:
        """One kernel."""
        return ("plain",)

    def kernel_requirements(self, workload: str, kernel: str) -> Sequence[str]:
        """It needs nothing."""
        return ()

    def size_fault(self, workload: str, size_bytes: int) -> str | None:
        """It has no size."""
        return f"workload {workload} must have no message size, not {size_bytes}"

    def extension_names(self) -> Sequence[str]:
        """The base and up to 32 instructions."""
        return ("rv32i", *(f"i{number:02}" for number in range(32)))

    def extension_parameters(self, extension: str) -> Mapping[str, Sequence[int]]:
        """None."""
        return {}

    def instructions_of(self, extension: str) -> Sequence[str]:
        """Each is an extension of its own."""
        return ()

    def compressed_of(self, extension: str) -> Sequence[str]:
        """None."""
        return ()

    def table_names(self) -> Sequence[str]:
        """None."""
        return ()

    def circuit_names(self, table: str) -> Sequence[str]:
        """None."""
        return ()

    def technology_names(self) -> Sequence[str]:
        """One."""
        return ("ge",)

    def core_presets(self) -> Sequence[str]:
        """One."""
        return ("default",)


NAMES = Names()
_HERE = "benchmarks.selection"
BACKEND = Backend(
    f"{_HERE}:evaluate", f"{_HERE}:confirm", f"{_HERE}:NAMES", version="1",
    segments=f"{_HERE}:segments",
)  # fmt: skip
OPAQUE = Backend(
    f"{_HERE}:evaluate", f"{_HERE}:confirm", f"{_HERE}:NAMES", version="1", segments=""
)
"""The same, without a look at the segments."""


def space_of(instructions: int, segments: int, seed: int, objectives: Sequence[str]) -> Space:
    """The space of one instance."""
    instance = problem(instructions, segments, seed)
    text = "\n".join(
        [
            f"name: selection-{instructions}-{segments}-{seed}",
            "workloads: [program]",
            "core: {pipeline: [5, 3, 2], forwarding: [true, false]}",
            f"instructions: {{choose: [{', '.join(instance.names)}]}}",
            f"compiler: {{unroll: [{', '.join(map(str, UNROLLS))}]}}",
            f"objectives: [{', '.join(objectives)}]",
        ]
    )
    return parse_space(text + "\n", Path("selection.yaml"), NAMES)
