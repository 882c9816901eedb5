"""Banks: which bank holds which matrix or mask where, and when it is filled.

What a region and the loops in it ask for is filled before the region where it fits the banks. Where
it does not, all banks but one are given to the contents used most and filled before the region, and
the last is filled again whenever another content is due.

Filling shifts the bank. Where the low end of what stands in it is the high end of what is due, only
the rest is pushed; a loop that fills a bank first thing finds there what its end has left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from isa.kernel import Effect, LoopEffect


@dataclass(frozen=True)
class Fill:
    """Push the low `bits` of `content` into bank number `bank`."""

    bank: int
    content: int
    bits: int


class BankPlan:
    """Plans one unit of a kernel.

    Attributes:
        bank_of: Bank that serves each effect.
        before: What is filled before an effect, in its region.
    """

    def __init__(
        self,
        effects: Iterable[Effect],
        banks: int,
        width: int,
        chunk: int,
        content: Callable[[Effect], int | None],
    ) -> None:
        """Plan.

        Args:
            effects: Body of the kernel.
            banks: Number of banks.
            width: Bits of one.
            chunk: Bits of one push.
            content: What an effect needs in a bank; None where it does not use the unit.
        """
        self._banks = banks
        self._width = width
        self._chunk = chunk
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
            self.before.setdefault(id(place), []).append(Fill(b, c, self._width))
        self._assign(effects, held)

    def _kept(self, old: int | None, new: int) -> int:
        """Bits of `new`, from its high end, that the low end of `old` already holds."""
        if old is None:
            return 0
        for bits in range(self._width - self._chunk, 0, -self._chunk):
            if old & ((1 << bits) - 1) == new >> self._width - bits:
                return bits
        return 0

    def _refill(self, effect: Effect, old: int | None, new: int) -> None:
        """Fill the last bank before an effect, over `old` where that is known."""
        fill = Fill(self._banks - 1, new, self._width - self._kept(old, new))
        self.before.setdefault(id(effect), []).append(fill)

    def _assign(self, effects: list[Effect], held: dict[int, int]) -> tuple[Effect, int] | None:
        """Use `held` banks; the last one is refilled for everything else.

        Returns:
            Where the last bank is refilled over what stood there before, and what it holds at the
            end; None where either is not known.
        """
        last = self._banks - 1
        current: int | None = None
        first: Effect | None = None
        is_first_known = True
        for effect in effects:
            if isinstance(effect, LoopEffect):
                others = [c for c in self._needs(effect.body) if c not in held]
                inner = held
                if len(others) == 1:
                    if current != others[0]:
                        self._refill(effect, current, others[0])
                        first = first or effect
                    current = others[0]
                    inner = {**held, current: last}
                elif others:
                    current = None
                    is_first_known = is_first_known and first is not None
                ends = self._assign(list(effect.body), inner)
                if len(others) > 1 and ends is not None:
                    current = self._rotate(effect, *ends)
                continue
            needed = self._content(effect)
            if needed is None:
                continue
            if needed not in held:
                if current != needed:
                    self._refill(effect, current, needed)
                    first = first or effect
                    current = needed
                self.bank_of[id(effect)] = last
            else:
                self.bank_of[id(effect)] = held[needed]
        return (first, current) if is_first_known and first and current is not None else None

    def _rotate(self, loop: LoopEffect, first: Effect, left: int) -> int:
        """Let the first refill of a loop build on what the end of the loop leaves there.

        What it builds on is pushed before the loop, for the first time round.
        """
        place = self.before[id(first)]
        fill = place[-1]
        kept = self._kept(left, fill.content)
        if kept and loop.count > 1:
            place[-1] = Fill(fill.bank, fill.content, self._width - kept)
            self.before.setdefault(id(loop), []).append(Fill(fill.bank, left, kept))
        return left
