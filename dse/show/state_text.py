"""State text: what an extension adds to a context, and what saving it takes, in sentences."""

from __future__ import annotations

import itertools
from functools import cache

from isa.context import Context, context_of
from isa.instruction_set import InstructionSet, extension_parameters, load_extension

__all__ = ["state_text"]


@cache
def state_text(name: str) -> tuple[str, ...]:
    """Sentences on the state of an extension; none where it has none.

    Of its first parameters, and of the first others that lose less in a switch of contexts.
    """
    parameters = extension_parameters(name)
    choices = [
        dict(zip(parameters, values, strict=True))
        for values in itertools.product(*parameters.values())
    ]
    first = _context(name, choices[0])
    if not first.bits:
        return ()
    state = ", ".join(f"`{n}` {width:,}" for n, width in first.instructions.state)
    lines = [f"State: {first.bits:,} bits ({state}).", *map(_capital, _costs(first))]
    if first.lost:
        better = (c for c in choices if _context(name, c).lost_bits < first.lost_bits)
        for choice in itertools.islice(better, 1):
            changed = [f"`{k}` = {v}" for k, v in choice.items() if v != choices[0][k]]
            costs = _costs(_context(name, choice))
            lines += [f"With {' and '.join(changed)}: {text}" for text in costs]
    return tuple(lines)


def _context(name: str, choice: dict[str, int]) -> Context:
    extension = load_extension(name, **choice)
    xlen = extension.xlens[0]
    base = f"rv{xlen}i"
    if name == base:
        return context_of(InstructionSet.of(xlen, base))
    return context_of(InstructionSet.of(xlen, base, *extension.requires, extension))


def _costs(context: Context) -> list[str]:
    found = []
    if context.save:
        found.append(
            f"a switch of contexts takes {_length(context.save)} instructions to save and "
            f"{_length(context.restore)} to put back."
        )
    if context.lost:
        names = ", ".join(f"`{name}`" for name in context.lost)
        found.append(
            "lost in a switch of contexts, for want of instructions that read and write them: "
            f"{names}; loading anew what can be loaded takes {_length(context.reload)} "
            "instructions."
        )
    return found


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _length(body: str) -> int:
    return len(body.splitlines())
