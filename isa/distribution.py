"""Distribution: other views of a block, linear maps distributed down to the S-boxes.

`L(S(a) | S(b) << 8 ..) ^ k` becomes `T0(a) ^ T1(b) ^ .. ^ k`, where T0 is the table of L(S(.)). In
this spelling an instruction that does one S-box and its share of the linear layer is a connected
subgraph; in the packed spelling it is not.

Where T1, T2 and T3 are T0 with its result turned by a byte each, the same sum is also
`rotr(rotr(.. rotr(k, 8) ^ T0(b1) .., 8) ^ T0(b3), 8) ^ T0(b0)`, as Horner evaluates a polynomial: k
is turned once around. An instruction for one step of it needs no multiplexer that places its byte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from isa.bits import Bits, apply, const, fold, lookup, node, topological
from isa.substitution import BYTE_VALUES, named_boxes
from isa.table import Table

_UNARY = ("shl", "shr", "sar", "rotr", "slice", "zext", "sext", "not")
_MOST_COLUMNS = 1024
"""Matrix columns beyond which a value is not worth following."""


@dataclass(frozen=True)
class _Form:
    """constant ^ the sum of `columns` of each atom's bits."""

    constant: int
    terms: dict[Bits, tuple[int, ...]]


def distribute(roots: Iterable[Bits]) -> list[Bits]:
    """Rewrite `roots` as sums of S-boxes; those that hold no packed S-boxes stay as they are.

    Values that S-boxes and other non-linear operators select from are kept whole.
    """
    return _rewritten(roots, lambda n, cuts, f: None if _is_sum(n, cuts) else _spelled(f, n.width))


def turn(roots: Iterable[Bits]) -> list[Bits]:
    """Rewrite `roots` as sums that are turned by a byte for each S-box added, where they can be."""
    return _rewritten(roots, lambda n, _, form: _turned(form, n.width))


Spell = Callable[[Bits, frozenset[Bits], _Form], Bits | None]


def _rewritten(roots: Iterable[Bits], spell: Spell) -> list[Bits]:
    roots = list(roots)
    cuts = _cuts(roots)
    forms: dict[Bits, _Form] = {}
    return fold(roots, lambda n, xs: _visit(n, xs, cuts, forms, spell))


def _visit(
    n: Bits, xs: list[Bits], cuts: frozenset[Bits], forms: dict[Bits, _Form], spell: Spell
) -> Bits:
    """The node in another view; its form goes to `forms`, by the node as written."""
    spelled = node(n.op, *xs, attr=n.attr, width=n.width) if n.args else n
    form = _form(n, spelled, forms)
    if n in cuts:
        terms = spell(n, cuts, form)
        if terms is not None:
            spelled = terms
        form = _Form(0, {spelled: tuple(1 << i for i in range(n.width))})
    forms[n] = form
    return spelled


def _cuts(roots: list[Bits]) -> frozenset[Bits]:
    """Results, and the values that non-linear operators select from."""
    found = set(roots)
    for n in topological(roots):
        if n.op in _UNARY or n.op in ("xor", "concat", "const", "arg"):
            continue
        if n.op in ("and", "or", "add", "sub", "mul") and _may_be_linear(n):
            continue
        for a in n.args:
            while a.op in _UNARY or (a.op == "and" and a.args[1].op == "const"):
                a = a.args[0]
            found.add(a)
    return frozenset(found)


def _is_sum(n: Bits, cuts: frozenset[Bits]) -> bool:
    """Whether a value is written as a sum of single S-boxes and other values already."""
    stack = [n]
    while stack:
        m = stack.pop()
        if m.op in ("xor", "or", "add") and (m is n or m not in cuts):
            stack += m.args
            continue
        while m.op in _UNARY and m not in cuts:
            m = m.args[0]
        if m not in cuts and m.op not in ("lookup", "arg", "const"):
            return False
    return True


def _may_be_linear(n: Bits) -> bool:
    """Whether an arithmetic operator works on masked or shifted values, as packed code does."""
    return n.args[1].op == "const" or n.op == "or" or any(_is_placed(a) for a in n.args)


def _is_placed(a: Bits) -> bool:
    return a.op in ("shl", "shr", "zext") or (a.op == "and" and a.args[1].op == "const")


def _atom(n: Bits) -> _Form:
    return _Form(0, {n: tuple(1 << i for i in range(n.width))})


def _form(n: Bits, spelled: Bits, forms: Mapping[Bits, _Form]) -> _Form:
    if n.op == "const":
        assert isinstance(n.attr, int)
        return _Form(n.attr, {})
    xs = [forms[a] for a in n.args]
    if sum(len(c) for x in xs for c in x.terms.values()) > _MOST_COLUMNS:
        return _atom(spelled)
    found = _boxed(spelled) if n.op == "lookup" else _linear(n, xs, forms)
    return _atom(spelled) if found is None else found


def _boxed(n: Bits) -> _Form | None:
    """A lookup as a linear map of a named S-box."""
    table = n.attr
    assert isinstance(table, Table)
    if len(table.entries) != BYTE_VALUES:
        return None
    for box in named_boxes():
        columns = _columns(table, box)
        if columns is not None:
            return _Form(columns[0], {lookup(box, n.args[0]): columns[1]})
    return None


def _columns(table: Table, box: Table) -> tuple[int, tuple[int, ...]] | None:
    inverse = [0] * BYTE_VALUES
    for x, y in enumerate(box.entries):
        inverse[y] = x
    constant = table.entries[inverse[0]]
    columns = tuple(table.entries[inverse[1 << i]] ^ constant for i in range(8))
    image = [constant]
    for column in columns:
        image += [value ^ column for value in image]
    if any(table.entries[inverse[y]] != value for y, value in enumerate(image)):
        return None
    return constant, columns


def _linear(n: Bits, xs: list[_Form], forms: Mapping[Bits, _Form]) -> _Form | None:
    w = n.width
    mask = (1 << w) - 1
    k = n.attr if isinstance(n.attr, int) else 0
    match n.op:
        case "xor":
            return _sum(xs)
        case "not":
            return _Form(xs[0].constant ^ mask, xs[0].terms)
        case "shl":
            return _mapped(xs[0], lambda v: v << k & mask)
        case "shr":
            return _mapped(xs[0], lambda v: v >> k)
        case "rotr":
            return _mapped(xs[0], lambda v: (v >> k | v << (w - k)) & mask)
        case "slice":
            return _mapped(xs[0], lambda v: v >> k & mask)
        case "zext":
            return xs[0]
        case "sar":
            top = 1 << w - 1
            return _mapped(xs[0], lambda v: v >> k | (mask ^ mask >> k if v & top else 0))
        case "sext":
            high = 1 << n.args[0].width - 1
            return _mapped(xs[0], lambda v: v | (mask ^ 2 * high - 1 if v & high else 0))
        case "concat":
            parts, low = [], w
            for a, x in zip(n.args, xs, strict=True):
                low -= a.width
                parts.append(_mapped(x, partial(_raised, by=low)))
            return _sum(parts)
        case "and" if n.args[1].op == "const":
            return _mapped(xs[0], lambda v: v & xs[1].constant)
        case "or" | "add" if not _ones(xs[0]) & _ones(xs[1]):
            return _sum(xs)
        case "add" | "sub" | "mul":
            return _without_carry(n, forms)
    return None


def _raised(value: int, by: int) -> int:
    return value << by


def _mapped(x: _Form, function: Callable[[int], int]) -> _Form:
    return _Form(
        function(x.constant), {a: tuple(map(function, columns)) for a, columns in x.terms.items()}
    )


def _sum(xs: Iterable[_Form]) -> _Form:
    constant = 0
    terms: dict[Bits, tuple[int, ...]] = {}
    for x in xs:
        constant ^= x.constant
        for a, columns in x.terms.items():
            if a in terms:
                columns = tuple(p ^ q for p, q in zip(terms[a], columns, strict=True))
            terms[a] = columns
    return _Form(constant, {a: c for a, c in terms.items() if any(c)})


def _ones(x: _Form) -> int:
    found = x.constant
    for columns in x.terms.values():
        for column in columns:
            found |= column
    return found


def _without_carry(n: Bits, forms: Mapping[Bits, _Form]) -> _Form | None:
    """Arithmetic on masked or shifted copies of one value, where no bit of it meets another.

    Let the bits of the value h that can be 1 have, each alone, images that are the integer sum of
    their images in the operands. If the images of each operand are disjoint, an operand is their
    integer sum; if the combined images are disjoint too, n is the XOR of them.
    """
    chains = [_chain(a) for a in n.args]
    varying = [c for c in chains if c]
    if not varying:
        return None
    shared = frozenset(varying[0]).intersection(*varying)
    base = next((m for m in varying[0] if m in shared), None)
    if base is None:
        return None
    bits = [1 << i for i in range(base.width) if _ones(forms[base]) >> i & 1]
    operands = [
        [int(a.attr)] * len(bits) if a.op == "const" else [_through(a, base, b) for b in bits]  # type: ignore[arg-type]
        for a in n.args
    ]
    if any(_overlap(xs) for xs, a in zip(operands, n.args, strict=True) if a.op != "const"):
        return None
    if any(_through(a, base, 0) for a in n.args if a.op != "const"):
        return None
    x, y = operands
    match n.op:
        case "add" if all(a.op != "const" for a in n.args):
            images = [p + q for p, q in zip(x, y, strict=True)]
        case "sub" if all(a.op != "const" for a in n.args):
            images = [p - q for p, q in zip(x, y, strict=True)]
        case "mul" if any(a.op == "const" for a in n.args):
            images = [p * q for p, q in zip(x, y, strict=True)]
        case _:
            return None
    if any(not 0 <= image < 1 << n.width for image in images) or _overlap(images):
        return None
    by_bit = dict(zip(bits, images, strict=True))

    def image_of(value: int) -> int:
        return sum(image for bit, image in by_bit.items() if value & bit)

    return _mapped(forms[base], image_of)


def _chain(n: Bits) -> list[Bits]:
    """The value and what it is a masked, shifted or extended copy of; empty for a constant."""
    found = [] if n.op == "const" else [n]
    while n.op in ("shl", "shr", "zext", "slice", "rotr") or (
        n.op == "and" and n.args[1].op == "const"
    ):
        n = n.args[0]
        found.append(n)
    return found


def _through(n: Bits, base: Bits, value: int) -> int:
    """Value of `n` where `base`, of which it is a copy, has `value`."""
    path = []
    while n is not base:
        path.append(n)
        n = n.args[0]
    for step in reversed(path):
        value = apply(step.op, step.width, step.attr, step.args, [value, *_constants(step)])
    return value


def _constants(n: Bits) -> list[int]:
    return [int(a.attr) for a in n.args[1:]]  # type: ignore[arg-type]


def _overlap(values: Iterable[int]) -> bool:
    seen = 0
    for value in values:
        if seen & value:
            return True
        seen |= value
    return False


def _spelled(form: _Form, width: int) -> Bits | None:
    """The sum with each S-box as a table of its own share; None where there is nothing to gain.

    Only sums in which everything but the S-boxes is taken as it is.
    """
    parts = _parts(form, width)
    if parts is None:
        return None
    boxes, plain = parts
    total: Bits | None = None
    for a, columns in boxes.items():
        term = lookup(_share(a.attr, columns, width), a.args[0])  # type: ignore[arg-type]
        total = term if total is None else total ^ term
    assert total is not None
    for a in plain:
        total = total ^ a
    return total ^ const(form.constant, width)


def _parts(form: _Form, width: int) -> tuple[dict[Bits, tuple[int, ...]], list[Bits]] | None:
    """Columns of each S-box of a sum, and what is added as it is; None where other things are."""
    boxes = {a: c for a, c in form.terms.items() if a.op == "lookup" and a.attr in named_boxes()}
    plain = [a for a, columns in form.terms.items() if a not in boxes]
    if not boxes or any(
        a.width != width or form.terms[a] != tuple(1 << i for i in range(width)) for a in plain
    ):
        return None
    return boxes, plain


def _turned(form: _Form, width: int) -> Bits | None:
    """The sum turned once around; None unless some S-box has the same share at every byte."""
    parts = _parts(form, width)
    if parts is None or width % 8:
        return None
    boxes, plain = parts
    groups: dict[tuple[Table, tuple[int, ...]], dict[int, Bits]] = {}
    left: list[Bits] = []
    for a, columns in boxes.items():
        placed = [tuple(_rotl(c, -k % width, width) for c in columns) for k in range(0, width, 8)]
        base = min(placed)
        assert isinstance(a.attr, Table)
        group = groups.setdefault((a.attr, base), {})
        if group.setdefault(8 * placed.index(base), a) is not a:
            left.append(a)
    whole = {key: group for key, group in groups.items() if len(group) == width // 8 > 1}
    if not whole:
        return None
    left += [a for key, group in groups.items() if key not in whole for a in group.values()]
    total = const(form.constant, width)
    for a in plain:
        total = total ^ a
    for a in left:
        total = total ^ lookup(_share(a.attr, boxes[a], width), a.args[0])  # type: ignore[arg-type]
    for (box, base), group in whole.items():
        table = _share(box, base, width)
        for place in (*range(8, width, 8), 0):
            total = total.rotr(8) ^ lookup(table, group[place].args[0])
    return total


def _share(box: Table, columns: tuple[int, ...], width: int) -> Table:
    """The table of a linear map of an S-box."""
    if width == box.width and columns == tuple(1 << i for i in range(width)):
        return box
    image = [0]
    for column in columns:
        image += [value ^ column for value in image]
    entries = tuple(image[y] for y in box.entries)
    name = f"{box.name}_{_digest(columns):08x}"
    return Table(name, width, entries)


def _digest(columns: tuple[int, ...]) -> int:
    total = 0
    for column in columns:
        total = (total * 0x01000193 ^ column) & 0xFFFFFFFF
    return total


def _rotl(value: int, amount: int, width: int) -> int:
    return (value << amount | value >> (width - amount)) & ((1 << width) - 1)
