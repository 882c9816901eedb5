"""Gather: a kernel's effects in order, their operands as words, and where words are known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from isa.bits import Bits
from isa.compiler.banks import BankPlan, Fill
from isa.compiler.describe import shown
from isa.compiler.legalise import Legaliser, Pieces, signed_width
from isa.compiler.operations import Loop, Region
from isa.compiler.repertoire import Repertoire
from isa.compiler.units import Unit
from isa.compiler.words import Word, Words
from isa.kernel import (
    Effect,
    Kernel,
    LoadEffect,
    LoopEffect,
    Pointer,
    ProductEffect,
    StoreEffect,
    SubstitutionEffect,
    UnsupportedKernel,
)

Terms = tuple[tuple[str, int], ...]
"""Loop counters and their coefficients."""


@dataclass(eq=False)
class LoopWords:
    """A loop while its values are still words."""

    effect: LoopEffect
    loop: Loop
    parameters: list[Word]
    initial: list[Word]
    results: list[Word]
    outputs: list[Word]


@dataclass(frozen=True, eq=False)
class Step:
    """An effect in program order, its operands as words."""

    effect: Effect
    region: Region
    order: int
    operands: tuple[Word, ...] = ()
    loop: LoopWords | None = None
    ends: bool = False
    fill: tuple[Unit, Fill] | None = None


class Gatherer:
    """Reads one kernel.

    Attributes:
        root: The region of the whole kernel; the regions of loops hang below it.
        steps: Effects in order.
        loops: By name of the counter.
        counters: Leaves that stand for counters, with their names.
        loads: The load behind each leaf that is one.
        bases: Buffer and terms of the loop counters whose address each leaf is that is one.
        texts: How leaves are shown to people.
        plans: Units the kernel uses, by kind of effect.
        frequencies: How often code runs, by loop depth.
    """

    def __init__(self, kernel: Kernel, repertoire: Repertoire) -> None:
        self.kernel = kernel
        self.repertoire = repertoire
        self.xlen = repertoire.xlen
        self.words = Words(self.xlen)
        self.root = Region(0, 1.0)
        self.steps: list[Step] = []
        self.loops: dict[str, Loop] = {}
        self.counters: dict[Word, str] = {}
        self.loads: dict[Word, Step] = {}
        self.bases: dict[Word, tuple[Pointer, Terms]] = {}
        self.texts: dict[str, str] = {}
        self.plans: list[tuple[type, Unit, BankPlan]] = []
        self.frequencies: dict[int, float] = {}
        self._legalise = Legaliser(self.words, self._leaf)
        self._leaf_region: dict[Word, Region] = {}
        self._region_of: dict[Word, Region] = {}
        self._counter_masks: dict[str, int] = {}
        self._plan()
        self._gather(kernel.body, self.root)

    def _leaf(self, n: Bits) -> Pieces:
        """Words of an argument node, whose region is known once its effect was gathered."""
        pieces = []
        for i in range(0, n.width, self.xlen):
            name = str(n.attr) if n.width <= self.xlen else f"{n.attr}:{i}"
            ones = (1 << min(self.xlen, n.width - i)) - 1
            sign = None
            if n.attr in self._counter_masks:
                ones &= self._counter_masks[str(n.attr)]
            elif n.width == signed_width(self.xlen):
                ones, sign = -1, n.width
            pieces.append(self.words.leaf(name, ones, sign))
        return tuple(pieces)

    def _gather(self, effects: Iterable[Effect], region: Region) -> None:
        for effect in effects:
            for _, unit, plan in self.plans:
                for fill in plan.before.get(id(effect), ()):
                    self.steps.append(Step(effect, region, len(self.steps), fill=(unit, fill)))
            order = len(self.steps)
            if isinstance(effect, LoadEffect):
                leaf, value = self._loaded(effect)
                self._legalise.know(effect.result, (value,))
                self._leaf_region[leaf] = region
                step = Step(effect, region, order, self._address(effect))
                self.loads[leaf] = step
                self.texts[str(leaf.attr)] = self.place(effect)
                self.steps.append(step)
            elif isinstance(effect, StoreEffect):
                operand = self._legalise(effect.value)[0]
                self.steps.append(Step(effect, region, order, (operand, *self._address(effect))))
            elif isinstance(effect, LoopEffect):
                self._gather_loop(effect, region, order)
            else:
                self._gather_stateful(effect, region)

    def _address(self, effect: LoadEffect | StoreEffect) -> Pieces:
        """The word base + index of an access with an index, without the constant offset."""
        if effect.index is None:
            return ()
        terms = effect.offset.terms
        base = self.words.leaf("&" + effect.pointer.name + "".join(f" + {c} {n}" for n, c in terms))
        self.bases[base] = effect.pointer, terms
        self.texts[str(base.attr)] = str(base.attr)
        regions = [self.loops[n].body for n, _ in terms]
        self._leaf_region[base] = max(regions, key=lambda r: r.depth, default=self.root)
        return (self.words.add(self._legalise(effect.index)[0], base),)

    def place(self, effect: LoadEffect | StoreEffect) -> str:
        """What an access touches, for people."""
        index = "" if effect.index is None else "index + "
        return f"{effect.pointer.name}[{index}{shown(effect.offset)}]"

    def signed_load(self, effect: LoadEffect) -> bool:
        """Whether to sign-extend, as words on RV64 are also where the kernel wants zeros."""
        return effect.signed or effect.width == signed_width(self.xlen)

    def _loaded(self, effect: LoadEffect) -> tuple[Word, Word]:
        """What the load instruction gives, and the value of the effect."""
        name, width = str(effect.result.attr), effect.width
        if not self.signed_load(effect):
            leaf = self.words.leaf(name, (1 << width) - 1)
            return leaf, leaf
        leaf = self.words.leaf(name, -1, width)
        return leaf, leaf if effect.signed else self.words.move(leaf, 0, width, 0)

    def _gather_stateful(self, effect: ProductEffect | SubstitutionEffect, region: Region) -> None:
        operand = self._legalise(effect.operand)[0]
        leaf = self.words.leaf(str(effect.result.attr))
        self._leaf_region[leaf] = region
        self.steps.append(Step(effect, region, len(self.steps), (operand,)))

    def _plan(self) -> None:
        """Find the units the kernel asks for and plan their banks."""
        wanted = {type(e) for e in all_effects(self.kernel.body)}
        if ProductEffect in wanted:
            unit = self.repertoire.matrix_unit
            if unit is None:
                raise UnsupportedKernel(
                    "kernel multiplies with matrices, for which the instruction set has no unit; "
                    "add nluv or choose another variant of the kernel"
                )
            self.plans.append((ProductEffect, unit, self._bank_plan(unit, matrix_content)))
        if SubstitutionEffect in wanted:
            unit = self.repertoire.mask_unit
            if unit is None:
                raise UnsupportedKernel(
                    "kernel substitutes by a mask, for which the instruction set has no unit; "
                    "add nluv or choose another variant of the kernel"
                )
            self.plans.append((SubstitutionEffect, unit, self._bank_plan(unit, mask_content)))

    def _bank_plan(self, unit: Unit, content: Callable[[Effect], int | None]) -> BankPlan:
        return BankPlan(self.kernel.body, len(unit.banks), unit.width, unit.chunk, content)

    def _gather_loop(self, effect: LoopEffect, region: Region, order: int) -> None:
        body = Region(region.depth + 1, region.frequency * effect.count, region)
        loop = Loop(effect.counter, effect.count, body, order)
        body.loop = loop
        self.loops[effect.counter] = loop
        known = self.frequencies.get(body.depth, 1.0)
        self.frequencies[body.depth] = max(known, body.frequency)
        self._counter_masks[effect.counter] = (1 << (effect.count - 1).bit_length()) - 1
        counter = self.words.leaf(effect.counter, self._counter_masks[effect.counter])
        self.counters[counter] = effect.counter
        self._leaf_region[counter] = body
        words = LoopWords(effect, loop, [], [], [], [])
        for parameter, output, initial in zip(
            effect.parameters, effect.outputs, effect.initial, strict=True
        ):
            words.initial += self._legalise(initial)
            for leaf in self._leaf(parameter):
                self._leaf_region[leaf] = body
                words.parameters.append(leaf)
            for leaf in self._leaf(output):
                self._leaf_region[leaf] = region
                words.outputs.append(leaf)
        self.steps.append(Step(effect, region, order, tuple(words.initial), words))
        self._gather(effect.body, body)
        for result in effect.results:
            words.results += self._legalise(result)
        end = Step(effect, body, len(self.steps), tuple(words.results), words, ends=True)
        self.steps.append(end)

    def reachable(self) -> tuple[list[Word], dict[Word, int]]:
        """Words that effects need, operands first, and how many users each has."""
        uses: dict[Word, int] = {}
        stack: list[Word] = []
        for step in self.steps:
            for w in step.operands:
                uses[w] = uses.get(w, 0) + 1
                if uses[w] == 1:
                    stack.append(w)
        seen = set(stack)
        while stack:
            w = stack.pop()
            for a in w.args:
                uses[a] = uses.get(a, 0) + 1
                if a not in seen:
                    seen.add(a)
                    stack.append(a)
        return sorted(seen, key=lambda w: w.serial), uses

    def region_of(self, word: Word) -> Region:
        """The outermost region in which a word can be computed."""
        found = self._region_of.get(word)
        if found is None:
            if word.op == "leaf":
                found = self._leaf_region.get(word, self.root)
            else:
                found = self.root
                for a in word.args:
                    region = self.region_of(a)
                    if region.depth > found.depth:
                        found = region
            self._region_of[word] = found
        return found

    def frequency(self, depth: int) -> float:
        """How often code runs at a loop depth."""
        return self.frequencies.get(depth, 1.0)


def all_effects(effects: Iterable[Effect]) -> Iterator[Effect]:
    """Effects in order, those in loops included."""
    for effect in effects:
        yield effect
        if isinstance(effect, LoopEffect):
            yield from all_effects(effect.body)


def matrix_content(effect: Effect) -> int | None:
    """Content of a matrix bank: row 31 on top."""
    if not isinstance(effect, ProductEffect):
        return None
    return sum(row << 32 * i for i, row in enumerate(effect.matrix))


def mask_content(effect: Effect) -> int | None:
    """Content of a mask bank."""
    return effect.mask if isinstance(effect, SubstitutionEffect) else None
