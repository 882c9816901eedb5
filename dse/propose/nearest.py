"""Nearest: which known instruction an idea equals, or has inside."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import product

from dse.propose.configured import setting
from dse.propose.group import Group
from dse.propose.idea import Idea
from dse.propose.known import LARGEST_IMMEDIATE, Known, known_instructions
from dse.propose.meaning import in_canonical_order, meaning_of, on_first_registers
from dse.propose.proof import METHODS, ProofError, equal
from isa.bits import Bits, arguments, concat, substitute
from isa.instruction import Instruction


@dataclass(frozen=True)
class Nearest:
    """How an idea relates to a known instruction.

    Attributes:
        relation: "equals", "is part of" (equal for the values of the immediates it needs),
            "mirrors" (equal where every word has its bytes in the other order), "is a setting of"
            (equal for some content of the instruction's state), "contains", or "" where it is new.
        name: The known instruction.
        extension: The extension that declares it.
        instruction: It; None where the idea is new.
        is_proven: The relation was proven, not only seen on vectors.
    """

    relation: str = ""
    name: str = ""
    extension: str = ""
    is_proven: bool = True
    instruction: Instruction | None = None

    def __str__(self) -> str:
        if not self.relation:
            return "new"
        return f"{self.relation} {self.name}" + ("" if self.is_proven else " (on vectors)")


@dataclass(frozen=True)
class _Place:
    """A known instruction in a block."""

    inside: int
    work: int
    known: Known


class Neighbourhood:
    """The known instructions among the meanings of some workloads."""

    def __init__(self, groups: Mapping[bytes, Group], base: Iterable[str], xlen: int) -> None:
        """Index them.

        Args:
            groups: All meanings found.
            base: Mnemonics of the base set, which are not worth naming.
            xlen: Register width.
        """
        self._known = known_instructions(xlen)
        self._base = frozenset(base)
        self._places: dict[int, list[_Place]] = {}
        for fingerprint, group in groups.items():
            every = self._known.get(fingerprint, ())
            if not every or every[0].instruction.name in self._base:
                continue
            known = every[0]
            for o in group.occurrences:
                place = _Place(o.subgraph.inside, o.work, known)
                self._places.setdefault(id(o.graph), []).append(place)

    def nearest(self, idea: Idea) -> Nearest:
        """Compare an idea with every known instruction."""
        if idea.second is not None:
            return self._both(idea) or self._contained(idea)
        bits = sum(width for _, width in idea.immediates)
        if bits <= LARGEST_IMMEDIATE:
            every = list(product(*(range(1 << width) for _, width in idea.immediates)))
            whole = self._equal(idea, every)
            if whole is not None:
                return Nearest("equals", *whole)
            mirrored = self._equal(idea, every, _mirror)
            if mirrored is not None:
                return Nearest("mirrors", *mirrored)
        part = self._equal(idea, idea.settings)
        if part is not None:
            return Nearest("is part of", *part)
        return self._set(idea) or self._contained(idea)

    def _both(self, idea: Idea) -> Nearest | None:
        """The known instructions that equal the two results."""
        found = []
        for root in idea.roots:
            half = on_first_registers(root)
            one = Idea(half, len(arguments([half])), (), (), ((),), "")
            equal_one = self._equal(one, [()])
            if equal_one is None:
                return None
            found.append(equal_one)
        names = " and ".join(name for name, _, _, _ in found)
        is_proven = all(proven for _, _, proven, _ in found)
        return Nearest("equals", names, found[0][1], is_proven)

    def _set(self, idea: Idea) -> Nearest | None:
        """A configurable instruction whose state can make it equal the idea."""
        if idea.operands != 1 or idea.immediates:
            return None
        found = setting(idea.root)
        if found is None:
            return None
        instruction, root = found
        fingerprint = meaning_of(root, 1).fingerprint
        if fingerprint != meaning_of(idea.root, 1).fingerprint:
            return None
        try:
            is_proven = equal(idea.root, root) != METHODS[-1]
        except ProofError:
            return None
        return Nearest(
            "is a setting of", instruction.name, instruction.extension, is_proven, instruction
        )

    def _equal(
        self,
        idea: Idea,
        settings: Iterable[tuple[int, ...]],
        change: Callable[[Bits], Bits] = lambda root: root,
    ) -> tuple[str, str, bool, Instruction] | None:
        """The instruction that equals the idea for `settings`, as fields of a `Nearest`."""
        shared: dict[str, Known] | None = None
        seen: dict[str, set[tuple[tuple[str, int], ...]]] = {}
        count = 0
        is_proven = True
        for fixed in settings:
            meaning = meaning_of(change(idea.specialised(fixed)), idea.operands)
            ours = in_canonical_order(meaning)
            matching: dict[str, Known] = {}
            for known in self._known.get(meaning.fingerprint, ()):
                name = known.instruction.name
                if shared is not None and name not in shared:
                    continue
                theirs = in_canonical_order(meaning_of(known.root, idea.operands))
                try:
                    is_proven &= equal(ours, theirs) != METHODS[-1]
                except ProofError:
                    continue
                matching[name] = known
            if not matching:
                return None
            shared = matching
            count += 1
            for name, known in matching.items():
                seen.setdefault(name, set()).add(known.immediates)
        exact = [name for name in shared or () if len(seen[name]) == count]
        if not shared or not exact:  # two settings of ours must not be one of theirs
            return None
        name, known = exact[0], shared[exact[0]]
        shown = name if idea.immediates else str(known)
        return shown, known.instruction.extension, is_proven, known.instruction

    def _contained(self, idea: Idea) -> Nearest:
        best: _Place | None = None
        for o in idea.occurrences[:1]:
            for place in self._places.get(id(o.graph), ()):
                is_inside = place.inside & ~o.subgraph.inside == 0
                if is_inside and (best is None or place.work > best.work):
                    best = place
        if best is None:
            return Nearest()
        known = best.known.instruction
        return Nearest("contains", known.name, known.extension, instruction=known)


def _mirror(root: Bits) -> Bits:
    """The function on words whose bytes stand in the other order."""
    holes = {a: _reversed(a) for a in arguments([root])}
    return _reversed(substitute(root, holes))


def _reversed(word: Bits) -> Bits:
    return concat(*(word.byte(i) for i in range(word.width // 8)))
