"""Pipeline: from a request to proposals: survey, prove, measure, choose."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product

from dse.propose.candidate import Candidate, Pool
from dse.propose.companion import companions, elsewhere
from dse.propose.encoded import encoded
from dse.propose.proof import ProofError, prove
from dse.propose.proposal import Proposal, Saving, make_instructions
from dse.propose.request import Request, RequestError
from dse.propose.score import Score, Scorer
from dse.propose.selection import Selection, select
from dse.propose.slot import NoRoom, encodings_in_use
from dse.propose.subject import Subject
from dse.propose.survey import Ranked, Survey, survey
from hw.technology import Technology
from isa.encoding import Encoding
from isa.instruction import Instruction

SHORTLIST = 24
"""Ideas measured at least."""
PER_PROPOSAL = 4
"""Ideas measured at least for each proposal asked for."""
CONSIDERED = 3
"""Times as many ideas are priced before the shortlist is made, where area is limited."""
APART = 4
"""One in so many of the ideas measured is chosen for operations that no other covers."""
ALIKE = 4
"""Ideas measured that end in the same operation of a kernel, while there are others."""

Note = Callable[[str], None]
Shortlist = list[tuple["Ranked", "Candidate"]]
Track = Callable[[Shortlist], Iterable[tuple["Ranked", "Candidate"]]]


@dataclass(frozen=True)
class Reference:
    """What the instructions of a known extension that were found again do together.

    Attributes:
        extension: Its name.
        names: The instructions found.
        cycles: Weighted cycles with them.
        area_ge: Their area as one extension block, mapped.
    """

    extension: str
    names: tuple[str, ...]
    cycles: float
    area_ge: float


@dataclass(frozen=True)
class Report:
    """The answer to a request.

    Attributes:
        request: What was asked.
        survey: What enumeration found.
        base: The base set on every workload.
        selection: The chosen set, as positions among what was measured, and what it does.
        proposals: Chosen first, the one that would be missed most first; then the best others.
        least_area_ge: Area below which no merging of operators gets the set.
        references: Known instructions found again, for comparison.
        third_port_ge: Area of a third read port of the register file, where a proposal needs it.
        measured: Ideas measured; `runs` programs compiled and run for that.
        seconds: Wall time of the whole.
    """

    request: Request
    survey: Survey
    base: Score
    selection: Selection
    proposals: tuple[Proposal, ...]
    least_area_ge: float
    references: tuple[Reference, ...]
    third_port_ge: float
    measured: int
    runs: int
    seconds: float


def propose(
    request: Request, note: Note = lambda _: None, track: Track = lambda items: items
) -> Report:
    """Answer a request.

    Args:
        request: What is asked.
        note: Told what is being done.
        track: Shows progress through the ideas that are measured.

    Raises:
        RequestError: Nothing that is asked for can be had.
    """
    start = time.perf_counter()
    found = survey(request)
    note(
        f"{found.operations} operations, {found.subgraphs} subgraphs, "
        f"{len(found.groups)} meanings, {len(found.ranked)} ideas"
    )
    technology = Technology("ge", fo4_ps=request.fo4_ps)
    scorer = Scorer(found.subjects, request.instructions, request.host, technology)
    base = scorer.base_score()
    shortlist = _shortlist(request, found, scorer)
    if not shortlist:
        limit = "" if request.area_ge is None else f" within {request.area_ge:g} GE"
        raise RequestError(
            f"{request.title}: no instruction of {request.inputs} inputs saves anything{limit}; "
            "allow more inputs or area"
        )
    candidates = []
    for entry, candidate in track(shortlist):
        score = scorer.score(candidate.instructions, entry.kernels, base)
        kernels = scorer.worthwhile(candidate.instructions, entry.kernels)
        candidates.append(replace(candidate, alone=score, kernels=kernels))
    is_limited = request.area_ge is not None  # else a set need not choose between them
    starts = _extensions([entry for entry, _ in shortlist]) if is_limited else []
    note("choosing a set")
    in_use = encodings_in_use()
    pool = Pool(
        candidates, scorer, base, request.top, request.area_ge, lambda them: encoded(them, in_use)
    )
    selection = select(pool, starts)
    proposals = _proposals(request, [r for r, _ in shortlist], candidates, selection, scorer, base)
    return Report(
        request,
        found,
        base,
        selection,
        proposals,
        scorer.least_area([i for p in proposals if p.is_chosen for i in p.instructions]),
        _references(found, scorer, base),
        scorer.third_port_ge()
        if any(len(i.sources) > 2 for p in proposals for i in p.instructions)
        else 0.0,
        len(shortlist),
        scorer.runs,
        time.perf_counter() - start,
    )


def _shortlist(request: Request, found: Survey, scorer: Scorer) -> Shortlist:
    """The best ideas that can be encoded and proven and fit the area, as instructions."""
    source = f"dse propose {request.title.replace(',', '')} --base {request.base}"
    source += f" --inputs {request.inputs}"
    if request.outputs > 1:
        source += f" --outputs {request.outputs}"
    taken: list[Encoding] = encodings_in_use()
    names: set[str] = set()
    chosen: Shortlist = []
    wanted = max(SHORTLIST, PER_PROPOSAL * request.top)
    apart = wanted // APART
    considered = (wanted - apart) * (1 if request.area_ge is None else CONSIDERED)

    def add(entry: Ranked) -> bool:
        try:
            proof = prove(entry.idea)
            made, slots = make_instructions(entry.idea, entry.nearest, taken, names, source)
        except (NoRoom, ProofError):
            return False
        cost = scorer.cost(made)
        if request.area_ge is not None and cost.area_ge > request.area_ge:
            return False
        taken.extend(slot.encoding for slot in slots)
        names.update(instruction.name for instruction in made)
        chosen.append((entry, Candidate(entry.idea, made, slots, entry.kernels, proof, cost)))
        return True

    for entry in _varied(found.ranked):
        if len(chosen) == considered:
            break
        add(entry)
    chosen = _worthy(chosen, wanted - apart)
    for _ in range(apart):
        if not any(map(add, elsewhere([entry for entry, _ in chosen], found))):
            break
    for ideas in companions([entry for entry, _ in chosen], found):
        next(filter(add, ideas), None)
    return chosen


def _worthy(chosen: Shortlist, wanted: int) -> Shortlist:
    """As many as wanted: known instructions, then the best by what they might save and by GE.

    Known ones come first, for a choice must not be worse than the extension they are from.
    """
    known = [item for item in chosen if _whole(item[0]) is not None]
    by_area = sorted(chosen, key=lambda item: -item[0].bound / max(item[1].cost.area_ge, 1.0))
    pairs = zip(chosen, by_area, strict=True)
    in_turn = dict.fromkeys([*known, *(item for pair in pairs for item in pair)])
    kept = set(list(in_turn)[:wanted])
    return [item for item in chosen if item in kept]


def _varied(ranked: Sequence[Ranked]) -> list[Ranked]:
    """Ideas that might save something, those beyond `ALIKE` of one kind after all others."""
    kinds: dict[tuple[int, int], int] = {}
    first: list[Ranked] = []
    later: list[Ranked] = []
    for entry in ranked:
        if entry.idea.bound > 0:
            place = entry.idea.occurrences[0]
            kind = (id(place.graph), place.subgraph.outputs)
            kinds[kind] = kinds.get(kind, 0) + 1
            (first if kinds[kind] <= ALIKE else later).append(entry)
    return first + later


def _extensions(shortlist: Sequence[Ranked]) -> list[list[int]]:
    """Positions of the ideas that equal instructions of one known extension, for each."""
    found: dict[str, list[int]] = {}
    for i, entry in enumerate(shortlist):
        if entry.nearest.relation == "equals":
            found.setdefault(entry.nearest.extension, []).append(i)
    return [positions for _, positions in sorted(found.items()) if len(positions) > 1]


def _whole(entry: Ranked) -> Instruction | None:
    """The known instruction that an idea equals, whatever the immediates; None if none."""
    known = entry.nearest.instruction
    if known is None or entry.nearest.relation != "equals":
        return None
    return known if bool(known.immediates) == bool(entry.idea.immediates) else None


def _references(found: Survey, scorer: Scorer, base: Score) -> tuple[Reference, ...]:
    """The known instructions found again, by extension, on the same terms."""
    by_extension: dict[str, dict[str, tuple[Instruction, Ranked]]] = {}
    for entry in found.ranked:
        known = _whole(entry)
        if known is not None:
            by_extension.setdefault(known.extension, {}).setdefault(known.name, (known, entry))
    references = []
    for extension, rows in sorted(by_extension.items()):
        kernels: dict[str, tuple[str, ...]] = {}
        for _, entry in rows.values():
            for workload, used in entry.kernels.items():
                kernels[workload] = tuple(dict.fromkeys((*kernels.get(workload, ()), *used)))
        instructions = [known for known, _ in rows.values()]
        score = scorer.score(instructions, kernels, base)
        area = scorer.cost(instructions, "mapped").area_ge
        references.append(Reference(extension, tuple(sorted(rows)), score.cycles, area))
    return tuple(references)


def _proposals(
    request: Request,
    ranked: Sequence[Ranked],
    candidates: Sequence[Candidate],
    selection: Selection,
    scorer: Scorer,
    base: Score,
) -> tuple[Proposal, ...]:
    """The chosen candidates in order, then those that save most alone."""
    made = []
    order = list(selection.order)
    in_use = encodings_in_use()
    others = [i for i in range(len(candidates)) if i not in order]
    others.sort(key=lambda i: (candidates[i].cycles - base.cycles, candidates[i].cost.area_ge, i))
    order += [i for i in others if candidates[i].cycles < base.cycles]
    order = order[: request.top]
    chosen = encoded([candidates[i] for i in selection.order], in_use)
    in_use += [slot.encoding for candidate in chosen for slot in candidate.slots]
    delivered = [*chosen, *encoded([candidates[i] for i in order[len(chosen) :]], in_use)]
    for position, (i, candidate) in enumerate(zip(order, delivered, strict=True)):
        is_chosen = position < len(selection.order)
        made.append(
            Proposal(
                candidate.idea,
                candidate.instructions,
                candidate.slots,
                ranked[i].nearest,
                candidate.proof,
                scorer.cost(candidate.instructions, "mapped"),
                max(map(scorer.latency, candidate.instructions)),
                base.cycles - candidate.cycles,
                tuple(_savings(candidate, base)),
                is_chosen,
                selection.after[position] if is_chosen else None,
                selection.lost_without[position] if is_chosen else None,
                _views(candidate, [selection.score] if is_chosen else [], scorer.subjects),
            )
        )
    return tuple(made)


def _views(
    candidate: Candidate, sets: Sequence[Score], subjects: Sequence[Subject]
) -> tuple[str, ...]:
    """Views of the kernels, not as written, whose best programs execute a candidate."""
    assert candidate.alone is not None
    names = {instruction.name for instruction in candidate.instructions}
    found = set()
    for score, subject in product([candidate.alone, *sets], subjects):
        best = score.best[subject.workload.name]
        if best.kernel not in subject.written and names & best.used.keys():
            found.add(best.kernel.rpartition("-")[2])
    return tuple(sorted(found))


def _savings(candidate: Candidate, base: Score) -> Iterable[Saving]:
    assert candidate.alone is not None
    for workload, before in base.best.items():
        after = candidate.alone.best[workload]
        yield Saving(
            workload,
            after.kernel,
            after.cycles,
            before.cycles - after.cycles,
            after.code_bytes - before.code_bytes,
            after.data_bytes - before.data_bytes,
        )
