"""Diagram: an encoding as the manual draws it."""

from __future__ import annotations

from isa.encoding import REGISTERS, Encoding


def fields(encoding: Encoding) -> list[tuple[int, int, str]]:
    """(high, low, text) of each field, from bit 31 down; fixed bits are written in binary."""
    found: list[tuple[int, int, str]] = []
    for name in encoding.registers:
        found.append((REGISTERS[name] + 4, REGISTERS[name], name))
    for immediate in encoding.immediates:
        for word_low, low, length in immediate.pieces:
            high = low + length - 1
            if length == immediate.width:
                part = ""
            else:
                part = f"[{low}]" if length == 1 else f"[{high}:{low}]"
            found.append((word_low + length - 1, word_low, immediate.name + part))
    taken = {bit for high, low, _ in found for bit in range(low, high + 1)}
    splits = {31, 24, 19, 14, 11, 6}  # where fields of the manual's formats begin
    bit = 31
    while bit >= 0:
        if bit in taken:
            bit -= 1
            continue
        low = bit
        while low and low - 1 not in taken and low - 1 not in splits:
            low -= 1
        text = "".join(
            str(encoding.match >> i & 1) if encoding.mask >> i & 1 else "-"
            for i in range(bit, low - 1, -1)
        )
        found.append((bit, low, text))
        bit = low - 1
    return sorted(found, reverse=True)


def diagram(encoding: Encoding) -> list[str]:
    """Three lines: bit numbers, field contents, and a rule below."""
    numbers, contents = "", ""
    for high, low, text in fields(encoding):
        place = f"{high}" if high == low else f"{high} {low}"
        width = max(len(text), len(place)) + 2
        if high != low:
            place = f"{high}{' ' * (width - 2 - len(str(high)) - len(str(low)))}{low}"
        numbers += f"  {place:<{width - 2}} "
        contents += f"|{text:^{width}}"
    contents += "|"
    rule = "".join("+" if c == "|" else "-" for c in contents)
    return [numbers.rstrip(), rule, contents, rule]
