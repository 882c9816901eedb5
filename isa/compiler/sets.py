"""Sets: partition a sum, and, or or add among instructions, with an accumulator or without."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from isa.canonical import Label
from isa.compiler.choice import IMPOSSIBLE, Choice, Way, way_of
from isa.compiler.patterns import Accumulate, Pattern
from isa.compiler.repertoire import SIGNED_XOR
from isa.compiler.spellings import mask_of
from isa.compiler.words import Word

if TYPE_CHECKING:
    from isa.compiler.cover import Cover

MAX_SUBSET = 6
"""Terms over one word that one linear instruction is expected to sum up."""

MAX_SUBSETS = 200
"""Subsets of terms over one word that are tried; larger ones are left out beyond that."""


@dataclass(frozen=True, slots=True)
class Part:
    """Some terms of a set, how they are had alone, and how on top of the others."""

    terms: tuple[Word, ...]
    alone: float  # cost of having them in a register
    alone_choice: Choice | None  # None: the only term, as it is chosen for itself
    added: float  # cost of adding them to an accumulator
    added_by: Callable[[Word], Choice]


_Addition = tuple[Pattern, str, Mapping[str, Word]]
"""An instruction that adds to an accumulator: which operand that is, and the other operands."""
_Together = tuple[tuple[Word, ...], Way | Accumulate]
"""Terms and the instruction that sums them up; before those of an accumulation stands what it
adds a function of."""


class SetCover:
    """Covers one set after the other for a `Cover`."""

    def __init__(self, cover: Cover) -> None:
        self._cover = cover
        self._words = cover.words
        self._repertoire = cover.repertoire
        self._singles: dict[tuple[str, bool, Word], list[_Addition]] = {}
        self._together: dict[tuple[object, ...], list[_Together]] = {}
        self._best: dict[tuple[str, bool, int, int], dict[Label, Accumulate | None]] = {}
        self._is_signed = False  # whether the terms at hand are sign extensions of 32 bits

    def choices(self, word: Word) -> Iterable[Choice]:
        """Compute a set as a chain; the words of the chain are given their choices here."""
        op = "and" if word.op == "mask" else word.op
        terms, constant = self._flatten(word, op)
        if len(terms) < 2 and not constant and op == "xor":  # the others cancelled
            same = terms[0] if terms else self._words.zero
            return [
                Choice(self._cover.flow(same) * max(1, self._cover.uses.get(same, 1)), same=same)
            ]
        if not terms:
            return [Choice(0.0, same=self._words.const(constant or 0))]
        outer = self._is_signed
        self._is_signed = all(t.sign <= 32 for t in (word, *terms))
        parts = self._partition(word, op, terms, constant)
        self._is_signed = outer
        if parts is None:
            return []
        order = sorted(
            range(len(parts)), key=lambda i: (max(map(self._cover.depth, parts[i].terms)), i)
        )
        gain = [parts[i].added - parts[i].alone for i in order]
        first = order[gain.index(max(gain))]
        if parts[first].alone == IMPOSSIBLE:
            return []
        order.remove(first)
        start = parts[first]
        total = start.alone
        if len(start.terms) == 1 and start.alone_choice is None:
            acc = start.terms[0]
        else:
            acc = self._words.intern(op, start.terms, None, self._words.mask)
            if acc is word:
                assert start.alone_choice is not None
                return [start.alone_choice]
            if start.alone_choice is not None:
                self._cover.choices.setdefault(acc, start.alone_choice)
        choice: Choice | None = None
        for i in order:
            part = parts[i]
            choice = part.added_by(acc)
            total += part.added
            acc = self._chain(op, acc, part.terms)
            if acc is word:
                break
            self._cover.choices.setdefault(acc, choice)
        if choice is None:
            return [Choice(total, same=acc)] if acc is not word else []
        if acc is word:
            return [Choice(total, choice.pattern, choice.operands, choice.immediate, choice.same)]
        return [Choice(total, same=acc)]

    def _chain(self, op: str, acc: Word, terms: tuple[Word, ...]) -> Word:
        ones = self._words.mask
        if op == "and":
            ones = acc.ones
        elif op in ("xor", "or"):
            ones = acc.ones
            for t in terms:
                ones |= t.ones
        if op == "and" and len(terms) == 1 and terms[0].op == "const":
            return self._cover.spellings.masked(acc, terms[0].value & acc.ones)
        return self._words.intern(op, (acc, *terms), None, ones)

    def _flatten(self, word: Word, op: str) -> tuple[list[Word], int | None]:
        """Terms of a set, sets that only it uses included, and its constant."""
        if word.op == "mask":
            return [word.args[0]], mask_of(word)
        depth = self._cover.depth
        constant: int | None = None
        terms: list[Word] = []
        stack = list(reversed(word.args))
        while stack:
            t = stack.pop()
            if t.op == "const":
                if constant is None:
                    constant = t.value
                elif op == "xor":
                    constant ^= t.value
                elif op == "add":
                    constant = constant + t.value & self._words.mask
                elif op == "or":
                    constant |= t.value
                else:
                    constant &= t.value
            elif t.op == op and self._cover.uses.get(t, 1) <= 1 and depth(t) == depth(word):
                stack += reversed(t.args)
            elif op == "xor" and t in terms:  # x ^ x = 0
                terms.remove(t)
            elif op == "add" or t not in terms:  # x & x = x | x = x
                terms.append(t)
        if op == "add" and len(set(terms)) < len(terms):
            terms = [a for a in word.args if a.op != "const"]
            constants = [a.value for a in word.args if a.op == "const"]
            constant = sum(constants) & self._words.mask if constants else None
        return terms, constant

    def _partition(
        self, word: Word, op: str, terms: list[Word], constant: int | None
    ) -> list[Part] | None:
        weight = self._cover.weight(word)
        singles: list[Part] = []
        for term in terms:
            part = self._single(op, term, weight)
            if part is None:
                return None
            singles.append(part)
        parts: list[Part] = []
        if constant is not None:
            joined = self._with_constant(op, terms, singles, constant, weight)
            if joined is not None:
                index, part = joined
                singles[index] = part
            else:
                part = self._constant_part(op, constant, weight)
                if part is None:
                    return None
                parts.append(part)
        groups = self._groups(op, terms, weight) if len(terms) > 1 else []
        by_term = {id(t): p for t, p in zip(terms, singles, strict=True)}
        taken: set[int] = set()

        def saving(group: Part) -> float:
            return sum(by_term[id(t)].added for t in group.terms) - group.added

        for group in sorted(groups, key=saving, reverse=True):
            if saving(group) > 0 and not any(id(t) in taken for t in group.terms):
                if any(len(by_term[id(t)].terms) > 1 for t in group.terms):
                    continue  # a term joined with the constant
                taken |= {id(t) for t in group.terms}
                parts.append(group)
        kept = [p for t, p in zip(terms, singles, strict=True) if id(t) not in taken]
        return kept + parts

    def _best_accumulate(self, op: str, atom: Word, label: Label) -> Accumulate | None:
        is_signed = op == "xor" and self._is_signed
        key = (op, is_signed, atom.ones, atom.sign)
        known = self._best.setdefault(key, {})
        if label not in known:
            found = [*self._repertoire.accumulate_for(op, atom).get(label, ())]
            if is_signed:
                found += self._repertoire.accumulate_for(SIGNED_XOR, atom).get(label, ())
            known[label] = min(found, key=lambda a: self._cover.latency(a.pattern), default=None)
        return known[label]

    def _single(self, op: str, term: Word, weight: float) -> Part | None:
        """One term, added by the cheapest instruction that has it as its other operand."""
        key = (op, self._is_signed, term)
        if key not in self._singles:
            self._singles[key] = list(self._ways_to_add(op, term))
        options = [
            self._accumulated_over(pattern, acc, operands, weight)
            for pattern, acc, operands in self._singles[key]
        ]
        if not options:
            return None
        added, added_by = min(options, key=lambda o: o[0])
        if added == IMPOSSIBLE:
            return None
        return Part((term,), self._cover.flow(term), None, added, added_by)

    def _ways_to_add(self, op: str, term: Word) -> Iterator[_Addition]:
        for atom, label in self._words.forms(term):
            accumulate = self._best_accumulate(op, atom, label)
            if accumulate is not None:
                yield accumulate.pattern, accumulate.acc, {accumulate.x: atom}
        for pattern in self._repertoire.structural.get(op, ()):
            addition = self._structural_addition(pattern, term)
            if addition is not None:
                yield addition

    def _structural_addition(self, pattern: Pattern, term: Word) -> _Addition | None:
        """A pattern `acc op g(..)` where g is no label: match g on the term."""
        if len(pattern.root.args) != 2 or pattern.immediate is not None:
            return None
        for acc, other in (pattern.root.args, pattern.root.args[::-1]):
            if acc.op != "leaf" or acc in self._repertoire.leaves(other):
                continue
            binding = self._cover.match(other, term, {}, pattern)
            if binding is not None:
                return pattern, str(acc.attr), binding
        return None

    def _accumulated(
        self, accumulate: Accumulate, x: Word, weight: float
    ) -> tuple[float, Callable[[Word], Choice]]:
        """Cost of adding f(x), and the choice for a given accumulator."""
        operands = {accumulate.x: x}
        return self._accumulated_over(accumulate.pattern, accumulate.acc, operands, weight)

    def _accumulated_over(
        self, pattern: Pattern, acc: str, operands: Mapping[str, Word], weight: float
    ) -> tuple[float, Callable[[Word], Choice]]:
        cost = weight * self._cover.latency(pattern) + sum(map(self._cover.flow, operands.values()))

        def added_by(accumulator: Word) -> Choice:
            full = {**operands, acc: accumulator}
            return Choice(cost, pattern, tuple((h, full[h]) for h in pattern.holes))

        return cost, added_by

    def _constant_part(self, op: str, constant: int, weight: float) -> Part | None:
        word = self._words.const(constant)
        for accumulate in self._repertoire.accumulate_immediate[op]:
            pattern = accumulate.pattern
            assert pattern.immediate is not None
            field = pattern.immediate.solve(constant)
            if field is not None:
                cost = weight * self._cover.latency(pattern)

                def added_by(
                    acc: Word,
                    pattern: Pattern = pattern,
                    hole: str = accumulate.acc,
                    field: int = field,
                    cost: float = cost,
                ) -> Choice:
                    return Choice(cost, pattern, ((hole, acc),), field)

                return Part((word,), cost, None, cost, added_by)
        return self._single(op, word, weight)

    def _with_constant(
        self, op: str, terms: list[Word], singles: list[Part], constant: int, weight: float
    ) -> tuple[int, Part] | None:
        """A term that an instruction adds together with the constant, such as an inverted one."""
        if op != "xor" or len(terms) < 2:
            return None
        algebra = self._words.labels
        best: tuple[float, int, Part] | None = None
        for i, term in enumerate(terms):
            for atom, label in self._words.forms(term):
                wanted = algebra.xor(label, algebra.constant(constant))
                accumulate = self._best_accumulate(op, atom, wanted)
                if accumulate is None:
                    continue
                both = (term, self._words.const(constant))
                cost, added_by = self._accumulated(accumulate, atom, weight)
                extra = cost - singles[i].added
                if best is None or extra < best[0]:
                    part = Part(both, IMPOSSIBLE, None, cost, added_by)
                    best = (extra, i, part)
        alone = self._constant_part(op, constant, weight)
        if best is None or (alone is not None and alone.added < best[0]):
            return None
        return best[1], best[2]

    def _groups(self, op: str, terms: list[Word], weight: float) -> list[Part]:
        """Several terms that one instruction sums up."""
        key = (op, self._is_signed, *terms)
        if key not in self._together:
            self._together[key] = self._ways_together(op, terms)
        found = []
        for subset, way in self._together[key]:
            if isinstance(way, Accumulate):
                atom, accumulate = subset[0], way
                cost, added_by = self._accumulated(accumulate, atom, weight)
                found.append(Part(subset[1:], IMPOSSIBLE, None, cost, added_by))
            else:
                found.append(self._alone(op, subset, self._cover.taken(way, weight)))
        return found

    def _ways_together(self, op: str, terms: list[Word]) -> list[_Together]:
        found: list[_Together] = []
        if op == "xor":
            sums = self._subset_sums(terms)
            for atom, subsets in sums.items():
                unary = self._repertoire.unary_for(atom)
                plain = self._repertoire.accumulate_for(op, atom)
                signed = self._repertoire.accumulate_for(SIGNED_XOR, atom)
                for label, subset in subsets.items():
                    if len(subset) > 1 and (label in unary or label in plain or label in signed):
                        found += self._summed(op, atom, label, subset, unary)
            if self._repertoire.pairs:
                found += self._paired(sums)
        for pattern in self._repertoire.structural.get(op, ()):
            if len(pattern.root.args) == 2 and pattern.immediate is None:
                found += self._structural_pairs(pattern, terms)
        return found

    def _structural_pairs(self, pattern: Pattern, terms: list[Word]) -> Iterator[_Together]:
        """Ordered pairs of terms that are the operands of a pattern's root."""
        first, second = pattern.root.args
        able = [(i, t) for i, t in enumerate(terms) if self._cover.may_match(second, t)]
        if not able:
            return
        for i, left in enumerate(terms):
            binding = self._cover.match(first, left, {}, pattern)
            if binding is None:
                continue
            for j, right in able:
                if i != j:
                    both = self._cover.match(second, right, binding, pattern)
                    if both is not None:
                        yield (left, right), way_of(pattern, both)

    def _alone(self, op: str, terms: tuple[Word, ...], choice: Choice) -> Part:
        """A part that is computed for itself and then added by the plain instruction."""
        word = self._words.intern(op, terms, None, self._words.mask)
        plain = self._best_accumulate(op, word, self._words.forms(word)[0][1])
        extra = IMPOSSIBLE if plain is None else float(self._cover.latency(plain.pattern))
        weight = max(self._cover.weight(t) for t in terms)

        def added_by(acc: Word) -> Choice:
            assert plain is not None
            self._cover.choices.setdefault(word, choice)
            binding = {plain.acc: acc, plain.x: word}
            return Choice(
                choice.cost + extra * weight,
                plain.pattern,
                tuple((h, binding[h]) for h in plain.pattern.holes),
            )

        return Part(terms, choice.cost, choice, choice.cost + extra * weight, added_by)

    def _subset_sums(self, terms: list[Word]) -> dict[Word, dict[Label, tuple[Word, ...]]]:
        """For each word below, sums of the terms that are functions of it, with their terms."""
        over: dict[Word, list[tuple[Word, Label]]] = {}
        for term in terms:
            for atom, label in self._words.forms(term):
                over.setdefault(atom, []).append((term, label))
        algebra = self._words.labels
        result: dict[Word, dict[Label, tuple[Word, ...]]] = {}
        for atom, entries in over.items():
            sums: dict[Label, tuple[Word, ...]] = {}
            tried = 0
            subsets: list[tuple[Label, tuple[Word, ...], int]] = [
                (label, (term,), i + 1) for i, (term, label) in enumerate(entries)
            ]
            for count in range(1, min(MAX_SUBSET, len(entries)) + 1):
                tried += math.comb(len(entries), count)
                if tried > MAX_SUBSETS and count > 2:
                    break
                if count > 1:  # each with one of the terms behind its last one
                    subsets = [
                        (algebra.xor(total, entries[i][1]), (*chosen, entries[i][0]), i + 1)
                        for total, chosen, following in subsets
                        for i in range(following, len(entries))
                    ]
                for total, chosen, _ in subsets:
                    sums.setdefault(total, chosen)
            result[atom] = sums
        return result

    def _summed(
        self,
        op: str,
        atom: Word,
        label: Label,
        subset: tuple[Word, ...],
        unary: Mapping[Label, list[Pattern]],
    ) -> Iterator[_Together]:
        patterns = unary.get(label)
        if patterns:
            pattern = self._cover.cheapest(patterns)
            yield subset, way_of(pattern, {pattern.holes[0]: atom})
        accumulate = self._best_accumulate(op, atom, label)
        if accumulate is not None:
            yield (atom, *subset), accumulate

    def _paired(self, sums: dict[Word, dict[Label, tuple[Word, ...]]]) -> Iterator[_Together]:
        sides: dict[tuple[int, int], list[tuple[Word, tuple[Word, ...]]]] = {}
        for atom, subsets in sums.items():
            wanted = self._repertoire.sides_for(atom)
            for label, found in wanted.items():
                if label in subsets:
                    for side in found:
                        sides.setdefault(side, []).append((atom, subsets[label]))
        made = list(self._made(sums))
        if not sides and not made:
            return
        for i, pair in enumerate(self._repertoire.pairs):
            first, second = (
                [*sides.get((i, side), ()), *self._unchanged(wanted, made)]
                for side, wanted in enumerate((pair.first_label, pair.second_label))
            )
            for (a, left), (b, right) in itertools.product(first, second):
                if not set(left) & set(right):
                    binding = {pair.first: a, pair.second: b}
                    yield (*left, *right), way_of(pair.pattern, binding)

    def _made(
        self, sums: dict[Word, dict[Label, tuple[Word, ...]]]
    ) -> Iterator[tuple[Label, tuple[Word, ...]]]:
        """Sums of several terms that one instruction makes."""
        for atom, subsets in sums.items():
            unary = self._repertoire.unary_for(atom)
            for label, subset in subsets.items():
                if len(subset) > 1 and label in unary:
                    yield label, subset

    def _unchanged(
        self, linear: Label, made: Iterable[tuple[Label, tuple[Word, ...]]]
    ) -> Iterator[tuple[Word, tuple[Word, ...]]]:
        """Sums of `made` that a linear function leaves as they are."""
        if linear.cones or linear.constant:
            return
        for label, subset in made:
            if self._words.labels.through(linear, label) is label:
                yield self._words.intern("xor", subset, None, self._words.mask), subset
