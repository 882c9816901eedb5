"""Legalise: `Bits` of any width as words, as many as it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from isa.bits import Bits, mux, node
from isa.compiler.words import Word, Words
from isa.table import Table

Pieces = tuple[Word, ...]


def signed_width(xlen: int) -> int | None:
    """Width of values that stand sign-extended in a register: words on RV64."""
    return xlen // 2 if xlen == 64 else None


class Legaliser:
    """Turns `Bits` into words; what is wider than a register becomes several."""

    def __init__(self, words: Words, leaf: Callable[[Bits], Pieces]) -> None:
        """Start; `leaf` gives the words of an argument node, the least significant first."""
        self.words = words
        self.width = words.width
        self.signed = signed_width(words.width)
        self._leaf = leaf
        self._done: dict[Bits, Pieces] = {}

    def know(self, root: Bits, pieces: Pieces) -> None:
        """State the words of a node."""
        self._done[root] = pieces

    def __call__(self, root: Bits) -> Pieces:
        """The words of one expression."""
        done = self._done
        stack = [root]
        while stack:
            n = stack[-1]
            if n in done:
                stack.pop()
                continue
            todo = [a for a in n.args if a not in done]
            if todo:
                stack += reversed(todo)
            else:
                stack.pop()
                done[n] = self._convert(n, [done[a] for a in n.args])
        return done[root]

    def _convert(self, n: Bits, xs: list[Pieces]) -> Pieces:
        w, k = self.words, n.attr if isinstance(n.attr, int) else 0
        x = xs[0] if xs else ()
        source = n.args[0].width if n.args else n.width
        match n.op:
            case "arg":
                return self._leaf(n)
            case "const":
                return self._constant(k, n.width)
            case "and":
                return tuple(map(w.and_, *xs))
            case "or":
                return tuple(map(w.or_, *xs))
            case "xor":
                return tuple(map(w.xor, *xs))
            case "not":
                return tuple(map(w.xor, x, self._constant((1 << n.width) - 1, n.width)))
            case "slice":
                return self._fit(self._slice(x, k, n.width), n.width)
            case "zext":
                x = x if n.width == source else self._plain(x, source)
                return (*x, *[w.zero] * (-(-n.width // self.width) - len(x)))
            case "sext":
                return self._sext(x, source, n.width)
            case "concat":
                parts = zip(reversed(xs), reversed(n.args), strict=True)
                return self._fit(self._concat([(p, a.width) for p, a in parts]), n.width)
            case "shl":
                zeros = (w.zero,) * -(-k // self.width)
                shifted = self._concat([(zeros, k), (self._slice(x, 0, source - k), source - k)])
                return self._fit(shifted, n.width)
            case "shr":
                rest = self._slice(x, k, source - k)
                return (*rest, *[w.zero] * (len(x) - len(rest)))
            case "sar":
                if n.width in (self.width, self.signed):
                    return (w.sar(x[0], k),)
                return self._sext(self._slice(x, k, source - k), source - k, n.width)
            case "rotr":
                if n.width == self.width:
                    return (w.rotr(x[0], k),)
                high, low = self._slice(x, k, source - k), self._slice(x, 0, k)
                return self._fit(self._concat([(high, source - k), (low, k)]), n.width)
            case "add" | "sub" | "mul" if n.width <= self.width:
                return self._fit((self._arithmetic(n.op, x[0], xs[1][0], n.width),), n.width)
            case "add":
                return self._trim(self._sum(x, xs[1]), n.width)
            case "sub":
                return self._trim(self._difference(x, xs[1]), n.width)
            case "mul" | "mul_wide" | "clmul":
                a, b = self._plain(x, source), self._plain(xs[1], source)
                product = self._carryless if n.op == "clmul" else self._product
                return self._trim(product(a, b, -(-n.width // self.width)), n.width)
            case "eq":
                return (self._equal(x, xs[1]),)
            case "ult":
                return (self._less(x, xs[1]),)
            case "slt":
                return (self._signed_less(x, xs[1], source),)
            case "mux":
                return tuple(w.mux(x[0], a, b) for a, b in zip(xs[1], xs[2], strict=True))
            case "lookup":
                return self._fit(self._lookup(n, x[0]), n.width)
        return self._variable_shift(n, xs)

    def _constant(self, value: int, width: int) -> Pieces:
        if width == self.signed:
            value -= value >> width - 1 << width
            return (self.words.const(value),)
        return tuple(self.words.const(value >> i) for i in range(0, width, self.width))

    def _fit(self, x: Pieces, width: int) -> Pieces:
        """The form in which a value of `width` bits stands, from any words with the same bits."""
        if width == self.signed:
            return (self.words.sext(x[0], width),)
        return self._trim(x, width)

    def _plain(self, x: Pieces, width: int) -> Pieces:
        """Zero-extended, whatever the form of the width is."""
        return (self.words.move(x[0], 0, width, 0),) if width == self.signed else x

    def _arithmetic(self, op: str, a: Word, b: Word, width: int) -> Word:
        """Sum, difference or product in the low bits."""
        w = self.words
        if width == self.signed:
            a, b = w.low(a, width), w.low(b, width)
        if op == "add":
            return w.add(a, b)
        return w.sub(a, b) if op == "sub" else w.binary("mul", a, b)

    def _slice(self, x: Pieces, low: int, length: int) -> Pieces:
        """Bits low to low + length - 1 of a value of several words."""
        w, size = self.words, self.width
        result = []
        for start in range(low, low + length, size):
            count = min(size, low + length - start)
            q, r = divmod(start, size)
            part = w.move(x[q], r, min(count, size - r), 0)
            if count > size - r:
                part = w.xor(part, w.move(x[q + 1], 0, count - (size - r), size - r))
            result.append(part)
        return tuple(result)

    def _concat(self, parts: Iterable[tuple[Pieces, int]]) -> Pieces:
        """Join values given as (words, width), the least significant first."""
        w, size = self.words, self.width
        columns: list[list[Word]] = []
        position = 0
        for pieces, length in parts:
            for i, piece in enumerate(pieces):
                start = position + i * size
                count = min(size, length - i * size)
                q, r = divmod(start, size)
                while len(columns) <= q + (count > size - r):
                    columns.append([])
                columns[q].append(w.move(piece, 0, min(count, size - r), r))
                if count > size - r:
                    columns[q + 1].append(w.move(piece, size - r, count - (size - r), 0))
            position += length
        return tuple(w.xor(*c) for c in columns[: -(-position // size)])

    def _sext(self, x: Pieces, source: int, width: int) -> Pieces:
        w, size = self.words, self.width
        top = w.sext(x[-1], (source - 1) % size + 1)
        count = -(-width // size)
        sign = [w.sar(top, size - 1)] * (count - len(x))
        return self._fit((*x[:-1], top, *sign), width)

    def _trim(self, x: Pieces, width: int) -> Pieces:
        """The low `width` bits, zero-extended."""
        count = -(-width // self.width)
        last = self.words.move(x[count - 1], 0, (width - 1) % self.width + 1, 0)
        return (*x[: count - 1], last)

    def _sum(self, x: Pieces, y: Pieces) -> Pieces:
        w, carry, result = self.words, self.words.zero, []
        for i, (a, b) in enumerate(zip(x, y, strict=True)):
            total = w.add(a, b)
            out = w.ult(total, a if b.op == "const" else b)
            if i:
                with_carry = w.add(total, carry)
                out = w.or_(out, w.ult(with_carry, carry)) if i + 1 < len(x) else out
                total = with_carry
            result.append(total)
            carry = out
        return tuple(result)

    def _difference(self, x: Pieces, y: Pieces) -> Pieces:
        w, borrow, result = self.words, self.words.zero, []
        for a, b in zip(x, y, strict=True):
            difference = w.sub(a, b)
            out = w.or_(w.ult(a, b), w.ult(difference, borrow))
            result.append(w.sub(difference, borrow))
            borrow = out
        return tuple(result)

    def _product(self, x: Pieces, y: Pieces, count: int) -> Pieces:
        w, zero = self.words, self.words.zero
        total: Pieces = (zero,) * count
        for i, a in enumerate(x):
            for j, b in enumerate(y):
                if i + j < count:
                    pair = [w.binary("mul", a, b)]
                    if i + j + 1 < count:
                        pair.append(w.binary("mul_high", a, b))
                    low = (zero,) * (i + j)
                    high = (zero,) * (count - i - j - len(pair))
                    total = self._sum(total, (*low, *pair, *high))
        return total

    def _carryless(self, x: Pieces, y: Pieces, count: int) -> Pieces:
        w = self.words
        columns: list[list[Word]] = [[] for _ in range(count)]
        for i, a in enumerate(x):
            for j, b in enumerate(y):
                columns[i + j].append(w.binary("clmul", a, b))
                if i + j + 1 < count:
                    columns[i + j + 1].append(w.binary("clmul_high", a, b))
        return tuple(w.xor(*c) for c in columns)

    def _equal(self, x: Pieces, y: Pieces) -> Word:
        w = self.words
        if len(x) == 1:
            return w.eq(x[0], y[0])
        different = w.zero
        for a, b in zip(x, y, strict=True):
            different = w.or_(different, w.xor(a, b))
        return w.eq(different, w.zero)

    def _less(self, x: Pieces, y: Pieces) -> Word:
        w = self.words
        result = w.ult(x[0], y[0])
        for a, b in zip(x[1:], y[1:], strict=True):
            result = w.or_(w.ult(a, b), w.and_(w.eq(a, b), result))
        return result

    def _signed_less(self, x: Pieces, y: Pieces, width: int) -> Word:
        x, y = self._sext(x, width, len(x) * self.width), self._sext(y, width, len(y) * self.width)
        w = self.words
        high = w.binary("slt", x[-1], y[-1])
        if len(x) == 1:
            return high
        return w.or_(high, w.and_(w.eq(x[-1], y[-1]), self._less(x[:-1], y[:-1])))

    def _lookup(self, n: Bits, index: Word) -> Pieces:
        assert isinstance(n.attr, Table)
        if n.width <= self.width:
            return (self.words.lookup(n.attr, index),)
        mask = self.words.mask
        parts = [
            Table(
                f"{n.attr.name}.{i // self.width}",
                min(self.width, n.width - i),
                tuple(e >> i & mask for e in n.attr.entries),
            )
            for i in range(0, n.width, self.width)
        ]
        return tuple(self.words.lookup(t, index) for t in parts)

    def _variable_shift(self, n: Bits, xs: list[Pieces]) -> Pieces:
        """One operator where the register is as wide as the value, else a chain of choices."""
        w = self.words
        if n.width == self.width:
            return (w.binary(n.op, xs[0][0], xs[1][0]),)
        if n.width == self.signed:
            x, by = xs[0][0], xs[1][0]
            match n.op:
                case "sar_var":
                    return (w.binary(n.op, x, by),)
                case "shl_var":
                    shifted = w.binary(n.op, w.low(x, n.width), by)
                case "shr_var":
                    shifted = w.binary(n.op, w.move(x, 0, n.width, 0), by)
                case _:
                    down = w.binary("shr_var", w.move(x, 0, n.width, 0), by)
                    back = w.move(w.sub(w.zero, by), 0, self.words.amount_bits - 1, 0)
                    shifted = w.or_(down, w.binary("shl_var", w.low(x, n.width), back))
            return (w.sext(shifted, n.width),)
        value, amount = n.args
        static = n.op.removesuffix("_var")
        for i in range(amount.width):
            value = mux(amount.bit(i), node(static, value, attr=1 << i), value)
        return self(value)
