"""Core: the parameters of a host core, and the cores known by name."""

from __future__ import annotations

from dataclasses import dataclass, replace

PIPELINES = (2, 3, 5)
NAMES = ("default", "icicle")


@dataclass(frozen=True)
class Core:
    """Parameters of a host core.

    Attributes:
        name: "default", or a preset that replaces the pipeline's rules by measured ones.
        xlen: Register width in bits, 32 or 64.
        pipeline: Number of stages, 2, 3 or 5.
        forwarding: Results reach waiting instructions before they are written back.
    """

    name: str = "default"
    xlen: int = 32
    pipeline: int = 5
    forwarding: bool = True

    def __post_init__(self) -> None:
        if self.name not in NAMES:
            raise ValueError(f"name of a core must be one of {list(NAMES)}, not {self.name!r}")
        if self.xlen not in (32, 64):
            raise ValueError(f"xlen must be 32 or 64, not {self.xlen!r}")
        if self.pipeline not in PIPELINES or isinstance(self.pipeline, bool):
            raise ValueError(f"pipeline must be one of {list(PIPELINES)}, not {self.pipeline!r}")
        if not isinstance(self.forwarding, bool):
            raise ValueError(f"forwarding must be true or false, not {self.forwarding!r}")

    def canonical(self) -> Core:
        """The core without parameters that cannot matter: two stages have nothing to forward."""
        if self.name in PRESETS:
            return PRESETS[self.name]
        return replace(self, forwarding=True) if self.pipeline == 2 else self

    @property
    def has_netlist(self) -> bool:
        """Whether `hw.core` can build it, so that cycle counts can be confirmed."""
        return self.name not in PRESETS


PRESETS = {"icicle": Core("icicle", pipeline=5, forwarding=False)}
"""Cores with rules of their own, by name: NLU-V's host (isa/icicle.py). They have no netlist: their
cycles are modelled after measurements and not confirmed."""
