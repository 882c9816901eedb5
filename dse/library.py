"""Library: designs synthesised to the cells of a user's own liberty file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dse.backend import Backend
from dse.cache import Cache
from dse.design import Design
from dse.front import Front
from dse.measure.target import target_of
from dse.run import FRONT, Run
from dse.space import Space
from hw.cells import library
from hw.composition import circuit_map
from hw.core import core_block
from hw.verilog import verilog
from hw.yosys import YosysError

__all__ = ["LibraryError", "LibraryPrice", "library_lines", "price_front", "priced"]


class LibraryError(ValueError):
    """A liberty file that cannot be used."""


@dataclass(frozen=True)
class LibraryPrice:
    """Core and units as one netlist in a library, memories and register file outside.

    Attributes:
        area: Cells and flip-flops, in the library's own unit.
        area_ge: The same over the library's NAND2.
        flip_flops: How many there are.
        path_ps: Longest path without flip-flop overhead, of all cycles of a unit of several.
    """

    area: float
    area_ge: float
    flip_flops: int
    path_ps: float

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def priced(
    space: Space, designs: Sequence[Design], liberty: Path, cache: Cache, jobs: int
) -> list[LibraryPrice]:
    """Synthesise designs, `jobs` at a time, 1 to 10 s each.

    Raises:
        LibraryError: when the file cannot be read, or yosys finds no library of gates in it.
    """
    try:
        text = liberty.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise LibraryError(f"liberty file {liberty} cannot be read: {error}") from None
    # PyRTL builds in this thread alone; what runs beside each other is yosys in its processes.
    modules = [_module(space, design, cache) for design in designs]
    try:
        with ThreadPoolExecutor(max(1, jobs)) as pool:
            found = list(pool.map(lambda module: library(*module, text), modules))
    except YosysError as error:
        raise LibraryError(f"liberty file {liberty} cannot be used: {error}") from None
    return [LibraryPrice(x.area, x.area_ge, x.flip_flops, x.delay_ps) for x in found]


def _module(space: Space, design: Design, cache: Cache) -> tuple[str, str]:
    target = target_of(space, design)
    block = core_block(
        target.core.canonical(),
        target.host_instructions,
        target.hardware(cache).latencies,
        circuit_map(target.circuits),
        joined=True,
        held=target.is_held,
    )
    module = verilog(block, initial=False, open_memories=True)
    return module.text, module.module


def price_front(run: Run, liberty: Path, backend: Backend, jobs: int) -> list[str]:
    """Price the front of a run, write library.json into it and return what to print.

    Raises:
        LibraryError: See `priced`.
    """
    front = Front.from_json(run.read(FRONT))
    space = run.space(Backend.load(backend.vocabulary))
    designs = [row.evaluation.canonical for row in front.rows]
    prices = priced(space, designs, liberty, Cache(None), jobs)
    content = {"liberty": liberty.name, "front": [price.to_json() for price in prices]}
    run.write("library.json", json.dumps(content, indent=1) + "\n")
    return library_lines(liberty, prices)


def library_lines(liberty: Path, prices: Sequence[LibraryPrice]) -> list[str]:
    """What to print about designs numbered from 1."""
    lines = [f"Core and units as one netlist in {liberty.name}, memories outside:"]
    for number, price in enumerate(prices, start=1):
        area = f"area {price.area:,.6g} of the library's, {price.area_ge:,.0f} of its NAND2"
        rest = f"{price.flip_flops:,} flip-flops, longest path {price.path_ps:,.0f} ps"
        lines.append(f"{number}: {area}, {rest}")
    return lines
