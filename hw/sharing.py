"""Sharing: one S-box for several instructions of which one is selected at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from hw.lower import Circuits
from hw.merge import Choice, any_of, merge
from hw.units import Member
from isa.bits import Bits, concat, const, lookup, substitute, topological
from isa.table import Table

__all__ = ["share_lookups"]

SMALLEST_INDEX_BITS = 6
"""A table of fewer index bits costs about what selecting its index does, so it is not shared."""


@dataclass
class _Slot:
    """One S-box in hardware: who reads it, at which index, as which table."""

    users: list[tuple[Bits, Table, Bits]] = field(default_factory=list)

    def reads(self, index: Bits) -> bool:
        return any(at is index for at, _, _ in self.users)


def share_lookups(choices: Sequence[Choice], circuits: Circuits) -> tuple[list[Choice], Circuits]:
    """Return choices that look up as few times as the neediest of them does, and the circuits.

    The n-th lookup of one choice and the n-th of another become one lookup at a selected index;
    lookups at the same index go together first, so that nothing is selected where nothing differs.
    Tables whose circuits are `hw.units.Member` of one joint circuit share its S-boxes too. The
    result has the meaning of `hw.merge.merge`: it holds where one select is 1.

    A lookup whose index depends on another lookup is left alone, as is one of a table with fewer
    than `SMALLEST_INDEX_BITS` index bits.
    """
    chosen = dict(circuits)
    found = [_lookups(value) for value, _ in choices]
    groups: dict[str, set[str]] = {}
    for nodes in found:
        for n in nodes:
            groups.setdefault(_group(_table(n), circuits), set()).add(_table(n).name)
    values = [value for value, _ in choices]
    for group in sorted(groups):
        members = sorted(groups[group])
        wanted = [[n for n in nodes if _group(_table(n), circuits) == group] for nodes in found]
        slots, placed = _place(wanted, [select for _, select in choices])
        distinct = {id(n) for nodes in wanted for n in nodes}
        if len(distinct) == len(slots):
            continue
        joint = _joint(members, wanted) if len(members) > 1 else None
        if joint is not None:
            circuit = circuits[members[0]]
            assert isinstance(circuit, Member)
            chosen[joint.name] = circuit.of(tuple(members))
        built = [_shared(slot, members, joint) for slot in slots]
        for i, nodes in enumerate(wanted):
            replacement = {n: built[placed[i][n]] for n in nodes}
            values[i] = substitute(values[i], replacement)
    return [(value, select) for value, (_, select) in zip(values, choices, strict=True)], chosen


def _table(n: Bits) -> Table:
    assert isinstance(n.attr, Table)
    return n.attr


def _lookups(value: Bits) -> list[Bits]:
    """Return the lookups in `value` that are worth sharing and depend on no other."""
    return [
        n
        for n in topological([value])
        if n.op == "lookup"
        and _table(n).index_width >= SMALLEST_INDEX_BITS
        and all(m.op != "lookup" for m in topological(n.args))
    ]


def _group(table: Table, circuits: Circuits) -> str:
    """Return what must be equal for two lookups to share hardware."""
    circuit = circuits.get(table.name)
    if isinstance(circuit, Member):
        return f"joint {circuit.joint}"
    return f"table {table.name} {table.index_width} {table.width}"


def _place(
    wanted: Sequence[Sequence[Bits]], selects: Sequence[Bits]
) -> tuple[list[_Slot], list[dict[Bits, int]]]:
    """Return the slots and, for each choice, the slot of each of its lookups."""
    slots: list[_Slot] = []
    placed: list[dict[Bits, int]] = []
    for nodes, select in zip(wanted, selects, strict=True):
        mine: dict[Bits, int] = {}
        free = list(range(len(slots)))
        for n in nodes:
            same = next((i for i in free if slots[i].reads(n.args[0])), None)
            if same is not None:
                mine[n] = same
                free.remove(same)
        for n in nodes:
            if n not in mine:
                if not free:
                    slots.append(_Slot())
                    free.append(len(slots) - 1)
                mine[n] = free.pop(0)
        for n, i in mine.items():
            slots[i].users.append((n.args[0], _table(n), select))
        placed.append(mine)
    return slots, placed


def _joint(members: Sequence[str], wanted: Iterable[Sequence[Bits]]) -> Table:
    """Return the tables of `members` one after the other, the first again as padding."""
    tables: Mapping[str, Table] = {_table(n).name: _table(n) for nodes in wanted for n in nodes}
    parts = [tables[name] for name in members]
    while len(parts) & (len(parts) - 1):
        parts.append(parts[0])
    entries = tuple(entry for part in parts for entry in part.entries)
    return Table("+".join(members), parts[0].width, entries)


def _shared(slot: _Slot, members: Sequence[str], joint: Table | None) -> Bits:
    """Return the lookup of a slot at the index that is selected."""
    index = merge([(at, select) for at, _, select in slot.users], slot.users[0][0].width)
    if joint is None:
        return lookup(slot.users[0][1], index)
    which: Bits | None = None
    for bit in range((len(members) - 1).bit_length()):
        chosen = [s for _, t, s in slot.users if members.index(t.name) >> bit & 1]
        one = any_of(chosen) if chosen else const(0, 1)
        which = one if which is None else concat(one, which)
    assert which is not None
    return lookup(joint, concat(which, index))
