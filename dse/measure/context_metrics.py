"""Context metrics: what switching contexts costs where extensions add state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dse.cache import Cache, digest_of
from dse.measure.target import Target
from dse.metrics import METRICS, Quantity
from isa.context import context_of, cycles_of

__all__ = ["context_metrics"]


def context_metrics(
    target: Target, latencies: Mapping[str, int], cache: Cache
) -> dict[str, Quantity]:
    """Return the state that the extensions of a design add, and what saving it takes on its core.

    Args:
        target: The design.
        latencies: Cycles of the units.
        cache: Remembers the cycles.
    """
    instructions, core = target.instructions, target.core.canonical()
    found: dict[str, Any] = {"state_bits": sum(width for _, width in instructions.state)}

    def compute() -> dict[str, int]:
        context = context_of(instructions)
        switch = (context.save, context.restore)
        return {
            "state_lost_bits": context.lost_bits,
            "switch_cycles": sum(cycles_of(body, instructions, core, latencies) for body in switch),
            "reload_cycles": cycles_of(context.reload, instructions, core, latencies),
        }

    if found["state_bits"]:
        key = digest_of(repr(core), instructions.digest, repr(sorted(latencies.items())))
        found |= cache.memo("context", key, compute)
    else:
        found |= dict.fromkeys(("state_lost_bits", "switch_cycles", "reload_cycles"), 0)
    return {
        name: Quantity(value, METRICS[name].unit, "modelled" if "cycles" in name else "exact")
        for name, value in found.items()
    }
