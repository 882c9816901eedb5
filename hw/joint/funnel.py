"""Funnel: shifts, rotations and what is done at one bit or field, around one right shift.

Two words side by side are shifted right by less than a word and the lower one is taken. A left
shift by n is a right shift of the pair, moved down one bit, by the complement of n. The bit or the
field that an instruction changes lies between two thermometers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce

from hw.joint import Joint, Wanted, register
from hw.merge import any_of, merge
from hw.thermometer import thermometer
from isa.bits import Bits, arg, concat, const, mux

_LEFT = ("sll", "rol", "fsl", "bfp")
_RIGHT = ("srl", "sra", "ror", "fsr", "bext")
_MASKED = ("bset", "bclr", "binv", "bfp")
_IMMEDIATE = {
    "slli": "sll", "srli": "srl", "srai": "sra", "rori": "ror", "fsri": "fsr",
    "bseti": "bset", "bclri": "bclr", "binvi": "binv", "bexti": "bext",
}  # fmt: skip
"""Instructions whose amount is an immediate, and the same with a register."""
_ALL = tuple(dict.fromkeys((*_LEFT, *_RIGHT, *_MASKED, *_IMMEDIATE)))


def _selected(choices: Iterable[tuple[Bits, Bits]], width: int) -> Bits:
    """Return the value whose select is 1, and 0 where none is: an AND-OR."""
    gated = [value & select.sext(width) for value, select in choices]
    return reduce(lambda a, b: a | b, gated, const(0, width))


def _shifted(words: Bits, amount: Bits, width: int) -> Bits:
    """Return the low `width` bits of `words` >> amount, the largest step first."""
    for k in reversed(range(amount.width)):
        step = 1 << k
        kept = width + step - 1
        words = mux(amount.bit(k), words.slice(step, kept), words.slice(0, kept))
    return words


class _Kinds:
    """What is wanted, an instruction with an immediate being the one with a register."""

    def __init__(self, wanted: Mapping[str, Wanted], width: int) -> None:
        self.levels = width.bit_length() - 1
        self.wanted = wanted
        self.selects: dict[str, list[Bits]] = {}
        for name, w in wanted.items():
            self.selects.setdefault(_IMMEDIATE.get(name, name), []).append(w.select)

    def __contains__(self, kind: str) -> bool:
        return kind in self.selects

    def chosen(self, *kinds: str) -> Bits:
        """Return 1 where one of the kinds is wanted."""
        return any_of(s for kind in kinds for s in self.selects.get(kind, ()))

    def amount(self, rs2: Bits) -> Bits:
        """Return by how much to shift, a bit more than the logarithm of the width."""
        by_immediate: dict[Bits, list[Bits]] = {}
        for w in self.wanted.values():
            if w.immediate is not None:
                by_immediate.setdefault(w.immediate, []).append(w.select)
        choices = [(i.zext(self.levels + 1), any_of(those)) for i, those in by_immediate.items()]
        stated = any_of(select for _, select in choices)
        return merge([*choices, (rs2.slice(0, self.levels + 1), ~stated)], self.levels + 1)


def _funnel(wanted: Mapping[str, Wanted], width: int) -> Bits:
    kinds = _Kinds(wanted, width)
    chosen, levels = kinds.chosen, kinds.levels
    rs1, rs2, rs3 = (arg(name, width) for name in ("rs1", "rs2", "rs3"))
    amount = kinds.amount(rs2)
    place, far = amount.slice(0, levels), amount.bit(levels)
    crossed, straight = chosen("fsl", "fsr") & far, chosen("fsl", "fsr") & ~far
    twice, left = chosen("rol", "ror"), chosen(*_LEFT)
    high = [
        (rs1, chosen("sll") | twice | straight & left | crossed & chosen("fsr")),
        (rs1.bit(width - 1).sext(width), chosen("sra")),
    ]
    low = [(rs1, chosen("srl", "sra", "bext") | twice | straight & chosen("fsr") | crossed & left)]
    if "fsl" in kinds or "fsr" in kinds:
        high.append((rs3, crossed & chosen("fsl") | straight & chosen("fsr")))
        low.append((rs3, straight & chosen("fsl") | crossed & chosen("fsr")))
    if "bfp" in kinds:
        high.append((rs2, chosen("bfp")))
        stated = _field(rs2, width).slice(0, levels)
        place = merge([(place, ~chosen("bfp")), (stated, chosen("bfp"))], levels)
    pair = concat(_selected(high, width), _selected(low, width))
    pair = mux(left, pair.slice(1, 2 * width - 1), pair.slice(0, 2 * width - 1))
    result = _shifted(pair, place ^ left.sext(levels), width)
    if "bext" in kinds:
        rest = result.slice(1, width - 1) & (~chosen("bext")).sext(width - 1)
        result = concat(rest, result.bit(0))
    if not any(kind in kinds for kind in _MASKED):
        return result
    mask = _mask(kinds, rs2, place, width)
    inside = [(~rs1, chosen("binv")), (const(-1, width), chosen("bset")), (result, chosen("bfp"))]
    changed = _selected(inside, width) & mask | rs1 & ~mask
    return merge([(result, ~chosen(*_MASKED)), (changed, chosen(*_MASKED))], width)


def _field(rs2: Bits, width: int) -> Bits:
    """Return the control word of `bfp`: see its meaning."""
    control = rs2.slice(width // 2, width // 2)
    if width == 64:
        high = control.slice(16, 16).zext(32)
        control = mux(control.slice(30, 2).eq(2), high, control)
    return control


def _mask(kinds: _Kinds, rs2: Bits, place: Bits, width: int) -> Bits:
    """Return 1 in the bits that are changed."""
    levels = kinds.levels
    length = const(1, levels + 1)
    if "bfp" in kinds:
        stated = _field(rs2, width).slice(8, levels - 1)
        long = concat(const(0, 1), stated.eq(0), stated)
        length = merge([(long, kinds.chosen("bfp")), (length, ~kinds.chosen("bfp"))], levels + 1)
    end = place.zext(levels + 1) + length
    return thermometer(place, width) & ~thermometer(end, width)


FUNNEL = register(
    Joint(
        "funnel",
        "shifter",
        _ALL,
        _funnel,
        "the shifter of many cores; the reference unit of the Bitmanip draft has one too",
    )
)
