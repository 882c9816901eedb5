"""Parts: what each engine, the buffer and the control of a design's co-processor cost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dse.cache import Cache
from dse.coprocessor import ENTRY
from dse.design import Design
from dse.space import Space

if TYPE_CHECKING:
    from hw.coprocessors.area import CoprocessorCost


def coprocessor_cost(space: Space, design: Design, cache: Cache) -> CoprocessorCost | None:
    """The cost of the co-processor of a feasible design; None where it has none."""
    if not design.get(ENTRY):
        return None
    from dse.measure.target import target_of

    target = target_of(space, design)
    found = target.hosted(target.hardware(cache), cache)
    return found.coprocessor if found else None


def part_lines(cost: CoprocessorCost) -> Iterator[str]:
    """Text: a row for each part, then the longest paths."""
    yield f"Co-processor {'GE':>13}{'FFs':>9}{'LUTs':>9}{'BRAMs':>7}"
    for name, part in cost.parts.items():
        luts = "" if part.luts is None else f"{part.luts:,}"
        yield f"  {name:<12}{part.area_ge:>12,.1f}{part.ffs:>9,}{luts:>9}{part.brams:>7g}"
    yield (
        f"  paths in FO4: inside {cost.delay_fo4:.1f}, from the port {cost.host_fo4:.1f}, "
        f"to the port {cost.answer_fo4:.1f}, through it {cost.through_fo4:.1f}"
    )
