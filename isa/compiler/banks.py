"""Banks: which bank holds which matrix or mask where, and when it is filled.

What a region and the loops in it ask for is filled before the region where it fits the banks. Where
it does not, all banks but one are given to the contents used most and filled before the region, and
the last is filled again whenever another content is due.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from isa.kernel import Effect, LoopEffect


@dataclass(frozen=True)
class Fill:
    """Bring `content` into bank number `bank`."""

    bank: int
    content: int


class BankPlan:
    """Plans one unit of a kernel.

    Attributes:
        bank_of: Bank that serves each effect.
        before: What is filled before an effect, in its region.
    """

    def __init__(
        self, effects: Iterable[Effect], banks: int, content: Callable[[Effect], int | None]
    ) -> None:
        """Plan.

        Args:
            effects: Body of the kernel.
            banks: Number of banks.
            content: What an effect needs in a bank; None where it does not use the unit.
        """
        self._banks = banks
        self._content = content
        self.bank_of: dict[int, int] = {}
        self.before: dict[int, list[Fill]] = {}
        top = list(effects)
        if self._needs(top):
            self._region(top, top[0])

    def _needs(self, effects: Iterable[Effect]) -> dict[int, int]:
        """Contents needed inside, in order of first use, and how often they stand there."""
        counts: dict[int, int] = {}
        for effect in effects:
            if isinstance(effect, LoopEffect):
                for c, n in self._needs(effect.body).items():
                    counts[c] = counts.get(c, 0) + n * effect.count
            else:
                needed = self._content(effect)
                if needed is not None:
                    counts[needed] = counts.get(needed, 0) + 1
        return counts

    def _region(self, effects: list[Effect], place: Effect) -> None:
        """Plan a region that nothing is filled for yet; `place` stands before it."""
        counts = self._needs(effects)
        if len(counts) <= self._banks:
            held = {c: b for b, c in enumerate(counts)}
        else:
            most = sorted(counts, key=lambda c: -counts[c])[: self._banks - 1]
            held = {c: b for b, c in enumerate(c for c in counts if c in most)}
        for c, b in held.items():
            self.before.setdefault(id(place), []).append(Fill(b, c))
        self._assign(effects, held)

    def _assign(self, effects: list[Effect], held: dict[int, int]) -> None:
        """Use `held` banks; the last one is refilled for everything else."""
        last = self._banks - 1
        current: int | None = None
        for effect in effects:
            if isinstance(effect, LoopEffect):
                others = [c for c in self._needs(effect.body) if c not in held]
                inner = held
                if len(others) == 1:
                    if current != others[0]:
                        self.before.setdefault(id(effect), []).append(Fill(last, others[0]))
                    current = others[0]
                    inner = {**held, current: last}
                elif others:
                    current = None
                self._assign(list(effect.body), inner)
                continue
            needed = self._content(effect)
            if needed is None:
                continue
            if needed not in held:
                if current != needed:
                    self.before.setdefault(id(effect), []).append(Fill(last, needed))
                    current = needed
                self.bank_of[id(effect)] = last
            else:
                self.bank_of[id(effect)] = held[needed]
