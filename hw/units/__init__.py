"""Units: rival circuits of one meaning, one file each, found without a list of them.

Of a table, such as an S-box, or of several instructions, such as all shifts (`hw.units.joint`).
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache

import pyrtl

from hw.joint import AUTO, MERGED, joints

__all__ = [
    "AUTO",
    "MERGED",
    "Build",
    "Circuit",
    "Member",
    "chosen_circuits",
    "circuit",
    "circuit_names",
    "circuits_for",
    "register",
    "table_names",
    "unit_names",
    "units_of",
]

Build = Callable[[pyrtl.WireVector], pyrtl.WireVector]
"""Makes the circuit in the working block: index of the table in, its entry out."""


@dataclass(frozen=True)
class Circuit:
    """A circuit that equals the table called `table` on every index; `source` says whence."""

    table: str
    name: str
    build: Build
    source: str


@dataclass(frozen=True)
class Member:
    """The circuit of one table that several tables can share, for `register` as a build function.

    Attributes:
        table: The table.
        joint: Name of the circuit; its members are those of this name.
        of: Given tables of the joint circuit, sorted by name, builds the circuit for all of them:
            index in the low bits, rank of the table above it. For one table it is that table's.
    """

    table: str
    joint: str
    of: Callable[[tuple[str, ...]], Build]

    def __call__(self, x: pyrtl.WireVector) -> pyrtl.WireVector:
        """Build the circuit for this table alone."""
        return self.of((self.table,))(x)


_registry: dict[tuple[str, str], Circuit] = {}


def register(*, table: str, name: str, source: str) -> Callable[[Build], Build]:
    """Decorate a build function: `name` computes the table `table`."""

    def add(build: Build) -> Build:
        known = _registry.get((table, name))
        if known is not None and known.build.__module__ != build.__module__:
            raise ValueError(
                f"circuit {name} of {table} must be registered once, "
                f"not in {known.build.__module__} and {build.__module__}"
            )
        _registry[table, name] = Circuit(table, name, build, source)
        return build

    return add


@cache
def _discover() -> None:
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda m: m.name):
        importlib.import_module(f"{__name__}.{module.name}")


def circuits_for(table: str) -> dict[str, Build]:
    """Return the circuits of `table` by name, in alphabetical order; empty if it has none."""
    _discover()
    return {name: _registry[of, name].build for of, name in sorted(_registry) if of == table}


def table_names() -> tuple[str, ...]:
    """Return the names of the tables that have circuits, sorted."""
    _discover()
    shared = {joint.unit for joint in joints()}
    return tuple(sorted({table for table, _ in _registry} - shared))


def unit_names() -> tuple[str, ...]:
    """Return the names of all that has rival circuits: tables, then units of instructions."""
    return (*table_names(), *sorted({joint.unit for joint in joints()}))


def units_of(names: Collection[str]) -> tuple[str, ...]:
    """Return the units that instructions of these names can be built in, sorted."""
    return tuple(sorted({j.unit for j in joints() if not set(names).isdisjoint(j.instructions)}))


def circuit_names(table: str) -> tuple[str, ...]:
    """Return the names of the circuits of `table`, sorted; empty if it has none."""
    return tuple(circuits_for(table))


def chosen_circuits(choice: Mapping[str, str]) -> dict[str, Build]:
    """Return the circuit for each table of `choice` (table name to circuit name)."""
    return {table: circuit(table, name).build for table, name in choice.items()}


def circuit(table: str, name: str) -> Circuit:
    """Return the circuit `name` of `table`.

    Raises:
        ValueError: when there is none; the message lists those there are.
    """
    known = circuits_for(table)
    if name not in known:
        names = ", ".join(known) or "none registered"
        raise ValueError(f"circuit of {table} must be one of {names}, not {name!r}")
    return _registry[table, name]
