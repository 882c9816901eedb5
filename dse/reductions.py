"""`Reductions`: which designs are known to come down to one already evaluated.

Evaluating a design tells which of its instructions its programs use. The compiler takes the
cheapest cover, so instructions it passed over once it passes over again when others that it
passed over are taken away: every design between what was offered and what was used is the same
canonical design, and need not be compiled to know it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import itemgetter

from dse.design import Design, Value
from dse.space import Space

_Getter = Callable[[Mapping[str, Value]], object]


class Reductions:
    """Learns from evaluated designs; its answers depend on what was learned alone."""

    def __init__(self, space: Space) -> None:
        self._entries = {entry.name for entry in space.entries}
        self._owner = {
            parameter.name: parameter.condition.parameter
            for parameter in space.parameters
            if parameter.condition and parameter.condition.parameter in self._entries
        }
        self._names = sorted(parameter.name for parameter in space.parameters)
        # by the parameters that do not matter: the others' values to the canonical design
        self._known: dict[frozenset[str], tuple[_Getter, dict[object, Design]]] = {}

    def learn(self, asked: Design, canonical: Design) -> None:
        """Take note that `asked` came down to `canonical`."""
        changed = {name for name in asked if asked[name] != canonical.get(name)}
        dropped = {name for name in changed & self._entries if asked[name] and not canonical[name]}
        idle = {name for name, owner in self._owner.items() if owner in dropped}
        units = {name for name in changed if name.startswith("units.")}
        if not changed or changed - dropped - idle - units:
            return
        free = frozenset(dropped | idle | units)
        if free not in self._known:
            held = [name for name in self._names if name not in free]
            self._known[free] = (itemgetter(*held, held[0]), {})
        key, known = self._known[free]
        known[key(asked.plain)] = canonical

    def apply(self, design: Design) -> Design:
        """The canonical design that `design` is known to come down to, else itself."""
        values = design.plain
        for key, known in self._known.values():
            found = known.get(key(values))
            if found is not None:
                return found
        return design
