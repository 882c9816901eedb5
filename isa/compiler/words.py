"""Word: a register-wide view of `Bits`, the language in which kernels and instructions meet.

Every word has xlen bits. A narrower value stands zero-extended, but one of 32 bits on RV64 stands
sign-extended, as the instructions on words give it; a wider value is split, the least significant
word first. Sums over GF(2), and, or and add are sets of operands; shifts, slices and extensions are
moves of a bit field. Instructions and kernels pass through the same constructors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

from isa.canonical import Label, labels
from isa.ops import carryless
from isa.table import Table

MAX_FORMS = 6
"""Words below a word, nearest first, of which it is seen as a function."""

Form = tuple["Word", Label]


class Word:
    """One node; equal nodes of one `Words` are the same object.

    Attributes:
        op: leaf, const, xor, and, or, add (sets), mask, move, rotr, sar, sub, ult, slt, eq, mux,
            lookup, mul, mul_high, clmul, clmul_high, shl_var, shr_var, sar_var, rotr_var.
        args: Operand words.
        attr: Name of a leaf, value of a constant, mask, (low, length, position) of a move, shift
            amount or table.
        ones: Mask of the bits that can be 1.
        sign: The word is the sign extension of this many low bits.
        serial: Position in order of creation; operands come before users.
    """

    __slots__ = ("args", "attr", "forms", "ones", "op", "serial", "sign")

    def __init__(
        self, op: str, args: tuple[Word, ...], attr: object, ones: int, sign: int, serial: int
    ) -> None:
        self.op = op
        self.args = args
        self.attr = attr
        self.ones = ones
        self.sign = sign
        self.serial = serial
        self.forms: tuple[Form, ...] | None = None

    @property
    def value(self) -> int:
        """Value of a constant."""
        assert isinstance(self.attr, int)
        return self.attr

    @property
    def field(self) -> tuple[int, int, int]:
        """Low bit, length and position of a move."""
        assert isinstance(self.attr, tuple)
        return self.attr

    def __repr__(self) -> str:
        return f"<Word {self.serial} {self.op} {self.attr} {[a.serial for a in self.args]}>"


class Words:
    """Builds and interns words of one width."""

    def __init__(self, width: int, most_forms: int = MAX_FORMS) -> None:
        self.width = width
        self.mask = (1 << width) - 1
        self._most_forms = most_forms
        self.amount_bits = width.bit_length() - 1
        self.labels = labels(width)
        self._interned: dict[tuple[object, ...], Word] = {}
        self.zero = self.const(0)
        self.one = self.const(1)

    @property
    def count(self) -> int:
        """Words so far; the next has this serial."""
        return len(self._interned)

    def holds(self, op: str, args: tuple[Word, ...]) -> bool:
        """Whether there is such a word, without an attribute."""
        return (op, None, *args) in self._interned

    def since(self, serial: int) -> list[Word]:
        """Words from a serial on, in order."""
        return list(islice(self._interned.values(), serial, None))

    def intern(
        self, op: str, args: tuple[Word, ...], attr: object, ones: int, sign: int | None = None
    ) -> Word:
        """The node as given, without any simplification."""
        key = (op, attr, *args)
        found = self._interned.get(key)
        if found is None:
            sign = self._sign(op, args, attr, ones) if sign is None else sign
            found = Word(op, args, attr, ones, sign, len(self._interned))
            self._interned[key] = found
        return found

    def _sign(self, op: str, args: tuple[Word, ...], attr: object, ones: int) -> int:
        sign = min(ones.bit_length() + 1, self.width)
        if op == "const":
            assert isinstance(attr, int)
            sign = min(sign, (attr ^ self.mask).bit_length() + 1)
        elif op in ("xor", "and", "or"):
            sign = min(sign, max(a.sign for a in args))
        elif op == "sar":
            assert isinstance(attr, int)
            sign = min(sign, max(args[0].sign - attr, 1))
        return sign

    def leaf(self, name: str, ones: int = -1, sign: int | None = None) -> Word:
        """A value that is computed elsewhere, see `Word` for `ones` and `sign`."""
        return self.intern("leaf", (), name, ones & self.mask, sign)

    def const(self, value: int) -> Word:
        """A constant, modulo 2^width."""
        value &= self.mask
        return self.intern("const", (), value, value)

    def seen(self, label: Label, atom: Word) -> Label:
        """A label of any word as a label of `atom`."""
        return self.labels.restrict(label, atom.ones, atom.sign)

    # Sets.

    def xor(self, *args: Word) -> Word:
        """Sum over GF(2)."""
        constant, ones = 0, 0
        kept: list[Word] = []
        for a in args:
            if a.op == "const":
                constant ^= a.value
            elif a in kept:  # x ^ x = 0
                kept.remove(a)
            else:
                kept.append(a)
        if constant and len(kept) == 1 and kept[0].op == "xor" and kept[0].args[-1].op == "const":
            return self.xor(*kept[0].args, self.const(constant))  # (x ^ c) ^ d = x ^ (c ^ d)
        if constant == 1 and len(kept) == 1 and kept[0].op == "ult":
            low, high = kept[0].args
            if high is self.one:  # not (x < 1) = 0 < x
                return self.ult(self.zero, low)
        for a in kept:
            ones |= a.ones
        if constant:
            kept.append(self.const(constant))
        if not kept:
            return self.zero
        return kept[0] if len(kept) == 1 else self.intern("xor", tuple(kept), None, ones | constant)

    def and_(self, a: Word, b: Word) -> Word:
        """Bitwise and."""
        if a.op == "const":
            a, b = b, a
        if b.op == "const":
            return self.masked(a, b.value)
        return a if a is b else self.intern("and", (a, b), None, a.ones & b.ones)

    def or_(self, a: Word, b: Word) -> Word:
        """Bitwise or; of words without a common bit it is their sum."""
        if a.ones & b.ones == 0:
            return self.xor(a, b)
        if a.op == "const":
            a, b = b, a
        if b.op == "const":
            if b.value == self.mask:
                return b
            return self.intern("or", (a, b), None, a.ones | b.ones)
        return a if a is b else self.intern("or", (a, b), None, a.ones | b.ones)

    def add(self, a: Word, b: Word) -> Word:
        """Sum modulo 2^width; of words without a common bit it is their sum over GF(2)."""
        if a.op == "const":
            a, b = b, a
        if a.op == "const":
            return self.const(a.value + b.value)
        if b is self.zero:
            return a
        if a.ones & b.ones == 0 and b.op != "const":
            return self.xor(a, b)
        top = (a.ones + b.ones).bit_length()
        return self.intern("add", (a, b), None, self.mask & (1 << top) - 1)

    def sub(self, a: Word, b: Word) -> Word:
        """Difference modulo 2^width."""
        if b.op == "const":
            return self.add(a, self.const(-b.value))
        return self.zero if a is b else self.intern("sub", (a, b), None, self.mask)

    # Functions of one word.

    def masked(self, a: Word, mask: int) -> Word:
        """Bitwise and with a constant."""
        mask &= a.ones
        if a.op == "const":
            return self.const(a.value & mask)
        if mask == a.ones:
            return a
        if not mask:
            return self.zero
        low = (mask & -mask).bit_length() - 1
        length = (mask >> low).bit_length()
        if a.ones >> low & (1 << length) - 1 == mask >> low:
            return self.move(a, low, length, low)
        return self.intern("mask", (a,), mask, mask)

    def move(self, a: Word, low: int, length: int, position: int) -> Word:
        """The field of `length` bits at `low`, placed at `position`, all else 0."""
        length = min(length, self.width - low, self.width - position)
        if length <= 0:
            return self.zero
        if a.op == "const":
            return self.const((a.value >> low & (1 << length) - 1) << position)
        if a.op == "move":
            low0, length0, position0 = a.field
            bottom = max(low, position0)
            length = min(low + length, position0 + length0) - bottom
            return self.move(a.args[0], low0 + bottom - position0, length, position + bottom - low)
        if a.op == "sar" and is_leaf_extension(a) and low + length <= self.width - shift_of(a):
            return self.move(a.args[0], low + shift_of(a), length, position)
        # Bits known to be 0 may as well be inside: the widest field is a plain shift.
        if a.ones >> low + length == 0:
            length = min(self.width - low, self.width - position)
        slack = min(low, position)
        if slack and a.ones & ((1 << low) - (1 << low - slack)) == 0:
            low, position, length = low - slack, position - slack, length + slack
        ones = (a.ones >> low & (1 << length) - 1) << position
        if not ones:
            return self.zero
        if low == position and ones == a.ones:
            return a
        return self.intern("move", (a,), (low, length, position), ones)

    def rotr(self, a: Word, amount: int) -> Word:
        """Rotation right by a static amount."""
        amount %= self.width
        if not amount:
            return a
        if a.op == "const":
            return self.const(a.value >> amount | a.value << self.width - amount)
        if a.op == "rotr":
            return self.rotr(a.args[0], amount + a.attr)  # type: ignore[operator]
        ones = (a.ones >> amount | a.ones << self.width - amount) & self.mask
        return self.intern("rotr", (a,), amount, ones)

    def sar(self, a: Word, amount: int) -> Word:
        """Arithmetic shift right by a static amount."""
        if not amount:
            return a
        if a.ones >> self.width - 1 == 0:
            return self.move(a, amount, self.width - amount, 0)
        if a.op == "const":
            return self.const(a.value - (1 << self.width) >> amount)
        fill = self.mask ^ self.mask >> amount
        return self.intern("sar", (a,), amount, a.ones >> amount | fill)

    def sext(self, a: Word, length: int) -> Word:
        """The sign extension of the low `length` bits."""
        top = self.width - length
        if a.sign <= length:
            return a
        if a.op == "const":
            low = a.value & (1 << length) - 1
            return self.const(low - (low >> length - 1 << length))
        if a.op == "xor":  # linear, therefore each for itself
            wide = [x for x in a.args if x.sign > length]
            if len(wide) == 1:
                return self.xor(*(self.sext(x, length) if x is wide[0] else x for x in a.args))
        if a.op == "move":
            low, count, position = a.field
            if low == position == 0 and count >= length and a.args[0].sign <= length:
                return a.args[0]
            if low + length == self.width and not position and count >= length:
                return self.sar(a.args[0], low)
        return self.sar(self.move(a, 0, length, top), top)

    def low(self, a: Word, length: int) -> Word:
        """A word that agrees with `a` in the low bits: a leaf instead of its extension."""
        if is_leaf_extension(a) and self.width - shift_of(a) >= length:
            return a.args[0].args[0]
        return a

    def lookup(self, table: Table, index: Word) -> Word:
        """Entry of a table; the index lies within it."""
        ones = 0
        for e in table.entries:
            ones |= e
        return self.intern("lookup", (index,), table, ones)

    # Other operators.

    def ult(self, a: Word, b: Word) -> Word:
        """1 where a < b, unsigned, else 0."""
        if b is self.zero or a is b:
            return self.zero
        return self.intern("ult", (a, b), None, 1)

    def eq(self, a: Word, b: Word) -> Word:
        """1 where a = b, else 0."""
        if a is b:
            return self.one
        if a.op == "const":
            a, b = b, a
        if b is self.zero:
            return self.ult(a, self.one)
        return self.ult(self.xor(a, b), self.one)

    def mux(self, condition: Word, a: Word, b: Word) -> Word:
        """Value a where the condition is 1, b where it is 0."""
        if condition.op == "const":
            return a if condition.value else b
        return a if a is b else self.intern("mux", (condition, a, b), None, a.ones | b.ones)

    def binary(self, op: str, a: Word, b: Word) -> Word:
        """An operator without algebra of its own; variable amounts count modulo the width."""
        if op.endswith("_var"):
            if b.op == "move" and b.attr == (0, self.amount_bits, 0):
                b = b.args[0]
            if b.op == "const":
                return self._static(op, a, b.value % self.width)
        ones = self.mask
        if op == "shr_var":
            ones = (1 << a.ones.bit_length()) - 1
        if op == "slt":
            ones = 1
        return self.intern(op, (a, b), None, ones)

    def _static(self, op: str, a: Word, amount: int) -> Word:
        match op:
            case "shl_var":
                return self.move(a, 0, self.width - amount, amount)
            case "shr_var":
                return self.move(a, amount, self.width - amount, 0)
            case "sar_var":
                return self.sar(a, amount)
        return self.rotr(a, amount)

    # Labels.

    def forms(self, word: Word) -> tuple[Form, ...]:
        """Words of which `word` is a function of one, with its label; itself first."""
        if word.forms is None:
            for w in _pending(word):
                w.forms = self._forms(w)
            assert word.forms is not None
        return word.forms

    def _forms(self, word: Word) -> tuple[Form, ...]:
        identity = self.seen(self.labels.identity, word)
        found: dict[Word, Label] = {word: identity}
        for atom, parts in self._atoms(word):
            label = self._label(word, parts)
            if label is not None and atom not in found:
                found[atom] = label
                if len(found) == self._most_forms:
                    break
        return tuple(found.items())

    def _atoms(self, word: Word) -> list[tuple[Word, list[Label]]]:
        """Words that every operand is a function of, with the labels of the operands."""
        if not word.args:
            return []
        if len(word.args) == 1:
            return [(a, [u]) for a, u in word.args[0].forms or ()]
        variable = [a for a in word.args if a.op != "const"]
        result = []
        tables = [dict(a.forms or ()) for a in variable]
        for atom, first in (variable[0].forms or ()) if variable else ():
            if all(atom in t for t in tables[1:]):
                rest = iter([first, *(t[atom] for t in tables[1:])])
                result.append(
                    (
                        atom,
                        [
                            self.labels.constant(a.value) if a.op == "const" else next(rest)
                            for a in word.args
                        ],
                    )
                )
        return result

    def _label(self, word: Word, parts: list[Label]) -> Label | None:
        algebra = self.labels
        match word.op:
            case "move":
                return algebra.move(parts[0], *word.attr)  # type: ignore[misc]
            case "mask":
                return algebra.masked(parts[0], word.attr)  # type: ignore[arg-type]
            case "rotr":
                return algebra.rotr(parts[0], word.attr)  # type: ignore[arg-type]
            case "sar":
                return algebra.sar(parts[0], word.attr)  # type: ignore[arg-type]
            case "xor":
                total = parts[0]
                for part in parts[1:]:
                    total = algebra.xor(total, part)
                return total
        return algebra.tabulate((word.op, word.attr, self.width), parts, self._function(word))

    def _function(self, word: Word) -> Callable[..., int]:
        return lambda *values: evaluate_word(word.op, word.attr, self.width, values)


def shift_of(word: Word) -> int:
    """Amount of an arithmetic shift."""
    assert isinstance(word.attr, int)
    return word.attr


def is_leaf_extension(word: Word) -> bool:
    """Whether a word is the sign extension of the low bits of a leaf."""
    if word.op != "sar" or word.args[0].op != "move" or word.args[0].args[0].op != "leaf":
        return False
    low, _, position = word.args[0].field
    return low == 0 and position == word.attr


def _pending(word: Word) -> list[Word]:
    """Words at and below `word` without forms, operands first."""
    order: list[Word] = []
    stack = [(word, False)]
    seen = set()
    while stack:
        w, done = stack.pop()
        if done:
            order.append(w)
        elif w.forms is None and w not in seen:
            seen.add(w)
            stack.append((w, True))
            stack += [(a, False) for a in w.args]
    return order


def evaluate_word(op: str, attr: Any, width: int, values: Sequence[int]) -> int:
    """Value of one operator on plain ints."""
    mask = (1 << width) - 1
    top = 1 << width - 1
    match op:
        case "const":
            return int(attr)
        case "xor":
            total = 0
            for v in values:
                total ^= v
            return total
        case "and":
            return values[0] & values[1]
        case "or":
            return values[0] | values[1]
        case "add":
            return sum(values) & mask
        case "sub":
            return values[0] - values[1] & mask
        case "mask":
            return values[0] & int(attr)
        case "move":
            low, length, position = attr
            return int((values[0] >> low & (1 << length) - 1) << position)
        case "rotr":
            return int((values[0] >> attr | values[0] << width - attr) & mask)
        case "sar":
            return int(((values[0] ^ top) - top >> attr) & mask)
        case "lookup":
            assert isinstance(attr, Table)
            return attr.entries[values[0] % len(attr.entries)]
        case "ult":
            return int(values[0] < values[1])
        case "slt":
            return int(values[0] ^ top < values[1] ^ top)
        case "mux":
            return values[1] if values[0] else values[2]
        case "mul":
            return values[0] * values[1] & mask
        case "mul_high":
            return values[0] * values[1] >> width
        case "clmul":
            return carryless(*values) & mask
        case "clmul_high":
            return carryless(*values) >> width
    amount = values[1] % width
    match op:
        case "shl_var":
            return values[0] << amount & mask
        case "shr_var":
            return values[0] >> amount
        case "sar_var":
            return (values[0] ^ top) - top >> amount & mask
        case "rotr_var":
            return (values[0] >> amount | values[0] << width - amount) & mask
    raise AssertionError(op)
