"""Waits: how far apart a core wants a result and its use."""

from __future__ import annotations

from dataclasses import dataclass

from isa.core import PRESETS, Core


@dataclass(frozen=True)
class Waits:
    """Instructions that must stand between a result and its use, or the core waits.

    Attributes:
        load: After a load.
        other: After anything else.
    """

    load: int = 1
    other: int = 0

    @classmethod
    def of(cls, core: Core | None) -> Waits:
        """Those of a core (the table in isa/pipeline.py); presets with flat costs have none."""
        if core is None:
            return cls()
        if core.name in PRESETS:
            return cls(0, 0)
        return {
            (5, True): cls(1, 0),
            (5, False): cls(2, 2),
            (3, True): cls(1, 0),
            (3, False): cls(1, 1),
        }.get((core.pipeline, core.forwarding), cls(0, 0))
