"""Cover: choose for every word the cheapest instruction that computes it.

Dynamic programming over the graph, operands first. The cost of a word that several others use is
shared among them. Words are tiled as they are spelled, or by an instruction with an equal label.
Sets (sums over GF(2), and, or, add) are partitioned: each part is computed for itself or absorbed
by an instruction with an accumulator operand, in any order.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from isa.canonical import Label
from isa.compiler.constants import Constants
from isa.compiler.repertoire import SETS, Access, Accumulate, Pattern, Repertoire
from isa.compiler.words import Word, Words
from isa.table import Table

IMPOSSIBLE = float("inf")
"""Cost of a word that no instruction computes."""

EXTRA = 1e-6
"""Cycles by which an instruction beyond the base set must be better to be used."""

LEAST_PERMUTED = 12
"""Bits that a word must be a function of before permutations of bits are tried for it."""

MAX_SUBSET = 6
"""Terms over one word that one linear instruction is expected to sum up."""

MAX_SUBSETS = 200
"""Subsets of terms over one word that are tried; larger ones are left out beyond that."""


@dataclass(frozen=True, eq=False, slots=True)
class Choice:
    """How a word is computed.

    Attributes:
        cost: Cycles, those of the operands included as far as they are not shared.
        pattern: Instruction used; None where the word equals `same`, or is loaded.
        operands: Words in the register operands of the pattern.
        immediate: Field of the wide immediate.
        same: A word of equal value.
        access: Load instruction of a table entry.
        table: The table it is an entry of.
    """

    cost: float
    pattern: Pattern | None = None
    operands: tuple[tuple[str, Word], ...] = ()
    immediate: int | None = None
    same: Word | None = None
    access: Access | None = None
    table: Table | None = None


@dataclass(frozen=True, slots=True)
class _Part:
    """Some terms of a set, how they are had alone, and how on top of the others."""

    terms: tuple[Word, ...]
    alone: float  # cost of having them in a register
    alone_choice: Choice | None  # None: the only term, as it is chosen for itself
    added: float  # cost of adding them to an accumulator
    added_by: Callable[[Word], Choice]


class Cover:
    """Chooses instructions; `choices` holds what was chosen for the words asked for."""

    def __init__(
        self,
        words: Words,
        repertoire: Repertoire,
        constants: Constants,
        latencies: Mapping[str, int],
        uses: Mapping[Word, int],
        depth: Callable[[Word], int],
        frequency: Callable[[int], float],
        anchors: Mapping[str, str],
    ) -> None:
        """Start.

        Args:
            words: In which the kernel is written.
            repertoire: What may be used.
            constants: How constants are made.
            latencies: Cycles in execute by mnemonic; 1 where absent.
            uses: How many words and effects use a word.
            depth: Loop depth at which a word is computed.
            frequency: How often code at a loop depth runs.
            anchors: Name of the base address from which a table is reached.
        """
        self.words = words
        self.repertoire = repertoire
        self._constants = constants
        self._latencies = latencies
        self._uses = uses
        self._depth = depth
        self._frequency = frequency
        self._anchors = anchors
        self.choices: dict[Word, Choice] = {}
        self._flows: dict[Word, float] = {}

    def latency(self, pattern: Pattern) -> float:
        """Cycles of a pattern's instruction; of equals the base instruction is preferred."""
        instruction = pattern.instruction
        cycles = self._latencies.get(instruction.name, 1)
        return cycles if instruction.extension in self.repertoire.base else cycles + EXTRA

    def flow(self, word: Word) -> float:
        """Cost of having a word in a register, its share of what others use too."""
        found = self._flows.get(word)
        if found is None:
            choice = self.choose(word)
            cost = 0.0 if choice is None else choice.cost
            found = self._flows[word] = cost / max(1, self._uses.get(word, 1))
        return found

    def choose(self, word: Word) -> Choice | None:
        """The choice for a word; None for a leaf and for 0, which need no instruction."""
        if word in self.choices:
            return self.choices[word]
        if word.op == "leaf" or word is self.words.zero:
            return None
        best = self._best(word)
        if best is None:
            best = Choice(IMPOSSIBLE)
        self.choices[word] = best
        return best

    def choose_all(self, order: Iterable[Word]) -> None:
        """Choose for words given operands first, so that recursion stays shallow."""
        for word in order:
            self.choose(word)

    def _weight(self, word: Word) -> float:
        return self._frequency(self._depth(word))

    def _best(self, word: Word) -> Choice | None:
        weight = self._weight(word)
        if word.op == "const":
            return Choice(weight * self._constants.cycles(word.value))
        if word.op == "symbol":
            return Choice(2 * weight)
        options = list(self._by_label(word, weight))
        if word.op in SETS or word.op == "mask":
            options += self._set(word, weight)
        for pattern in self.repertoire.structural.get(word.op, ()):
            binding = self.match(pattern.root, word, {}, pattern)
            if binding is not None:
                options.append(self._use(pattern, binding, weight))
        entry, signed = (word, False) if word.op == "lookup" else _extended_lookup(word)
        if entry is not None:
            option = self._load(entry, weight, signed=signed)
            if option:
                options.append(option)
        if word.op in ("xor", "sar") and self.repertoire.permutations:
            options += self._by_permutation(word, weight)
        for other in self._spellings(word):
            options.append(Choice(self.flow(other) * max(1, self._uses.get(other, 1)), same=other))
        return min(options, key=lambda c: c.cost, default=None)

    # One instruction.

    def _use(self, pattern: Pattern, binding: Mapping[str, Word], weight: float) -> Choice:
        operands = tuple((h, binding[h]) for h in pattern.holes)
        immediate = None
        if pattern.immediate is not None:
            immediate = pattern.immediate.solve(binding["immediate"].value)
        cost = weight * self.latency(pattern)
        return Choice(cost + sum(self.flow(w) for _, w in operands), pattern, operands, immediate)

    def _cheapest(self, patterns: list[Pattern]) -> Pattern:
        return min(patterns, key=self.latency)

    def _by_label(self, word: Word, weight: float) -> Iterable[Choice]:
        """Instructions whose label over one operand equals the word's over some word below."""
        labels = self.words.labels
        for atom, label in self.words.forms(word)[1:]:
            if label is self.words.seen(labels.identity, atom):
                yield Choice(self.flow(atom) * max(1, self._uses.get(atom, 1)), same=atom)
            patterns = self.repertoire.unary_for(atom).get(label)
            if patterns:
                pattern = self._cheapest(patterns)
                yield self._use(pattern, {pattern.holes[0]: atom}, weight)

    def _by_permutation(self, word: Word, weight: float) -> Iterable[Choice]:
        """A permutation of bits, then another instruction: their product has the label."""
        algebra = self.words.labels
        for atom, label in self.words.forms(word)[1:]:
            if label.cones or label.support.bit_count() < LEAST_PERMUTED:
                continue
            for pattern, places in self.repertoire.permutations:
                last = self.repertoire.unary.get(algebra.after(label, places))
                if last:
                    middle = self.words.intern(
                        "permuted", (atom,), pattern.instruction.name, self.words.mask
                    )
                    middle.forms = ((middle, algebra.identity),)
                    use = self._use(pattern, {pattern.holes[0]: atom}, weight)
                    self.choices.setdefault(middle, use)
                    chosen = self._cheapest(last)
                    yield self._use(chosen, {chosen.holes[0]: middle}, weight)

    def match(
        self, shape: Word, word: Word, binding: Mapping[str, Word], pattern: Pattern
    ) -> Mapping[str, Word] | None:
        """Bind the leaves of `shape` so that it equals `word`; None where it cannot."""
        if shape.op == "leaf":
            name = str(shape.attr)
            if name == "immediate":
                assert pattern.immediate is not None
                if word.op != "const" or pattern.immediate.solve(word.value) is None:
                    return None
            known = binding.get(name)
            if known is None:
                return {**binding, name: word}
            return binding if known is word else None
        if shape.op == "const":
            return binding if word.op == "const" and word.attr == shape.attr else None
        if len(shape.args) == 1 or shape.op == "xor":
            for leaf in pattern.holes:
                for over, label in self.repertoire.forms(shape):
                    if over.op == "leaf" and over.attr == leaf and leaf not in binding:
                        atom = self._atom_with(word, label)
                        if atom is not None:
                            return {**binding, leaf: atom}
        if shape.op != word.op or shape.attr != word.attr or len(shape.args) != len(word.args):
            return None
        orders = [word.args]
        if len(word.args) == 2 and shape.op in (*SETS, "mul", "mul_high", "clmul", "clmul_high"):
            orders.append(word.args[::-1])
        for args in orders:
            found = self._match_all(shape.args, args, binding, pattern)
            if found is not None:
                return found
        return None

    def _match_all(
        self,
        shapes: Iterable[Word],
        words: Iterable[Word],
        binding: Mapping[str, Word],
        pattern: Pattern,
    ) -> Mapping[str, Word] | None:
        for shape, word in zip(shapes, words, strict=True):
            found = self.match(shape, word, binding, pattern)
            if found is None:
                return None
            binding = found
        return binding

    def _atom_with(self, word: Word, label: Label) -> Word | None:
        for atom, form in self.words.forms(word):
            if form is self.words.seen(label, atom):
                return atom
        return None

    # Tables.

    def _load(self, word: Word, weight: float, *, signed: bool) -> Choice | None:
        table = word.attr
        assert isinstance(table, Table)
        index = word.args[0]
        access = self._table_access(table, signed=signed)
        if access is None:
            return None
        size = table_entry_bytes(table)
        scaled = index
        if size > 1:
            shift = size.bit_length() - 1
            length = self.words.width - shift
            merged = self.words.move(index, 0, length, shift)
            scaled = self._moved(index, 0, length, shift)
            if self.flow(merged) < self.flow(scaled):  # from the word the index is a part of
                scaled = merged
        base = self.words.intern("symbol", (), self._anchors[table.name], self.words.mask)
        address = self.words.intern("add", (scaled, base), None, self.words.mask)
        cost = weight * self._latencies.get(access.instruction.name, 1) + self.flow(address)
        operands = ((access.base, address),)
        return Choice(cost, None, operands, access=access, table=table)

    def _table_access(self, table: Table, *, signed: bool) -> Access | None:
        """Load instruction for an entry of a table."""
        bits = 8 * table_entry_bytes(table)
        loads = self.repertoire.loads
        if bits == self.words.width:
            return loads.get((bits, False)) or loads.get((bits, True))
        if signed and table.width < bits:
            return None
        return loads.get((bits, signed))

    # Other spellings of what the base instructions lack.

    def _moved(self, word: Word, low: int, length: int, position: int) -> Word:
        """A move that is not merged with its operand."""
        ones = (word.ones >> low & (1 << length) - 1) << position
        if not low and not position:  # the operand itself, or its low bits
            return word if ones == word.ones else self._masked(word, ones)
        return self.words.intern("move", (word,), (low, length, position), ones)

    def _masked(self, word: Word, mask: int) -> Word:
        """An and with a constant that is not turned into a move."""
        return self.words.intern("mask", (word,), mask, word.ones & mask)

    def _spellings(self, word: Word) -> Iterable[Word]:
        w, size = self.words, self.words.width
        match word.op:
            case "move":
                yield from self._move_spellings(word)
            case "mask":
                yield from self._mask_spellings(word)
            case "rotr":
                x, k = word.args[0], word.attr
                assert isinstance(k, int)
                yield w.intern(
                    "xor",
                    (w.move(x, k, size - k, 0), w.move(x, 0, k, size - k)),
                    None,
                    word.ones,
                )
            case "rotr_var":
                x, amount = word.args
                left = w.binary("shl_var", x, w.sub(w.zero, amount))
                yield w.or_(w.binary("shr_var", x, amount), left)
            case "mux":
                c, a, b = word.args
                mask = w.sub(w.zero, c)
                if b is w.zero:
                    yield w.and_(a, mask)
                elif a is w.zero:
                    yield w.and_(b, w.sub(c, w.one))
                else:
                    yield w.xor(b, w.and_(w.xor(a, b), mask))
            case "mul" if word.args[1].op == "const" or word.args[0].op == "const":
                yield self._shifted_sum(word)
            case "xor":
                grouped = self._group_moves(word)
                if grouped is not None:
                    yield grouped

    def _mask_spellings(self, word: Word) -> Iterable[Word]:
        size, x = self.words.width, word.args[0]
        m = mask_of(word)
        if m & m + 1 == 0:  # a low field: up and down again
            up = size - m.bit_length()
            yield self._moved(self._moved(x, 0, size - up, up), up, size - up, 0)
        elif m | (m & -m) - 1 == self.words.mask:  # a high field: down and up again
            low = (m & -m).bit_length() - 1
            yield self._moved(self._moved(x, low, size - low, 0), 0, size - low, low)

    def _move_spellings(self, word: Word) -> Iterable[Word]:
        size = self.words.width
        x = word.args[0]
        low, length, position = word.field
        mask = (1 << length) - 1
        shift = position - low
        whole = (0, size - shift, shift) if shift > 0 else (-shift, size + shift, 0)
        if (low, length, position) == whole:
            return  # a plain shift
        if shift == 0:
            yield self._masked(x, mask << low)
            return
        yield self._masked(self._moved(x, *whole), mask << position)
        yield self._moved(self._masked(x, mask << low), *whole)
        if low and position:
            yield self._moved(self.words.move(x, low, length, 0), 0, size - position, position)
        top = size - low - length
        if top and (position == 0 or x.ones & ((1 << low) - 1) == 0):  # up to the top, then down
            down = size - length - position
            yield self._moved(self._moved(x, 0, size - top, top), down, size - down, 0)

    def _shifted_sum(self, word: Word) -> Word:
        """A product with a constant as sum and difference of shifts (non-adjacent form)."""
        w, size = self.words, self.words.width
        x, factor = word.args if word.args[1].op == "const" else word.args[::-1]
        rest, total, shift = factor.value, w.zero, 0
        while rest and shift < size:
            if rest & 1:
                digit = 2 - (rest & 3)
                rest -= digit
                term = w.move(x, 0, size - shift, shift)
                total = w.add(total, term) if digit > 0 else w.sub(total, term)
            rest >>= 1
            shift += 1
        return total

    def _group_moves(self, word: Word) -> Word | None:
        """Fields of one word that move by the same distance, taken together under one mask."""
        groups: dict[tuple[Word, int], int] = {}
        rest = []
        for term in word.args:
            if term.op == "move":
                low, length, position = term.field
                key = (term.args[0], position - low)
                groups[key] = groups.get(key, 0) | ((1 << length) - 1) << low
            else:
                rest.append(term)
        if len(groups) + len(rest) == len(word.args):
            return None
        terms = []
        for (x, shift), mask in groups.items():
            masked = self.words.masked(x, mask)
            if shift >= 0:
                terms.append(self.words.move(masked, 0, self.words.width - shift, shift))
            else:
                terms.append(self.words.move(masked, -shift, self.words.width + shift, 0))
        return self.words.intern("xor", tuple(terms + rest), None, word.ones)

    # Sets.

    def _set(self, word: Word, weight: float) -> Iterable[Choice]:
        """Compute a set as a chain; the words of the chain are given their choices here."""
        op = "and" if word.op == "mask" else word.op
        terms, constant = self._flatten(word, op)
        if len(terms) < 2 and not constant and op == "xor":  # the others cancelled
            same = terms[0] if terms else self.words.zero
            return [Choice(self.flow(same) * max(1, self._uses.get(same, 1)), same=same)]
        if not terms:
            return [Choice(0.0, same=self.words.const(constant or 0))]
        parts = self._partition(word, op, terms, constant)
        if parts is None:
            return []
        order = sorted(range(len(parts)), key=lambda i: (max(map(self._depth, parts[i].terms)), i))
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
            acc = self.words.intern(op, start.terms, None, self.words.mask)
            if acc is word:
                assert start.alone_choice is not None
                return [start.alone_choice]
            if start.alone_choice is not None:
                self.choices.setdefault(acc, start.alone_choice)
        choice: Choice | None = None
        for i in order:
            part = parts[i]
            choice = part.added_by(acc)
            total += part.added
            acc = self._chain(op, acc, part.terms)
            if acc is word:
                break
            self.choices.setdefault(acc, choice)
        if choice is None:
            return [Choice(total, same=acc)] if acc is not word else []
        if acc is word:
            return [Choice(total, choice.pattern, choice.operands, choice.immediate, choice.same)]
        return [Choice(total, same=acc)]

    def _chain(self, op: str, acc: Word, terms: tuple[Word, ...]) -> Word:
        ones = self.words.mask
        if op == "and":
            ones = acc.ones
        elif op in ("xor", "or"):
            ones = acc.ones
            for t in terms:
                ones |= t.ones
        if op == "and" and len(terms) == 1 and terms[0].op == "const":
            return self._masked(acc, terms[0].value & acc.ones)
        return self.words.intern(op, (acc, *terms), None, ones)

    def _flatten(self, word: Word, op: str) -> tuple[list[Word], int | None]:
        """Terms of a set, sets that only it uses included, and its constant."""
        if word.op == "mask":
            return [word.args[0]], mask_of(word)
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
                    constant = constant + t.value & self.words.mask
                elif op == "or":
                    constant |= t.value
                else:
                    constant &= t.value
            elif t.op == op and self._uses.get(t, 1) <= 1 and self._depth(t) == self._depth(word):
                stack += reversed(t.args)
            elif op == "xor" and t in terms:  # x ^ x = 0
                terms.remove(t)
            elif op == "add" or t not in terms:  # x & x = x | x = x
                terms.append(t)
        if op == "add" and len(set(terms)) < len(terms):
            terms = [a for a in word.args if a.op != "const"]
            constants = [a.value for a in word.args if a.op == "const"]
            constant = sum(constants) & self.words.mask if constants else None
        return terms, constant

    def _partition(
        self, word: Word, op: str, terms: list[Word], constant: int | None
    ) -> list[_Part] | None:
        weight = self._weight(word)
        singles: list[_Part] = []
        for term in terms:
            part = self._single(op, term, weight)
            if part is None:
                return None
            singles.append(part)
        parts: list[_Part] = []
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

        def saving(group: _Part) -> float:
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
        found = self.repertoire.accumulate_for(op, atom).get(label)
        return min(found, key=lambda a: self.latency(a.pattern)) if found else None

    def _single(self, op: str, term: Word, weight: float) -> _Part | None:
        """One term, added by the cheapest instruction that has it as its other operand."""
        options = []
        for atom, label in self.words.forms(term):
            accumulate = self._best_accumulate(op, atom, label)
            if accumulate is not None:
                options.append(self._accumulated(accumulate, atom, weight))
        for pattern in self.repertoire.structural.get(op, ()):
            option = self._structural_single(pattern, term, weight)
            if option is not None:
                options.append(option)
        if not options:
            return None
        added, added_by = min(options, key=lambda o: o[0])
        if added == IMPOSSIBLE:
            return None
        return _Part((term,), self.flow(term), None, added, added_by)

    def _structural_single(
        self, pattern: Pattern, term: Word, weight: float
    ) -> tuple[float, Callable[[Word], Choice]] | None:
        """A pattern `acc op g(..)` where g is no label: match g on the term."""
        if len(pattern.root.args) != 2 or pattern.immediate is not None:
            return None
        for acc, other in (pattern.root.args, pattern.root.args[::-1]):
            if acc.op != "leaf" or acc in self.repertoire.leaves(other):
                continue
            binding = self.match(other, term, {}, pattern)
            if binding is None:
                continue
            return self._accumulated_over(pattern, str(acc.attr), binding, weight)
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
        cost = weight * self.latency(pattern) + sum(map(self.flow, operands.values()))

        def added_by(accumulator: Word) -> Choice:
            full = {**operands, acc: accumulator}
            return Choice(cost, pattern, tuple((h, full[h]) for h in pattern.holes))

        return cost, added_by

    def _constant_part(self, op: str, constant: int, weight: float) -> _Part | None:
        word = self.words.const(constant)
        for accumulate in self.repertoire.accumulate_immediate[op]:
            pattern = accumulate.pattern
            assert pattern.immediate is not None
            field = pattern.immediate.solve(constant)
            if field is not None:
                cost = weight * self.latency(pattern)

                def added_by(
                    acc: Word,
                    pattern: Pattern = pattern,
                    hole: str = accumulate.acc,
                    field: int = field,
                    cost: float = cost,
                ) -> Choice:
                    return Choice(cost, pattern, ((hole, acc),), field)

                return _Part((word,), cost, None, cost, added_by)
        return self._single(op, word, weight)

    def _with_constant(
        self, op: str, terms: list[Word], singles: list[_Part], constant: int, weight: float
    ) -> tuple[int, _Part] | None:
        """A term that an instruction adds together with the constant, such as an inverted one."""
        if op != "xor" or len(terms) < 2:
            return None
        algebra = self.words.labels
        best: tuple[float, int, _Part] | None = None
        for i, term in enumerate(terms):
            for atom, label in self.words.forms(term):
                wanted = algebra.xor(label, algebra.constant(constant))
                accumulate = self._best_accumulate(op, atom, wanted)
                if accumulate is None:
                    continue
                both = (term, self.words.const(constant))
                cost, added_by = self._accumulated(accumulate, atom, weight)
                extra = cost - singles[i].added
                if best is None or extra < best[0]:
                    part = _Part(both, IMPOSSIBLE, None, cost, added_by)
                    best = (extra, i, part)
        alone = self._constant_part(op, constant, weight)
        if best is None or (alone is not None and alone.added < best[0]):
            return None
        return best[1], best[2]

    def _groups(self, op: str, terms: list[Word], weight: float) -> list[_Part]:
        """Several terms that one instruction sums up."""
        found: list[_Part] = []
        if op == "xor":
            sums = self._subset_sums(terms)
            for atom, subsets in sums.items():
                unary = self.repertoire.unary_for(atom)
                for label, subset in subsets.items():
                    if len(subset) > 1:
                        found += self._summed(op, atom, label, subset, unary, weight)
            if self.repertoire.pairs:
                found += self._paired(sums, weight)
        for pattern in self.repertoire.structural.get(op, ()):
            if len(pattern.root.args) == 2 and pattern.immediate is None:
                for pair in itertools.permutations(terms, 2):
                    binding = self._match_all(pattern.root.args, pair, {}, pattern)
                    if binding is not None:
                        found.append(self._alone(op, pair, self._use(pattern, binding, weight)))
        return found

    def _alone(self, op: str, terms: tuple[Word, ...], choice: Choice) -> _Part:
        """A part that is computed for itself and then added by the plain instruction."""
        word = self.words.intern(op, terms, None, self.words.mask)
        plain = self._best_accumulate(op, word, self.words.forms(word)[0][1])
        extra = IMPOSSIBLE if plain is None else float(self.latency(plain.pattern))
        weight = max(self._weight(t) for t in terms)

        def added_by(acc: Word) -> Choice:
            assert plain is not None
            self.choices.setdefault(word, choice)
            binding = {plain.acc: acc, plain.x: word}
            return Choice(
                choice.cost + extra * weight,
                plain.pattern,
                tuple((h, binding[h]) for h in plain.pattern.holes),
            )

        return _Part(terms, choice.cost, choice, choice.cost + extra * weight, added_by)

    def _subset_sums(self, terms: list[Word]) -> dict[Word, dict[Label, tuple[Word, ...]]]:
        """For each word below, sums of the terms that are functions of it, with their terms."""
        over: dict[Word, list[tuple[Word, Label]]] = {}
        for term in terms:
            for atom, label in self.words.forms(term):
                over.setdefault(atom, []).append((term, label))
        algebra = self.words.labels
        result: dict[Word, dict[Label, tuple[Word, ...]]] = {}
        for atom, entries in over.items():
            sums: dict[Label, tuple[Word, ...]] = {}
            tried = 0
            for count in range(1, min(MAX_SUBSET, len(entries)) + 1):
                tried += math.comb(len(entries), count)
                if tried > MAX_SUBSETS and count > 2:
                    break
                for subset in itertools.combinations(entries, count):
                    total = subset[0][1]
                    for _, label in subset[1:]:
                        total = algebra.xor(total, label)
                    sums.setdefault(total, tuple(t for t, _ in subset))
            result[atom] = sums
        return result

    def _summed(
        self,
        op: str,
        atom: Word,
        label: Label,
        subset: tuple[Word, ...],
        unary: Mapping[Label, list[Pattern]],
        weight: float,
    ) -> list[_Part]:
        found = []
        patterns = unary.get(label)
        if patterns:
            pattern = self._cheapest(patterns)
            found.append(
                self._alone(op, subset, self._use(pattern, {pattern.holes[0]: atom}, weight))
            )
        accumulate = self._best_accumulate(op, atom, label)
        if accumulate is not None:
            cost, added_by = self._accumulated(accumulate, atom, weight)
            found.append(_Part(subset, IMPOSSIBLE, None, cost, added_by))
        return found

    def _paired(
        self, sums: dict[Word, dict[Label, tuple[Word, ...]]], weight: float
    ) -> list[_Part]:
        found = []
        seen = self.words.seen
        for pair in self.repertoire.pairs:
            first = [
                (a, s[seen(pair.first_label, a)])
                for a, s in sums.items()
                if seen(pair.first_label, a) in s
            ]
            second = [
                (a, s[seen(pair.second_label, a)])
                for a, s in sums.items()
                if seen(pair.second_label, a) in s
            ]
            for (a, left), (b, right) in itertools.product(first, second):
                if not set(left) & set(right):
                    binding = {pair.first: a, pair.second: b}
                    choice = self._use(pair.pattern, binding, weight)
                    found.append(self._alone("xor", (*left, *right), choice))
        return found


def _extended_lookup(word: Word) -> tuple[Word | None, bool]:
    """The lookup of which a word is the sign extension over all bits of an entry."""
    if word.op == "sar" and word.args[0].op == "move":
        inner = word.args[0].args[0]
        low, _, position = word.args[0].field
        if inner.op == "lookup" and not low and position == word.attr:
            assert isinstance(inner.attr, Table)
            if position + inner.attr.width == position + 8 * table_entry_bytes(inner.attr):
                return inner, True
    return None, False


def mask_of(word: Word) -> int:
    """Mask of a `mask` word."""
    assert isinstance(word.attr, int)
    return word.attr


def table_entry_bytes(table: Table) -> int:
    """Bytes of an entry in memory: the next power of two."""
    size = 1
    while 8 * size < table.width:
        size *= 2
    return size
