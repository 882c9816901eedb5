"""The operators of the `Bits` language: arity, width rule and meaning on plain integers.

There is one width rule: operands of equal width in, the same width out. Only `zext`, `sext`,
`concat`, `mul_wide` and `clmul` grow a value, only `slice` shrinks one, and comparisons give one
bit. Nothing is extended or truncated silently.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from isa.table import Table

Attribute = int | str | Table | None


class WidthError(TypeError):
    """Operand widths do not fit the operator."""


@dataclass(frozen=True)
class Operator:
    """One operator.

    Attributes:
        name: As it appears in the textual form.
        arity: Number of operands; None for `concat`, which takes one or more.
        width: Result width in bits from the operand widths and the attribute; raises `WidthError`.
            None where the width is stated by the node itself (arg, const, slice, zext, sext).
        python: Template of a Python expression on non-negative ints. `{0}`, `{1}`.. are operands,
            `{k}` the attribute, `{w}` the result width, `{m}` its mask, `{w0}` and `{m0}` width and
            mask of the first operand, `{h0}` its sign bit, `{r}` = w - k.
        commutative: Operands may be swapped.
    """

    name: str
    arity: int | None
    width: Callable[[tuple[int, ...], Attribute], int] | None
    python: str
    commutative: bool = False


def _same(widths: tuple[int, ...], _: Attribute) -> int:
    if len(set(widths)) != 1:
        raise WidthError(
            f"operands must be of equal width, not {list(widths)} bits; extend or slice one"
        )
    return widths[0]


def _double(widths: tuple[int, ...], attr: Attribute) -> int:
    return 2 * _same(widths, attr)


def _compare(widths: tuple[int, ...], attr: Attribute) -> int:
    _same(widths, attr)
    return 1


def _static_shift(widths: tuple[int, ...], amount: Attribute) -> int:
    if not isinstance(amount, int) or not 0 <= amount < widths[0]:
        raise WidthError(f"shift amount must be 0 to {widths[0] - 1}, not {amount!r}")
    return widths[0]


def _variable_shift(widths: tuple[int, ...], _: Attribute) -> int:
    width, amount = widths
    if width & (width - 1) or 1 << amount != width:
        raise WidthError(
            f"amount of a variable shift of {width} bits must be log2({width}) bits wide, "
            f"not {amount}; slice it"
        )
    return width


def _concat(widths: tuple[int, ...], _: Attribute) -> int:
    return sum(widths)


def _mux(widths: tuple[int, ...], _: Attribute) -> int:
    condition, a, b = widths
    if condition != 1:
        raise WidthError(f"condition of a mux must be 1 bit wide, not {condition}")
    return _same((a, b), None)


def _lookup(widths: tuple[int, ...], table: Attribute) -> int:
    if not isinstance(table, Table):
        raise WidthError(f"lookup needs a Table, not {table!r}")
    if widths[0] != table.index_width:
        raise WidthError(
            f"index into {table.name} must be {table.index_width} bits wide, not {widths[0]}"
        )
    return table.width


def carryless(a: int, b: int) -> int:
    """Product of two polynomials over GF(2), bit i being the coefficient of x^i."""
    product = 0
    while b:
        low = b & -b
        product ^= a * low
        b ^= low
    return product


OPS: dict[str, Operator] = {
    op.name: op
    for op in (
        Operator("arg", 0, None, "{k}"),
        Operator("const", 0, None, "{k}"),
        Operator("and", 2, _same, "{0} & {1}", commutative=True),
        Operator("or", 2, _same, "{0} | {1}", commutative=True),
        Operator("xor", 2, _same, "{0} ^ {1}", commutative=True),
        Operator("not", 1, _same, "{0} ^ {m}"),
        Operator("add", 2, _same, "({0} + {1}) & {m}", commutative=True),
        Operator("sub", 2, _same, "({0} - {1}) & {m}"),
        Operator("mul", 2, _same, "({0} * {1}) & {m}", commutative=True),
        Operator("mul_wide", 2, _double, "{0} * {1}", commutative=True),
        Operator("clmul", 2, _double, "carryless({0}, {1})", commutative=True),
        Operator("shl", 1, _static_shift, "({0} << {k}) & {m}"),
        Operator("shr", 1, _static_shift, "{0} >> {k}"),
        Operator("sar", 1, _static_shift, "((({0} ^ {h0}) - {h0}) >> {k}) & {m}"),
        Operator("rotr", 1, _static_shift, "({0} >> {k} | {0} << {r}) & {m}"),
        Operator("shl_var", 2, _variable_shift, "({0} << {1}) & {m}"),
        Operator("shr_var", 2, _variable_shift, "{0} >> {1}"),
        Operator("sar_var", 2, _variable_shift, "((({0} ^ {h0}) - {h0}) >> {1}) & {m}"),
        Operator("rotr_var", 2, _variable_shift, "({0} >> {1} | {0} << ({w} - {1})) & {m}"),
        Operator("concat", None, _concat, ""),
        Operator("slice", 1, None, "{0} >> {k} & {m}"),
        Operator("zext", 1, None, "{0}"),
        Operator("sext", 1, None, "(({0} ^ {h0}) - {h0}) & {m}"),
        Operator("eq", 2, _compare, "int({0} == {1})", commutative=True),
        Operator("ult", 2, _compare, "int({0} < {1})"),
        Operator("slt", 2, _compare, "int({0} ^ {h0} < {1} ^ {h0})"),
        Operator("mux", 3, _mux, "{1} if {0} else {2}"),
        Operator("lookup", 1, _lookup, "{k}[{0}]"),
    )
}
