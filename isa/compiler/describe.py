"""Describe: words and offsets as short expressions for the comment column."""

from __future__ import annotations

from collections.abc import Mapping

from isa.compiler.words import Word
from isa.kernel import Index
from isa.table import Table


def describe(word: Word, texts: Mapping[str, str], depth: int = 3) -> str:
    """A short expression for the comment column."""
    if word.op == "leaf":
        return texts.get(str(word.attr), str(word.attr))
    if word.op in ("const", "symbol"):
        return str(word.attr) if word.op == "symbol" else f"{word.value:#x}"
    if not depth:
        return ".."
    xs = [describe(a, texts, depth - 1) for a in word.args]
    signs = {"xor": " ^ ", "and": " & ", "or": " | ", "add": " + ", "sub": " - "}
    if word.op in signs:
        return signs[word.op].join(xs if len(xs) < 5 else [*xs[:4], ".."])
    if isinstance(word.attr, Table):
        return f"{word.attr.name}[{xs[0]}]"
    if word.op == "move":
        low, length, position = word.field
        field = f"{xs[0]}[{low + length - 1}:{low}]"
        return f"{field} << {position}" if position else field
    if word.op == "mask":
        return f"{xs[0]} & {word.attr:#x}"
    if word.attr is not None:
        xs.append(str(word.attr))
    return f"{word.op}({', '.join(xs)})"


def shown(offset: Index) -> str:
    """An affine offset."""
    terms = [f"{c} {name}" for name, c in offset.terms]
    if offset.constant or not terms:
        terms.append(str(offset.constant))
    return " + ".join(terms)
