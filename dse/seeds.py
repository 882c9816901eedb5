"""The designs a search starts from: the baseline, all on, and what differs from them a little."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from dse.design import Design, format_value
from dse.learn.structure import Structure
from dse.space import Space

_MOST = 24  # seeds, unless the starts alone are more
_MOST_CONTRASTS = 10


def first_designs(
    space: Space, baseline: Design, structure: Structure | None
) -> list[tuple[str, Design]]:
    """(origin, reduced design) of the seeds: contrasts for a sampler that has a structure."""
    if structure is None:
        return seed_designs(space, baseline)
    return contrast_designs(space, baseline, structure)


def contrast_designs(
    space: Space, baseline: Design, structure: Structure
) -> list[tuple[str, Design]]:
    """(origin, reduced design) of the seeds of a sampler that learns what parameters do.

    The baseline, all instructions on, that with the kernels that are fastest then, and by turns one
    of the first two with one choice of the core's, the compiler's or another parameter changed.
    """
    entries = {entry.name for entry in space.entries}
    bases = [("baseline", baseline), ("all on", baseline.replace(dict.fromkeys(entries, True)))]
    starts = [*bases, ("all on, fastest kernels", structure.fastest(bases[1][1]))]
    found: dict[str, tuple[str, Design]] = {}
    for origin, start in starts:
        reduced = space.reduce(start)
        found.setdefault(reduced.digest, (origin, reduced))
    varied = [p for p in space.free if p.name not in entries and not p.name.startswith("kernel.")]
    varied.sort(key=lambda p: not p.name.startswith(("core.", "compiler.")))
    for parameter in varied:
        for choice in parameter.choices:
            if choice == baseline[parameter.name] or len(found) == _MOST_CONTRASTS:
                continue
            for origin, base in bases:
                design = space.reduce(base.replace({parameter.name: choice}))
                if design.digest not in found:
                    words = f"{origin}, {parameter.name}={format_value(choice)}"
                    found[design.digest] = (words, design)
                    bases.reverse()
                    break
    return list(found.values())


def seed_designs(space: Space, baseline: Design) -> list[tuple[str, Design]]:
    """(origin, reduced design) of the seeds, distinct, in order of importance.

    Each choice of instructions comes with every kernel it admits, all first kernels before all
    second ones: an instruction alone is worth nothing to a kernel that does not use it.
    """
    names = [entry.name for entry in space.entries]
    none = dict.fromkeys(names, False)
    starts = [
        ("baseline", baseline),
        ("all on", baseline.replace(dict.fromkeys(names, True))),
        *((f"only {name}", baseline.replace({**none, name: True})) for name in names),
    ]
    by_start = [
        [(origin, design) for design in _with_kernels(space, start)] for origin, start in starts
    ]
    found: dict[str, tuple[str, Design]] = {}
    for rank in zip_longest(*by_start):
        for seed in rank:
            if seed is not None:
                found.setdefault(seed[1].digest, seed)
    return list(found.values())[: max(len(starts), _MOST)]


def _with_kernels(space: Space, design: Design) -> Iterator[Design]:
    """`design` as it is, then with each kernel of every workload.

    Kernels that need the most instructions come first: they are what the instructions are for.
    """
    yield space.reduce(design)
    ranked = {
        f"kernel.{use.workload}": sorted(use.kernels, key=lambda k: -len(use.requires.get(k, ())))
        for use in space.workloads
    }
    for rank in range(max(len(kernels) for kernels in ranked.values())):
        kernels = {name: ranks[min(rank, len(ranks) - 1)] for name, ranks in ranked.items()}
        yield space.reduce(design.replace(kernels))
