"""Functional units alone, priced as riscv-crypto prices its own: NAND2 of the CMOS recipe."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from dse.backend import Backend
from dse.cache import Cache, digest_of
from dse.compare.ledger import Unit
from dse.design import Design
from dse.evaluation import Evaluation
from dse.metrics import Quantity

TECHNOLOGY = "nand2_cmos"
PriceUnit = Callable[[Unit], Evaluation]
"""Prices the merged datapaths of a unit's instructions, without decoder and result multiplexer."""


def unit_pricer(backend: Backend, cache_folder: Path | None) -> PriceUnit:
    """The normal machinery as a `PriceUnit`, with the shared cache."""

    def price(unit: Unit) -> Evaluation:
        cache = Cache(cache_folder, backend.digest)
        design = Design({})
        try:
            key = digest_of(unit.model_dump_json())
            area = Quantity(cache.memo("unit", key, lambda: _nand2(unit)), "GE", "synthesised")
        except (ValueError, RuntimeError) as error:  # no such instruction; no yosys
            return Evaluation(design, feasible=False, reason=str(error))
        finally:
            cache.close()
        metrics = {"unit_area_ge": area, "extension_area_ge": area}
        return Evaluation(design, feasible=True, metrics=metrics)

    return price


def _nand2(unit: Unit) -> float:
    """NAND2 of a unit.

    Raises:
        ValueError: There is no such instruction or circuit, or none of so many cycles.
    """
    from hw.cmos import nand2_cmos
    from hw.extension import build_datapath
    from hw.serial import SERIAL
    from hw.units import chosen_circuits
    from hw.verilog import verilog
    from isa.instruction_set import find_instruction

    instructions = [find_instruction(name, unit.xlen) for name in unit.instructions]
    if unit.cycles == 1:
        block = build_datapath(instructions, unit.xlen, chosen_circuits(unit.circuits))
    else:
        build = SERIAL.get(frozenset(unit.instructions))
        if build is None:
            names = ", ".join(unit.instructions)
            raise ValueError(f"unit of {unit.cycles} cycles must be one there is, not of {names}")
        block = build(unit.instructions, unit.xlen, unit.cycles)
    module = verilog(block, initial=False)
    return nand2_cmos(module.text, module.module)
