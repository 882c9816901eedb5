"""`Confirmation`: whether a design's programs ran on the netlist as the model said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Confirmation:
    """The verdict on one design.

    Attributes:
        ok: Outputs and cycle counts of every workload agree.
        netlist_cycles: Sum over the workloads, counted on the netlist.
        model_cycles: The same by the timing model.
        reason: What differed, where not ok; empty otherwise.
        was_run: False where nothing was run on a netlist, for the reason given.
        synthesised_area_ge: Area of core and units synthesised as one netlist; None where it
            was not.
        area_error: The composed area over it, less 1.
        period_error: The same of the clock period; None also where a unit takes several cycles.
        synthesised_luts: LUTs of that netlist, with technology xc7; otherwise None.
        luts_error: The composed LUTs over them, less 1.
        shortened: Bytes of the message that ran for a workload whose own is longer, by workload.
    """

    ok: bool
    netlist_cycles: int
    model_cycles: int
    reason: str = ""
    was_run: bool = True
    synthesised_area_ge: float | None = None
    area_error: float | None = None
    period_error: float | None = None
    synthesised_luts: int | None = None
    luts_error: float | None = None
    shortened: Mapping[str, int] = field(default_factory=dict)

    @property
    def status(self) -> str:
        """`confirmed`, `FAILED` or `unconfirmed`, as in `front.csv`."""
        if self.ok:
            return "confirmed"
        return "FAILED" if self.was_run else "unconfirmed"

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Confirmation:
        """The inverse of `to_json`."""
        return cls(**data)
