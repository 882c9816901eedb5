"""MemoryOrder: which accesses of a region must keep the kernel's order."""

from __future__ import annotations

from isa.compiler.operations import Loop, MemoryAccess, Operation

Item = Operation | Loop


class MemoryOrder:
    """Finds the accesses that an access must follow, given in the kernel's order.

    Accesses through the same terms are kept by byte: the last store and the loads since. Those
    through other terms of the same pointer may be anywhere.
    """

    def __init__(self) -> None:
        self._bytes: dict[tuple[str, object, int], tuple[Item | None, list[Item]]] = {}
        self._terms: dict[str, dict[object, list[tuple[Item, bool]]]] = {}

    def add(self, item: Item, access: MemoryAccess) -> list[Item]:
        """Enter an access; returns those it must follow."""
        found: dict[Item, None] = {}
        by_terms = self._terms.setdefault(access.pointer, {})
        for terms, others in by_terms.items():
            if terms != access.terms:
                found |= {o: None for o, stores in others if stores or access.is_store}
        for place in range(access.low, access.high):
            key = (access.pointer, access.terms, place)
            store, loads = self._bytes.get(key, (None, []))
            if store is not None:
                found[store] = None
            if access.is_store:
                found |= dict.fromkeys(loads)
                self._bytes[key] = (item, [])
            else:
                self._bytes[key] = (store, [*loads, item])
        by_terms.setdefault(access.terms, []).append((item, access.is_store))
        return list(found)


def touched(item: Item) -> tuple[list[MemoryAccess], list[tuple[str, bool]]]:
    """Memory and state an item touches; a loop touches everything of a buffer it accesses."""
    if isinstance(item, Operation):
        return ([item.memory] if item.memory else []), list(item.state)
    accesses: dict[tuple[str, bool], MemoryAccess] = {}
    state: dict[tuple[str, bool], None] = {}
    for inner in item.inner_operations():
        if inner.memory:
            key = (inner.memory.pointer, inner.memory.is_store)
            terms = (("", 1),)  # unlike any others, therefore conflicting
            accesses[key] = MemoryAccess(key[0], terms, 0, 1, key[1])
        state |= dict.fromkeys(inner.state)
    return list(accesses.values()), list(state)
