"""What there is to choose from, by kind, and the one-page card of each thing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dse.bundled import bundled_folder, bundled_names
from dse.cache import Cache
from dse.metrics import METRICS
from dse.vocabulary import Vocabulary


@dataclass(frozen=True)
class Kind:
    """One kind of thing: its names, and what is known of one, as nested plain data."""

    names: Callable[[Vocabulary], Sequence[str]]
    card: Callable[..., Mapping[str, Any]]  # of vocabulary, name and cache; workloads: effort


def _workload(
    vocabulary: Vocabulary, name: str, cache: Cache, effort: str = "default"
) -> dict[str, Any]:
    import workloads
    from dse.show.workload_card import workload_card

    return workload_card(workloads.get(name), cache, effort)


def _instruction_names(vocabulary: Vocabulary) -> list[str]:
    names = vocabulary.extension_names()
    every = {
        i for e in names for i in (*vocabulary.instructions_of(e), *vocabulary.compressed_of(e))
    }
    return sorted(every)


def _instruction(vocabulary: Vocabulary, name: str, cache: Cache) -> dict[str, Any]:
    from dse.show.instruction_card import instruction_card

    return instruction_card(name, cache.memo)


def _extension(vocabulary: Vocabulary, name: str, cache: Cache) -> dict[str, Any]:
    parameters = vocabulary.extension_parameters(name)
    return {
        "parameters": {key: list(values) for key, values in parameters.items()},
        "instructions": [*vocabulary.instructions_of(name), *vocabulary.compressed_of(name)],
    }


def _unit(vocabulary: Vocabulary, name: str, cache: Cache) -> dict[str, Any]:
    return {"circuits": list(vocabulary.circuit_names(name))}


def _core(vocabulary: Vocabulary, name: str, cache: Cache) -> dict[str, Any]:
    from dataclasses import asdict

    from isa.timing import PRESETS

    return asdict(PRESETS[name])


def _technology(vocabulary: Vocabulary, name: str, cache: Cache) -> dict[str, Any]:
    from hw.technology import technology

    found = technology(name)
    return {"description": (type(found).__doc__ or "").splitlines()[0]}


def _metric(vocabulary: Vocabulary, name: str, cache: Cache) -> dict[str, Any]:
    metric = METRICS[name]
    better = "lower" if metric.is_minimised else "higher"
    return {"unit": metric.unit, "definition": metric.definition, "better": better}


def _space(vocabulary: Vocabulary, name: str, cache: Cache) -> dict[str, Any]:
    text = (bundled_folder("spaces") / f"{name}.yaml").read_text(encoding="utf-8")
    return {"text": text.splitlines()}


def _paper_names(vocabulary: Vocabulary) -> Sequence[str]:
    from dse.compare.ledger import paper_names

    return paper_names()


def _paper(vocabulary: Vocabulary, name: str, cache: Cache) -> dict[str, Any]:
    from dse.compare.ledger import find_paper, load_ledger

    file = load_ledger(find_paper(name)).file
    return {
        "title": file.title,
        "authors": file.authors,
        "year": file.year,
        "url": file.url,
        "figures": len(file.entries),
        "algorithms": sorted({entry.algorithm for entry in file.entries}),
        "could not be read": list(file.missing),
    }


KINDS: dict[str, Kind] = {
    "workloads": Kind(lambda v: v.workload_names(), _workload),
    "extensions": Kind(lambda v: v.extension_names(), _extension),
    "instructions": Kind(_instruction_names, _instruction),
    "units": Kind(lambda v: v.table_names(), _unit),
    "cores": Kind(lambda v: v.core_presets(), _core),
    "technologies": Kind(lambda v: v.technology_names(), _technology),
    "metrics": Kind(lambda v: list(METRICS), _metric),
    "papers": Kind(_paper_names, _paper),
    "spaces": Kind(lambda v: bundled_names(), _space),
}
