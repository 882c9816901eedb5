"""Liberty: our own cell library in gate equivalents, with logical-effort delays, as text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["CELLS", "TAU_PER_FO4", "Cell", "liberty_text"]

TAU_PER_FO4 = 5.0
"""An inverter of parasitic 1 that drives 4 equal ones takes 5 units of logical effort."""

TAU_NS = 0.01
"""Length of one unit in the liberty text; only ratios matter, `hw/synthesis.py` divides it out."""

LOADS = (0.0, 16.0, 256.0)
"""Load points of the delay tables, in input capacitances of a unit inverter."""


@dataclass(frozen=True)
class Cell:
    """A cell: area in GE (1 = NAND2), input capacitances and delay = parasitic + drive * load.

    Capacitances and parasitics follow logical effort (I. Sutherland, B. Sproull, D. Harris,
    "Logical Effort", 1999, tables 1.1 to 4.2: p-channel twice as wide as n-channel); compound
    cells (AND2, XOR2, MUX2) are charged their internal stage. Areas are those usual in 130 to
    45 nm libraries; against one of them (OSU 0.35 um, normalised to NAND2X1) they are INV .67,
    AND2 1.33, AOI21 1.33, MUX2 2.0, XOR2 2.33.
    """

    name: str
    area_ge: float
    pins: tuple[tuple[str, float], ...]
    function: str
    sense: str
    parasitic: float
    drive: float = 1.0


def _cell(
    name: str,
    area_ge: float,
    caps: tuple[float, ...],
    function: str,
    parasitic: float,
    drive: float = 1.0,
) -> Cell:
    names = ("A", "B", "S") if name.startswith("MUX") else ("A", "B", "C", "D")
    inverting = function.startswith("!(") or function.startswith("!A")
    sense = "negative_unate" if inverting else "positive_unate"
    if name.startswith(("XOR", "XNOR", "MUX")):
        sense = "non_unate"
    pins = tuple(zip(names, caps, strict=False))
    return Cell(name, area_ge, pins, function, sense, parasitic, drive)


CELLS: tuple[Cell, ...] = (
    _cell("INV", 0.67, (1.0,), "!A", 1.0),
    _cell("INVX4", 1.33, (4.0,), "!A", 1.0, 0.25),
    _cell("BUFX4", 2.00, (1.5,), "A", 4.0, 0.25),
    _cell("NAND2", 1.00, (4 / 3, 4 / 3), "!(A&B)", 2.0),
    _cell("NAND3", 1.33, (5 / 3, 5 / 3, 5 / 3), "!(A&B&C)", 3.0),
    _cell("NOR2", 1.00, (5 / 3, 5 / 3), "!(A|B)", 2.0),
    _cell("NOR3", 1.33, (7 / 3, 7 / 3, 7 / 3), "!(A|B|C)", 3.0),
    _cell("AND2", 1.33, (1.0, 1.0), "A&B", 3.5, 0.75),
    _cell("OR2", 1.33, (1.0, 1.0), "A|B", 4.0, 0.75),
    _cell("AOI21", 1.33, (2.0, 2.0, 5 / 3), "!((A&B)|C)", 7 / 3),
    _cell("OAI21", 1.33, (2.0, 2.0, 4 / 3), "!((A|B)&C)", 7 / 3),
    _cell("AOI22", 1.67, (2.0, 2.0, 2.0, 2.0), "!((A&B)|(C&D))", 4.0),
    _cell("OAI22", 1.67, (2.0, 2.0, 2.0, 2.0), "!((A|B)&(C|D))", 4.0),
    _cell("XOR2", 2.00, (2.0, 2.0), "A^B", 4.0),
    _cell("XNOR2", 2.00, (2.0, 2.0), "!(A^B)", 4.0),
    _cell("MUX2", 2.33, (1.0, 1.0, 2.0), "(S&B)|(!S&A)", 5.0, 0.75),
)

FLIP_FLOP_GE = 5.67
"""Area of the D flip-flop, without enable or reset."""

_HEADER = """\
library(ge_generic) {
  delay_model : table_lookup;
  time_unit : "1ns";
  capacitive_load_unit (1.0,pf);
  voltage_unit : "1V"; current_unit : "1mA"; pulling_resistance_unit : "1kohm";
  leakage_power_unit : "1nW";
  nom_process : 1; nom_voltage : 1; nom_temperature : 25; default_max_transition : 10;
  lu_table_template(by_load) {
    variable_1 : input_net_transition; variable_2 : total_output_net_capacitance;
    index_1 ("0.0, 10.0"); index_2 ("0.0, 16.0, 256.0");
  }"""

_FLIP_FLOP = """\
  cell(DFF) {{ area : {area}; ff(IQ,IQN) {{ clocked_on : "CK"; next_state : "D"; }}
    pin(CK) {{ direction : input; clock : true; capacitance : 1; }}
    pin(D) {{ direction : input; capacitance : 1; }}
    pin(Q) {{ direction : output; function : "IQ"; }}
  }}"""


def _table(kind: str, value: Callable[[float], float]) -> str:
    row = '"' + ", ".join(f"{value(load):.5f}" for load in LOADS) + '"'
    index = 'index_1 ("0.0, 10.0"); index_2 ("0.0, 16.0, 256.0");'
    return f"        {kind}(by_load) {{ {index} values ({row}, {row}); }}"


def _cell_text(cell: Cell) -> list[str]:
    lines = [f"  cell({cell.name}) {{ area : {cell.area_ge};"]
    for pin, capacitance in cell.pins:
        lines.append(f"    pin({pin}) {{ direction : input; capacitance : {capacitance:.4f}; }}")
    lines.append(
        f'    pin(Y) {{ direction : output; function : "{cell.function}"; max_capacitance : 256;'
    )
    for pin, _ in cell.pins:
        lines.append(f'      timing() {{ related_pin : "{pin}"; timing_sense : {cell.sense};')
        for kind in ("cell_rise", "cell_fall"):
            lines.append(_table(kind, lambda load: TAU_NS * (cell.parasitic + cell.drive * load)))
        for kind in ("rise_transition", "fall_transition"):
            lines.append(_table(kind, lambda load: TAU_NS * cell.drive * load))
        lines.append("      }")
    lines.append("    }\n  }")
    return lines


def liberty_text() -> str:
    """Return the library as liberty text, readable by ABC's `read_lib` and yosys `dfflibmap`."""
    lines = [_HEADER]
    for cell in CELLS:
        lines.extend(_cell_text(cell))
    lines.append(_FLIP_FLOP.format(area=FLIP_FLOP_GE))
    lines.append("}")
    return "\n".join(lines) + "\n"
