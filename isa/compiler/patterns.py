"""Patterns: what each instruction can compute, derived from its meaning alone.

Nothing here knows an instruction by name. Immediates of few values are specialised, one pattern a
value; of wider ones the affine map from field to operand is inverted when a constant is to be
encoded. Every register operand may also be x0, which gives further patterns.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from isa.bits import Bits, arg, const, substitute
from isa.canonical import Label
from isa.compiler.legalise import Legaliser
from isa.compiler.spellings import mask_of
from isa.compiler.words import Word, Words, shift_of
from isa.encoding import Immediate
from isa.instruction import REGISTER_SOURCES, Effects, Instruction

MOST_SPECIALISED = 64
"""Values of an immediate up to which each gets a pattern of its own."""

SETS = ("xor", "and", "or", "add")


class AffineImmediate:
    """The operand value as an affine function over GF(2) of a wide immediate field."""

    def __init__(self, name: str, label: Label, width: int, field_width: int) -> None:
        self.name = name
        self._constant = label.constant
        mask = (1 << width) - 1
        basis: list[tuple[int, int, int]] = []  # (pivot, image, field bits)
        for bit in range(field_width):
            image, source = label.linear >> width * bit & mask, 1 << bit
            for pivot, other, bits in basis:
                if image >> pivot & 1:
                    image, source = image ^ other, source ^ bits
            if image:
                basis.append((image.bit_length() - 1, image, source))
        self._basis = basis
        self._known: dict[int, int | None] = {}

    def solve(self, value: int) -> int | None:
        """Field that gives `value`, or None where there is none."""
        if value not in self._known:
            rest, found = value ^ self._constant, 0
            for pivot, image, source in self._basis:
                if rest >> pivot & 1:
                    rest, found = rest ^ image, found ^ source
            self._known[value] = None if rest else found
        return self._known[value]


@dataclass(frozen=True, eq=False)
class Pattern:
    """One way to use an instruction that computes a word.

    Attributes:
        instruction: The instruction.
        fixed: Values of specialised immediates.
        root: What it computes, over leaves named as its register operands, and `immediate`.
        holes: Register operands that count, in the order rs1, rs2, rs3; others are x0.
        immediate: The wide immediate, if it has one.
    """

    instruction: Instruction
    fixed: Mapping[str, int]
    root: Word
    holes: tuple[str, ...]
    immediate: AffineImmediate | None = None


@dataclass(frozen=True, eq=False)
class Accumulate:
    """A pattern `acc op f(x)`: hole `acc` enters as it is, hole `x` through a label."""

    pattern: Pattern
    acc: str
    x: str


@dataclass(frozen=True, eq=False)
class Pair:
    """A pattern f(x) + g(y) over GF(2), neither label the identity."""

    pattern: Pattern
    first: str
    first_label: Label
    second: str
    second_label: Label


@dataclass(frozen=True, eq=False)
class Access:
    """A load or store of `width` bits at register + immediate."""

    instruction: Instruction
    base: str
    offset: AffineImmediate
    value: str | None = None


@dataclass(frozen=True, eq=False)
class Jump:
    """A branch taken where two registers differ, or a jump, to pc or register + offset."""

    instruction: Instruction
    sources: tuple[str, ...]
    offset: AffineImmediate


@dataclass
class Derived:
    """What one instruction contributes."""

    patterns: list[Pattern] = field(default_factory=list)
    load: tuple[int, bool, Access] | None = None
    store: tuple[int, Access] | None = None
    branch_different: Jump | None = None
    branch_equal: Jump | None = None
    call: Jump | None = None
    jump_register: Jump | None = None


_WORDS: dict[int, Words] = {}


def pattern_words(xlen: int) -> Words:
    """Words in which the patterns of one xlen are written."""
    if xlen not in _WORDS:
        _WORDS[xlen] = Words(xlen, most_forms=1 << 20)
    return _WORDS[xlen]


def label_over(words: Words, word: Word, leaf: str) -> Label | None:
    """Label of a word as a function of one leaf."""
    for atom, label in words.forms(word):
        if atom.op == "leaf" and atom.attr == leaf:
            return label
    return None


def additive(
    words: Words, root: Word, leaves: Iterable[str], *, deep: bool = False
) -> dict[str, Label] | None:
    """Labels whose sum over GF(2) is `root`, one a leaf; None where there are none.

    With `deep` sums below moves and masks are split as well.
    """
    algebra = words.labels
    sums = dict.fromkeys(leaves, algebra.constant(0))
    first = next(iter(sums))
    terms = [root]
    while terms:
        term = terms.pop(0)
        if term.op == "xor":
            terms = [*term.args, *terms]
        elif term.op == "const":
            sums[first] = algebra.xor(sums[first], algebra.constant(term.value))
        else:
            for leaf in sums:
                label = label_over(words, term, leaf)
                if label is not None:
                    sums[leaf] = algebra.xor(sums[leaf], label)
                    break
            else:
                parts = spread(words, term) if deep else []
                if len(parts) < 2:
                    return None
                terms = [*parts, *terms]
    return sums


def spread(words: Words, term: Word) -> list[Word]:
    """Words whose sum is `term`: what moves and masks a sum moves and masks its terms."""
    if term.op not in ("move", "mask", "rotr", "sar"):
        return list(term.args) if term.op == "xor" else [term]
    parts = spread(words, term.args[0])
    match term.op:
        case "move":
            return [words.move(p, *term.field) for p in parts]
        case "mask":
            return [words.masked(p, mask_of(term)) for p in parts]
        case "rotr":
            return [words.rotr(p, shift_of(term)) for p in parts]
    return [words.sar(p, shift_of(term)) for p in parts]


_DERIVED: dict[tuple[int, int], tuple[Instruction, Derived]] = {}


def derive(instruction: Instruction, xlen: int) -> Derived:
    """Patterns of one instruction, derived once a process."""
    key = (id(instruction), xlen)
    if key not in _DERIVED:
        _DERIVED[key] = (instruction, _derive_anew(instruction, xlen))
    return _DERIVED[key][1]


def _derive_anew(instruction: Instruction, xlen: int) -> Derived:
    effects = instruction.effects(xlen)
    derived = Derived()
    if effects.load:
        access = _access(instruction, effects.load.address, xlen, None)
        if access and instruction.writes_rd:
            derived.load = (effects.load.width, effects.load.signed, access)
    elif effects.store:
        value = effects.store.value
        access = _access(instruction, effects.store.address, xlen, value)
        if access:
            derived.store = (value.width, access)
    elif effects.next_pc:
        _derive_jump(derived, instruction, effects, xlen)
    elif (
        effects.rd is not None
        and not effects.state
        and not instruction.reads_state
        and "pc" not in instruction.parameters
    ):
        derived.patterns = _patterns(instruction, effects.rd, xlen)
    return derived


def _legalise(root: Bits, xlen: int) -> Word:
    words = pattern_words(xlen)
    return Legaliser(words, lambda n: (words.leaf(str(n.attr), (1 << n.width) - 1),))(root)[0]


def _patterns(instruction: Instruction, rd: Bits, xlen: int) -> list[Pattern]:
    """Every specialisation of a pure instruction."""
    narrow = [i for i in instruction.encoding.immediates if 1 << i.width <= MOST_SPECIALISED]
    wide = [i for i in instruction.encoding.immediates if 1 << i.width > MOST_SPECIALISED]
    used = set(instruction.parameters)
    wide = [i for i in wide if i.name in used]
    if len(wide) > 1:
        return []
    found = []
    for values in itertools.product(*(i.values for i in narrow)):
        fixed = {i.name: v for i, v in zip(narrow, values, strict=True)}
        replacement = {
            arg(i.name, i.width): const(v, i.width) for i, v in zip(narrow, values, strict=True)
        }
        special = substitute(rd, replacement) if replacement else rd
        for count in range(len(instruction.sources) + 1):
            for zeros in itertools.combinations(instruction.sources, count):
                root = (
                    substitute(special, {arg(z, xlen): const(0, xlen) for z in zeros})
                    if zeros
                    else special
                )
                holes = tuple(s for s in instruction.sources if s not in zeros)
                pattern = _pattern(instruction, fixed, root, holes, wide, xlen)
                if pattern is not None:
                    found.append(pattern)
                if wide and holes:
                    name, width = wide[0].name, wide[0].width
                    plain = substitute(root, {arg(name, width): const(0, width)})
                    pattern = _pattern(instruction, {**fixed, name: 0}, plain, holes, [], xlen)
                    if pattern is not None:
                        found.append(pattern)
    return found


def _pattern(
    instruction: Instruction,
    fixed: Mapping[str, int],
    root: Bits,
    holes: tuple[str, ...],
    wide: list[Immediate],
    xlen: int,
) -> Pattern | None:
    words = pattern_words(xlen)
    word = _legalise(root, xlen)
    immediate = None
    if wide:
        name, width = wide[0].name, wide[0].width
        operand = _immediate_operand(word, name, width)
        if operand is None:
            return None
        label = label_over(words, operand, name)
        if label is None or label.cones:
            return None
        immediate = AffineImmediate(name, label, xlen, width)
        word = _replace(words, word, operand, words.leaf("immediate"))
    leaves = leaves_of(word)
    if not leaves >= set(holes) or leaves - set(holes) - {"immediate"}:
        return None  # an operand that does not count, or one that is not an operand
    if wide and "immediate" not in leaves:
        return None
    return Pattern(instruction, fixed, word, holes, immediate)


def leaves_of(word: Word) -> set[str]:
    """Names of the leaves below a word."""
    found, stack, seen = set(), [word], set()
    while stack:
        w = stack.pop()
        if w not in seen:
            seen.add(w)
            stack += w.args
            if w.op == "leaf":
                found.add(str(w.attr))
    return found


def _immediate_operand(word: Word, name: str, width: int) -> Word | None:
    """The one largest word that depends on the immediate alone."""
    found: list[Word] = []
    stack = [word]
    while stack:
        w = stack.pop()
        leaves = leaves_of(w)
        if leaves == {name}:
            if w not in found:
                found.append(w)
        elif name in leaves:
            stack += w.args
    return found[0] if len(found) == 1 else None


def _replace(words: Words, word: Word, old: Word, new: Word) -> Word:
    if word is old:
        return new
    if not word.args:
        return word
    args = tuple(_replace(words, a, old, new) for a in word.args)
    return words.intern(word.op, args, word.attr, words.mask)


def _access(
    instruction: Instruction, address: Bits, xlen: int, value: Bits | None
) -> Access | None:
    """A load or store whose address is register + immediate."""
    found = _register_plus_immediate(instruction, address, xlen)
    if found is None:
        return None
    base, offset = found
    if value is None:
        return Access(instruction, base, offset)
    low = _legalise(value, xlen)
    for source in instruction.sources:
        if low is _legalise(arg(source, xlen).slice(0, value.width), xlen) and source != base:
            return Access(instruction, base, offset, source)
    return None


def _register_plus_immediate(
    instruction: Instruction, address: Bits, xlen: int
) -> tuple[str, AffineImmediate] | None:
    if len(instruction.immediates) != 1:
        return None
    words = pattern_words(xlen)
    word = _legalise(address, xlen)
    immediate = instruction.encoding.immediates[0]
    if word.op == "add":
        for base, offset in (word.args, word.args[::-1]):
            label = label_over(words, offset, immediate.name)
            if base.op == "leaf" and label is not None and not label.cones:
                return str(base.attr), AffineImmediate(immediate.name, label, xlen, immediate.width)
    return None


def _derive_jump(derived: Derived, instruction: Instruction, effects: Effects, xlen: int) -> None:
    assert effects.next_pc is not None
    target, condition = effects.next_pc.target, effects.next_pc.condition
    words = pattern_words(xlen)
    if condition is not None:
        found = _register_plus_immediate(instruction, target, xlen)
        rs1, rs2 = words.leaf("rs1"), words.leaf("rs2")
        difference, word = words.xor(rs1, rs2), _legalise(condition, xlen)
        if found and found[0] == "pc":
            jump = Jump(instruction, ("rs1", "rs2"), found[1])
            if word is words.ult(words.zero, difference):
                derived.branch_different = jump
            elif word is words.ult(difference, words.one):
                derived.branch_equal = jump
        return
    if not instruction.writes_rd:
        return
    found = _register_plus_immediate(instruction, target, xlen)
    if found and found[0] == "pc":
        derived.call = Jump(instruction, (), found[1])
    elif target.op == "and" and target.args[1].op == "const":
        found = _register_plus_immediate(instruction, target.args[0], xlen)
        if found and found[0] in REGISTER_SOURCES:
            derived.jump_register = Jump(instruction, (found[0],), found[1])
