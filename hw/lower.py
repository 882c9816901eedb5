"""Lower: from `Bits` to PyRTL wires; the only file that knows what an operator is in hardware."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

import pyrtl

from hw.rom import read_table
from isa.bits import Bits, fold
from isa.table import Table

__all__ = ["HARDWARE", "Circuits", "lower"]

Wire: TypeAlias = pyrtl.WireVector

Circuits = Mapping[str, Callable[[Wire], Wire]]
"""Name of a table to the circuit chosen for it; see `hw.units.circuits_for`."""


def lower(roots: Iterable[Bits], env: Mapping[str, Wire], circuits: Circuits) -> list[Wire]:
    """Return one wire for each root, built in the working block.

    `env` gives the wire of each argument by name. Nodes shared between roots become one piece of
    hardware, so lower all instructions of a unit in one call. A lookup uses the circuit that
    `circuits` names for its table, else the table itself.

    Raises:
        ValueError: when an argument has no wire, or one of another width.
    """

    def visit(n: Bits, args: list[Wire]) -> Wire:
        if n.op == "arg":
            return _argument(n, env)
        if n.op == "lookup":
            return _lookup(n, args[0], circuits)
        wire = HARDWARE[n.op](n, *args)
        if len(wire) != n.width:
            raise AssertionError(f"{n.op} of {n.width} bits was lowered to {len(wire)} bits")
        return wire

    return fold(roots, visit)


def _argument(n: Bits, env: Mapping[str, Wire]) -> Wire:
    name = str(n.attr)
    if name not in env:
        names = ", ".join(sorted(env)) or "none"
        raise ValueError(f"argument must be one of {names}, not {name!r}")
    if len(env[name]) != n.width:
        raise ValueError(f"wire of {name} must be {n.width} bits wide, not {len(env[name])}")
    return env[name]


def _lookup(n: Bits, index: Wire, circuits: Circuits) -> Wire:
    table = n.attr
    assert isinstance(table, Table)
    build = circuits.get(table.name)
    wire = read_table(table, index) if build is None else build(index)
    if len(wire) != table.width:
        raise ValueError(f"circuit of {table.name} must give {table.width} bits, not {len(wire)}")
    return wire


def _named(wire: Wire) -> Wire:
    """Return `wire` through a wire of its own.

    PyRTL's Verilog exporter (1.0) writes arithmetic inside a concatenation, where Verilog sizes it
    by its operands and drops the carry; the result of + - * must stand on its own first.
    """
    own = Wire(bitwidth=len(wire))
    own <<= wire
    return own


def _amount(n: Bits) -> int:
    assert isinstance(n.attr, int)
    return n.attr


def _zeros(width: int) -> Wire:
    return pyrtl.Const(0, bitwidth=width)


def _shift_left(x: Wire, amount: int) -> Wire:
    return pyrtl.concat(x[: len(x) - amount], _zeros(amount)) if amount else x


def _shift_right(x: Wire, amount: int) -> Wire:
    return pyrtl.concat(_zeros(amount), x[amount:]) if amount else x


def _arithmetic_right(x: Wire, amount: int) -> Wire:
    return x[amount:].sign_extended(len(x)) if amount else x


def _rotate_right(x: Wire, amount: int) -> Wire:
    return pyrtl.concat(x[:amount], x[amount:]) if amount else x


def _barrel(shift: Callable[[Wire, int], Wire], x: Wire, amount: Wire) -> Wire:
    """Shift by a variable amount: a multiplexer stage for each bit of it, largest shift last."""
    for i in range(len(amount)):
        x = pyrtl.select(amount[i], shift(x, 1 << i), x)
    return x


def _clmul(a: Wire, b: Wire) -> Wire:
    """Return the carry-less product: one shifted copy of `a` for each bit of `b`, XORed."""
    width = len(a)
    rows: list[Wire] = []
    for i in range(width):
        row = a & b[i].sign_extended(width)
        parts = [_zeros(width - i), row, *([_zeros(i)] if i else [])]
        rows.append(pyrtl.concat(*parts))
    return _tree(rows)


def _tree(rows: Sequence[Wire]) -> Wire:
    rows = list(rows)
    while len(rows) > 1:
        rows = [
            rows[i] ^ rows[i + 1] if i + 1 < len(rows) else rows[i] for i in range(0, len(rows), 2)
        ]
    return rows[0]


def _signed_less(a: Wire, b: Wire) -> Wire:
    """Return a < b as two's complement: with the sign bits inverted it is the unsigned order."""

    def offset(x: Wire) -> Wire:
        return pyrtl.concat(~x[-1], x[:-1]) if len(x) > 1 else ~x

    return offset(a) < offset(b)


HARDWARE: dict[str, Callable[..., Wire]] = {
    "const": lambda n: pyrtl.Const(n.attr, bitwidth=n.width),
    "and": lambda n, a, b: a & b,
    "or": lambda n, a, b: a | b,
    "xor": lambda n, a, b: a ^ b,
    "not": lambda n, a: ~a,
    "add": lambda n, a, b: _named(a + b)[: n.width],
    "sub": lambda n, a, b: _named(a - b)[: n.width],
    "mul": lambda n, a, b: _named(a * b)[: n.width],
    "mul_wide": lambda n, a, b: _named(a * b),
    "clmul": lambda n, a, b: _clmul(a, b),
    "shl": lambda n, a: _shift_left(a, _amount(n)),
    "shr": lambda n, a: _shift_right(a, _amount(n)),
    "sar": lambda n, a: _arithmetic_right(a, _amount(n)),
    "rotr": lambda n, a: _rotate_right(a, _amount(n)),
    "shl_var": lambda n, a, b: _barrel(_shift_left, a, b),
    "shr_var": lambda n, a, b: _barrel(_shift_right, a, b),
    "sar_var": lambda n, a, b: _barrel(_arithmetic_right, a, b),
    "rotr_var": lambda n, a, b: _barrel(_rotate_right, a, b),
    "concat": lambda n, *parts: pyrtl.concat(*parts),
    "slice": lambda n, a: a[_amount(n) : _amount(n) + n.width],
    "zext": lambda n, a: a.zero_extended(n.width),
    "sext": lambda n, a: a.sign_extended(n.width),
    "eq": lambda n, a, b: a == b,
    "ult": lambda n, a, b: a < b,
    "slt": lambda n, a, b: _signed_less(a, b),
    "mux": lambda n, condition, a, b: pyrtl.select(condition, a, b),
}
"""Hardware of each operator but `arg` and `lookup`, which depend on what surrounds them."""
