"""Repertoire: the patterns of an instruction set, indexed by what they match."""

from __future__ import annotations

from functools import cached_property

from isa.canonical import Label
from isa.compiler.patterns import (
    SETS,
    Access,
    Accumulate,
    AffineImmediate,
    Jump,
    Pair,
    Pattern,
    additive,
    derive,
    label_over,
    leaves_of,
    pattern_words,
)
from isa.compiler.units import Unit, find_mask_unit, find_matrix_unit
from isa.compiler.words import Form, Word
from isa.instruction import Instruction
from isa.instruction_set import InstructionSet

__all__ = ["AffineImmediate", "Jump", "Repertoire"]

MOST_REPERTOIRES = 64
"""Instruction sets whose patterns are kept; one takes some 100 KiB."""
SIGNED_XOR = "signed xor"
"""Sums over GF(2) of words that are sign extensions of 32 bits."""


class Repertoire:
    """The patterns of an instruction set, indexed by what they match.

    Attributes:
        unary: By label, patterns of one register operand.
        constants: Patterns without register operand.
        accumulate: By set operator and label of the other operand; under `SIGNED_XOR` those that
            sign-extend the low 32 bits of the accumulator.
        accumulate_immediate: By set operator, patterns register op immediate.
        pairs: Linear patterns of two operands without an accumulator.
        structural: All others, by root operator.
    """

    def __init__(self, instructions: InstructionSet) -> None:
        self.instructions = instructions
        self.xlen = instructions.xlen
        self.unary: dict[Label, list[Pattern]] = {}
        self.constants: list[Pattern] = []
        self.accumulate: dict[str, dict[Label, list[Accumulate]]] = {
            s: {} for s in (*SETS, SIGNED_XOR)
        }
        self.accumulate_immediate: dict[str, list[Accumulate]] = {s: [] for s in SETS}
        self.pairs: list[Pair] = []
        self.structural: dict[str, list[Pattern]] = {}
        self.loads: dict[tuple[int, bool], Access] = {}
        self.stores: dict[int, Access] = {}
        self.branch_different: Jump | None = None
        self.branch_equal: Jump | None = None
        self.call: Jump | None = None
        self.jump_register: Jump | None = None
        self.stop: Instruction | None = None
        self._words = pattern_words(self.xlen)
        self._sign_extension = self._words.labels.sar(
            self._words.labels.move(self._words.labels.identity, 0, 32, self.xlen - 32),
            self.xlen - 32,
        )
        self._restricted: dict[tuple[str, int, int], dict[Label, list[Pattern]]] = {}
        self._sides: dict[tuple[int, int], dict[Label, list[tuple[int, int]]]] = {}
        self._restricted_sets: dict[tuple[str, int, int], dict[Label, list[Accumulate]]] = {}
        self._in_parts: dict[Pattern, bool] = {}
        for instruction in instructions.instructions:
            self._add(instruction)

    @cached_property
    def base(self) -> frozenset[str]:
        """Extensions that a core has anyway: those of its loads."""
        return frozenset(a.instruction.extension for a in self.loads.values())

    @cached_property
    def permutations(self) -> list[tuple[Pattern, tuple[int, ...]]]:
        """Patterns that permute bits other than by rotation, and where each bit goes."""
        found = []
        for label, patterns in self.unary.items():
            places = self._words.labels.permutation(label)
            if places and any(p != (places[0] + i) % self.xlen for i, p in enumerate(places)):
                found.append((patterns[0], places))
        return found

    @cached_property
    def matrix_unit(self) -> Unit | None:
        """See `isa.compiler.units`."""
        return find_matrix_unit(self.instructions)

    @cached_property
    def mask_unit(self) -> Unit | None:
        """See `isa.compiler.units`."""
        return find_mask_unit(self.instructions)

    def _add(self, instruction: Instruction) -> None:
        derived = derive(instruction, self.xlen)
        if derived.load:
            self.loads.setdefault(derived.load[:2], derived.load[2])
        if derived.store:
            self.stores.setdefault(derived.store[0], derived.store[1])
        self.branch_different = self.branch_different or derived.branch_different
        self.branch_equal = self.branch_equal or derived.branch_equal
        self.call = self.call or derived.call
        self.jump_register = self.jump_register or derived.jump_register
        if instruction.effects(self.xlen).host == "ebreak":
            self.stop = instruction
        for pattern in derived.patterns:
            self._index(pattern)

    def _index(self, pattern: Pattern) -> None:
        root, holes = pattern.root, pattern.holes
        if not holes:
            if pattern.immediate:
                self.constants.append(pattern)
            return
        if pattern.immediate is None:
            if len(holes) == 1:
                label = label_over(self._words, root, holes[0])
                if label is not None:
                    self.unary.setdefault(label, []).append(pattern)
                    return
            elif len(holes) == 2 and self._index_sum(pattern):
                return
        if root.op in SETS and len(root.args) == 2 and self._index_set(pattern):
            return
        self.structural.setdefault(root.op, []).append(pattern)

    def _index_sum(self, pattern: Pattern) -> bool:
        """Index f(x) + g(y) over GF(2); False where it is not spelled in that form."""
        sums = additive(self._words, pattern.root, pattern.holes)
        is_spelled_so = sums is not None
        if sums is None:
            sums = additive(self._words, pattern.root, pattern.holes, deep=True)
        if sums is None:
            return False
        identity = self._words.labels.identity
        first, second = pattern.holes
        for acc, x in ((first, second), (second, first)):
            accumulate = Accumulate(pattern, acc, x)
            if sums[acc] is identity:
                self.accumulate["xor"].setdefault(sums[x], []).append(accumulate)
                return is_spelled_so
            if sums[acc] is self._sign_extension:
                self.accumulate[SIGNED_XOR].setdefault(sums[x], []).append(accumulate)
        self.pairs.append(Pair(pattern, first, sums[first], second, sums[second]))
        return is_spelled_so

    def _index_set(self, pattern: Pattern) -> bool:
        args = pattern.root.args
        op = pattern.root.op
        for acc, other in (args, args[::-1]):
            if acc.op != "leaf" or acc.attr not in pattern.holes:
                continue
            if other.op == "leaf" and other.attr == "immediate":
                self.accumulate_immediate[op].append(Accumulate(pattern, str(acc.attr), ""))
                return True
            rest = [h for h in pattern.holes if h != acc.attr]
            if pattern.immediate is None and len(rest) == 1:
                label = label_over(self._words, other, rest[0])
                if label is not None:
                    accumulate = Accumulate(pattern, str(acc.attr), rest[0])
                    self.accumulate[op].setdefault(label, []).append(accumulate)
                    return True
        return False

    def forms(self, shape: Word) -> tuple[Form, ...]:
        """Forms of a word of a pattern."""
        return self._words.forms(shape)

    def reads_in_parts(self, pattern: Pattern) -> bool:
        """Whether a register operand of a pattern is read in several places."""
        found = self._in_parts.get(pattern)
        if found is None:
            stack, seen, readers = [pattern.root], {pattern.root}, dict.fromkeys(pattern.holes, 0)
            while stack:
                for a in stack.pop().args:
                    if a.op == "leaf" and a.attr in readers:
                        readers[str(a.attr)] += 1
                    elif a not in seen:
                        seen.add(a)
                        stack.append(a)
            found = self._in_parts[pattern] = any(count > 1 for count in readers.values())
        return found

    def leaves(self, shape: Word) -> set[Word]:
        """Leaves of a word of a pattern."""
        return {self._words.leaf(name) for name in leaves_of(shape)}

    def unary_for(self, atom: Word) -> dict[Label, list[Pattern]]:
        """`unary` as labels of the operand `atom`."""
        if atom.ones == self._words.mask and atom.sign == self.xlen:
            return self.unary
        key = ("", atom.ones, atom.sign)
        if key not in self._restricted:
            table: dict[Label, list[Pattern]] = {}
            for label, patterns in self.unary.items():
                table.setdefault(self._words.seen(label, atom), []).extend(patterns)
            self._restricted[key] = table
        return self._restricted[key]

    def accumulate_for(self, op: str, atom: Word) -> dict[Label, list[Accumulate]]:
        """`accumulate` as labels of the operand `atom`."""
        if atom.ones == self._words.mask and atom.sign == self.xlen:
            return self.accumulate[op]
        key = (op, atom.ones, atom.sign)
        if key not in self._restricted_sets:
            table: dict[Label, list[Accumulate]] = {}
            for label, patterns in self.accumulate[op].items():
                table.setdefault(self._words.seen(label, atom), []).extend(patterns)
            self._restricted_sets[key] = table
        return self._restricted_sets[key]

    def sides_for(self, atom: Word) -> dict[Label, list[tuple[int, int]]]:
        """Number of each of `pairs` and which of its operands, by label of the operand `atom`."""
        key = (atom.ones, atom.sign)
        if key not in self._sides:
            table: dict[Label, list[tuple[int, int]]] = {}
            for i, pair in enumerate(self.pairs):
                for side, label in enumerate((pair.first_label, pair.second_label)):
                    table.setdefault(self._words.seen(label, atom), []).append((i, side))
            self._sides[key] = table
        return self._sides[key]


_REPERTOIRES: dict[tuple[int, ...], tuple[InstructionSet, Repertoire]] = {}


def repertoire_of(instructions: InstructionSet) -> Repertoire:
    """Patterns of an instruction set, kept for the sets used last."""
    key = (instructions.xlen, *map(id, instructions.instructions))
    if key not in _REPERTOIRES:
        if len(_REPERTOIRES) == MOST_REPERTOIRES:
            del _REPERTOIRES[next(iter(_REPERTOIRES))]
        _REPERTOIRES[key] = (instructions, Repertoire(instructions))
    return _REPERTOIRES[key][1]
