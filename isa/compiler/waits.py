"""Waits: how far apart a core wants a result and its use."""

from __future__ import annotations

from dataclasses import dataclass, replace

from isa.core import PRESETS, Core
from isa.instruction import Instruction
from isa.pipelined import pipelines, stages_of


@dataclass(frozen=True)
class Waits:
    """Instructions that must stand between a result and its use, or the core waits.

    Attributes:
        load: After a load.
        other: After anything else.
        core: Whose pipelined units want more after theirs; None without such.
    """

    load: int = 1
    other: int = 0
    core: Core | None = None

    def after(self, instruction: Instruction | None, *, is_load: bool) -> int:
        """Those after an instruction, or after what makes a constant."""
        if is_load:
            return self.load
        if self.core is None or instruction is None:
            return self.other
        return max(self.other, stages_of(self.core, instruction) - 1)

    @property
    def own(self) -> bool:
        """Whether they ask for programs of their own, not those that serve all cores."""
        return bool(self.other) or self.core is not None

    @classmethod
    def of(cls, core: Core | None) -> Waits:
        """Those of a core (the table in isa/pipeline.py); presets with flat costs have none."""
        if core is None:
            return cls()
        if core.name in PRESETS:
            return cls(0, 0)
        waits = {
            (5, True): cls(1, 0),
            (5, False): cls(2, 2),
            (3, True): cls(1, 0),
            (3, False): cls(1, 1),
        }.get((core.pipeline, core.forwarding), cls(0, 0))
        return replace(waits, core=core) if pipelines(core) else waits
