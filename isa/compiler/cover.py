"""Cover: choose for every word the cheapest instruction that computes it.

Dynamic programming over the graph, operands first. The cost of a word that several others use is
shared among them. Words are tiled as they are spelled, or by an instruction with an equal label.
Sets (sums over GF(2), and, or, add) are partitioned: each part is computed for itself or absorbed
by an instruction with an accumulator operand, in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from isa.canonical import Label
from isa.compiler.choice import IMPOSSIBLE, Choice, Way, way_of
from isa.compiler.constants import Constants
from isa.compiler.layout import table_entry_bytes
from isa.compiler.patterns import SETS, Access, Pattern
from isa.compiler.repertoire import Repertoire
from isa.compiler.sets import SetCover
from isa.compiler.spellings import Spellings
from isa.compiler.words import Word, Words
from isa.table import Table

EXTRA = 1e-6
"""Cycles by which an instruction beyond the base set must be better to be used."""

PRODUCTS = ("mul", "mul_high")
"""Words that are made of others where no instruction computes them."""
DEEPEST = 3
"""Words that match, nearest first, of which an operand that is read in parts may be."""
LEAST_PERMUTED = 12
"""Bits that a word must be a function of before permutations of bits are tried for it."""


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
        self.uses = uses
        self.depth = depth
        self._frequency = frequency
        self._anchors = anchors
        self.spellings = Spellings(words)
        self._sets = SetCover(self)
        self._shares = uses
        self.choices: dict[Word, Choice] = {}
        self._flows: dict[Word, float] = {}
        self._ways: dict[Word, tuple[list[Way], list[Way], list[Word]]] = {}
        self._cycles: dict[Pattern, float] = {}
        self._depth = 0  # matching words that are passed over before one is bound

    def latency(self, pattern: Pattern) -> float:
        """Cycles of a pattern's instruction; of equals the base instruction is preferred."""
        found = self._cycles.get(pattern)
        if found is None:
            instruction = pattern.instruction
            found = float(self._latencies.get(instruction.name, 1))
            if instruction.extension not in self.repertoire.base:
                found += EXTRA
            self._cycles[pattern] = found
        return found

    def flow(self, word: Word) -> float:
        """Cost of having a word in a register, its share of what others use too."""
        found = self._flows.get(word)
        if found is None:
            choice = self.choose(word)
            cost = 0.0 if choice is None else choice.cost
            found = self._flows[word] = cost / max(1, self._shares.get(word, 1))
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

    def choose_all(self, order: Sequence[Word], roots: Sequence[Word]) -> None:
        """Choose for words given operands first, so that recursion stays shallow.

        How often a word is used depends on what is chosen, and the other way round: after the first
        round the uses that count are those of the words that were chosen.
        """
        order = self._with_products(order)
        for word in order:
            self.choose(word)
        self._shares = self._chosen_uses(roots)
        self.choices.clear()
        self._flows.clear()
        for word in order:
            if word in self._shares:
                self.choose(word)

    def _with_products(self, order: Sequence[Word]) -> list[Word]:
        """The words with those before a product of which it is made where nothing multiplies."""
        result = []
        for word in order:
            if word.op in PRODUCTS:
                first = self.words.count
                self._ways_of(word)
                result += self.words.since(first)
            result.append(word)
        return result

    def _chosen_uses(self, roots: Sequence[Word]) -> dict[Word, int]:
        """How many of the chosen words, and of the roots, use a word."""
        uses: dict[Word, int] = {}
        stack = list(roots)
        while stack:
            word = stack.pop()
            uses[word] = uses.get(word, 0) + 1
            choice = self.choices.get(word)
            if uses[word] == 1 and choice is not None:
                stack += [choice.same] if choice.same else [w for _, w in choice.operands]
        return uses

    def weight(self, word: Word) -> float:
        """How often a word is computed."""
        return self._frequency(self.depth(word))

    def _best(self, word: Word) -> Choice | None:
        weight = self.weight(word)
        if word.op == "const":
            return Choice(weight * self._constants.cycles(word.value))
        if word.op == "symbol":
            return Choice(2 * weight)
        labelled, matched, spelled = self._ways_of(word)
        best = self._cheapest_way(labelled, weight, None)
        if word.op in SETS or word.op == "mask":
            best = _cheaper(best, self._sets.choices(word))
        best = self._cheapest_way(matched, weight, best)
        entry, signed = (word, False) if word.op == "lookup" else _extended_lookup(word)
        if entry is not None:
            option = self._load(entry, weight, signed=signed)
            best = _cheaper(best, [option] if option else ())
        if word.op in ("xor", "sar") and self.repertoire.permutations:
            best = _cheaper(best, self._by_permutation(word, weight))
        return self._cheapest_way(spelled, weight, best)

    def _cheapest_way(
        self, ways: Sequence[Way], weight: float, best: Choice | None
    ) -> Choice | None:
        """The choice of the cheapest way, if it is cheaper than the best one so far."""
        least, chosen = IMPOSSIBLE if best is None else best.cost, None
        for way in ways:
            cost = self._cost(way, weight)
            if cost < least:
                least, chosen = cost, way
        return best if chosen is None else self.taken(chosen, weight)

    def _cost(self, way: Way, weight: float) -> float:
        """Cycles of a way, its share of those of the operands included."""
        if isinstance(way, Word):
            return self.flow(way) * max(1, self._shares.get(way, 1))
        cost = weight * self.latency(way[0])
        return cost + sum([self.flow(w) for _, w in way[1]])

    def _ways_of(self, word: Word) -> tuple[list[Way], list[Way], list[Word]]:
        """Ways to compute a word by label and by structure, and how else it is spelled."""
        found = self._ways.get(word)
        if found is None:
            matched: list[Way] = []
            for pattern in self.repertoire.structural.get(word.op, ()):
                binding = self.match(pattern.root, word, {}, pattern)
                if binding is None and self.repertoire.reads_in_parts(pattern):
                    binding = self._match_deep(pattern, word)
                if binding is not None:
                    matched.append(way_of(pattern, binding))
            spelled = self.spellings.of(word)
            if word.op in PRODUCTS and not matched and not spelled:
                spelled = [self.spellings.product(word)]
            found = list(self._by_label(word)), matched, spelled
            self._ways[word] = found
        return found

    def taken(self, way: Way, weight: float) -> Choice:
        """The choice of one way."""
        cost = self._cost(way, weight)
        if isinstance(way, Word):
            return Choice(cost, same=way)
        pattern, operands, immediate = way
        return Choice(cost, pattern, operands, immediate)

    # One instruction.

    def use(self, pattern: Pattern, binding: Mapping[str, Word], weight: float) -> Choice:
        """The choice of a pattern with its operands."""
        return self.taken(way_of(pattern, binding), weight)

    def cheapest(self, patterns: list[Pattern]) -> Pattern:
        """The one of least latency."""
        return min(patterns, key=self.latency)

    def _by_label(self, word: Word) -> Iterable[Way]:
        """Instructions whose label over one operand equals the word's over some word below."""
        for atom, label in self.words.forms(word)[1:]:
            if label is self.words.forms(atom)[0][1]:
                yield atom
            patterns = self.repertoire.unary_for(atom).get(label)
            if patterns:
                pattern = self.cheapest(patterns)
                yield way_of(pattern, {pattern.holes[0]: atom})

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
                    use = self.use(pattern, {pattern.holes[0]: atom}, weight)
                    self.choices.setdefault(middle, use)
                    chosen = self.cheapest(last)
                    yield self.use(chosen, {chosen.holes[0]: middle}, weight)

    def may_match(self, shape: Word, word: Word) -> bool:
        """Whether `match` can succeed, from the operators alone."""
        return shape.op in (word.op, "leaf", "xor") or len(shape.args) == 1

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
                    if over.op == "leaf" and over.attr == leaf:
                        known = binding.get(leaf)
                        if known is not None:
                            if (known, self.words.seen(label, known)) in self.words.forms(word):
                                return binding
                            continue
                        atom = self._atom_with(word, label)
                        if atom is not None:
                            return {**binding, leaf: atom}
        if shape.op != word.op or shape.attr != word.attr or len(shape.args) != len(word.args):
            return None
        orders = [word.args]
        if len(word.args) == 2 and shape.op in (*SETS, "mul", "mul_high", "clmul", "clmul_high"):
            orders.append(word.args[::-1])
        for args in orders:
            found = self.match_all(shape.args, args, binding, pattern)
            if found is not None:
                return found
        return None

    def match_all(
        self,
        shapes: Iterable[Word],
        words: Iterable[Word],
        binding: Mapping[str, Word],
        pattern: Pattern,
    ) -> Mapping[str, Word] | None:
        """Match several shapes in turn, see `match`."""
        for shape, word in zip(shapes, words, strict=True):
            found = self.match(shape, word, binding, pattern)
            if found is None:
                return None
            binding = found
        return binding

    def _match_deep(self, pattern: Pattern, word: Word) -> Mapping[str, Word] | None:
        """Match with operands from farther below: parts of one word then meet in it."""
        found = None
        for self._depth in range(1, DEEPEST):
            found = found or self.match(pattern.root, word, {}, pattern)
        self._depth = 0
        return found

    def _atom_with(self, word: Word, label: Label) -> Word | None:
        depth = self._depth
        for atom, form in self.words.forms(word):
            if form is self.words.seen(label, atom):
                if not depth:
                    return atom
                depth -= 1
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
            scaled = self.spellings.moved(index, 0, length, shift)
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


def _cheaper(best: Choice | None, options: Iterable[Choice]) -> Choice | None:
    """The cheapest of what costs less than the best one so far, else that."""
    for option in options:
        if best is None or option.cost < best.cost:
            best = option
    return best


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
