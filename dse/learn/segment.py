"""`Segment`: a piece of a program that the compiler covers by itself, such as a basic block."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Segment:
    """One segment of a workload's program as compiled for one set of instructions.

    Attributes:
        workload: Whose program.
        name: The same for the same piece of the program, whatever the instructions.
        cycles: Executions times cycles of one, per run of the workload.
        bytes: Size of its code.
        uses: Entries of the space whose instructions stand in it.
    """

    workload: str
    name: str
    cycles: float
    bytes: float
    uses: tuple[str, ...]

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Segment:
        """From plain data."""
        return cls(**{**data, "uses": tuple(data["uses"])})
