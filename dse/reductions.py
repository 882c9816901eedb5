"""`Reductions`: which designs are known to come down to one already evaluated.

Evaluating a design tells which of its instructions its programs use. The compiler takes the
cheapest cover, so instructions it passed over once it passes over again when others that it
passed over are taken away: every design between what was offered and what was used is the same
canonical design, and need not be compiled to know it.
"""

from __future__ import annotations

from collections.abc import Iterable

from dse.design import Design, Value
from dse.space import Space

_Key = tuple[tuple[str, Value], ...]


class Reductions:
    """Learns from evaluated designs; its answers depend on what was learned alone."""

    def __init__(self, space: Space) -> None:
        self._entries = {entry.name for entry in space.entries}
        self._owner = {
            parameter.name: parameter.condition.parameter
            for parameter in space.parameters
            if parameter.condition and parameter.condition.parameter in self._entries
        }
        # by the parameters that do not matter: the others' values to the canonical design
        self._known: dict[frozenset[str], dict[_Key, Design]] = {}

    def learn(self, asked: Design, canonical: Design) -> None:
        """Take note that `asked` came down to `canonical`."""
        changed = {name for name in asked if asked[name] != canonical.get(name)}
        dropped = {name for name in changed & self._entries if asked[name] and not canonical[name]}
        idle = {name for name, owner in self._owner.items() if owner in dropped}
        units = {name for name in changed if name.startswith("units.")}
        if not changed or changed - dropped - idle - units:
            return
        free = frozenset(dropped | idle | units)
        self._known.setdefault(free, {})[_key(asked, free)] = canonical

    def apply(self, design: Design) -> Design:
        """The canonical design that `design` is known to come down to, else itself."""
        for free, known in self._known.items():
            found = known.get(_key(design, free))
            if found is not None:
                return found
        return design


def _key(design: Design, free: Iterable[str]) -> _Key:
    return tuple((name, value) for name, value in design.items() if name not in free)
