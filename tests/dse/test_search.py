"""The search loop against the synthetic evaluator, whose whole space can be enumerated."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from dse.cache import FILE_NAME
from dse.design import Design, format_value
from dse.evaluation import Evaluation
from dse.evaluator import Evaluator
from dse.exact import enumerate_within, exhaustive_search
from dse.learn.encoding import Encoding
from dse.learn.segment import Segment
from dse.learn.structure import Structure
from dse.pareto import Loss, front_indices
from dse.proposer import Proposer
from dse.random_search import random_search
from dse.reductions import Reductions
from dse.sampler import SAMPLERS, missing_library
from dse.search import BATCH, Found, Progress, sampled_search
from dse.seeds import contrast_designs, seed_designs
from dse.space import Space

Make = Callable[..., Evaluator]
Parse = Callable[[str], Space]


class Trials:
    """A log in memory."""

    def __init__(self) -> None:
        self.trials: list[tuple[int, str, str, str]] = []
        self.repeats = 0
        self.syncs = 0

    def trial(self, number: int, origin: str, asked: Design, evaluation: Evaluation) -> None:
        self.trials.append((number, origin, asked.digest, evaluation.canonical.digest))

    def repeat(self, asked: Design, evaluation: Evaluation) -> None:
        self.repeats += 1

    def sync(self) -> None:
        self.syncs += 1


def ignore(progress: Progress) -> None:
    pass


def search(
    evaluator: Evaluator, trials: int, *, sampler: str = "auto", seed: int = 1, size: int = BATCH
) -> tuple[Found, Trials]:
    baseline = evaluator.set_baseline()
    seeds = seed_designs(evaluator.space, baseline.canonical)
    proposer = Proposer(evaluator.space, sampler, seed, seeds, evaluator.reductions)
    log = Trials()
    return sampled_search(evaluator, proposer, trials, log, ignore, size), log


def exact_front(evaluator: Evaluator) -> list[Loss]:
    evaluator.set_baseline()
    evaluations = evaluator.evaluate(list(evaluator.space.designs()))
    losses = [evaluator.losses(e) for e in evaluations if e.feasible]
    points = [loss for loss in losses if loss is not None]
    return sorted(points[i] for i in front_indices(points))


@pytest.mark.parametrize("sampler", [s for s in SAMPLERS if not missing_library(s)])
def test_sampler_repeats_no_design_and_fills_its_budget(
    aes: Space, evaluator_of: Make, sampler: str
) -> None:
    found, log = search(evaluator_of(aes), 60, sampler=sampler)
    canonical = [digest for _, _, _, digest in log.trials]
    assert len(canonical) == len(set(canonical)) == len(found.counted) == 60
    assert [number for number, _, _, _ in log.trials] == list(range(60))
    asked = [digest for _, _, digest, _ in log.trials]
    assert len(asked) == len(set(asked))
    assert found.losses() == sorted(found.archive.points)


def test_same_seed_same_trials_for_any_jobs_and_cache(
    aes: Space, evaluator_of: Make, tmp_path: Path
) -> None:
    _, cold = search(evaluator_of(aes), 60, size=2)  # of which 44 with two batches under way
    _, warm = search(evaluator_of(aes), 60, size=2)
    _, alone = search(evaluator_of(aes, cache=None), 60, size=2)
    _, parallel = search(evaluator_of(aes, cache=tmp_path / "other", jobs=2), 60, size=2)
    assert cold.trials == warm.trials == alone.trials == parallel.trials
    by_chance = [search(evaluator_of(aes), 40, sampler="nsga2", seed=n)[1] for n in (1, 2)]
    assert by_chance[0].trials != by_chance[1].trials


def test_what_is_under_way_is_not_asked_for_again(aes: Space, evaluator_of: Make) -> None:
    evaluator = evaluator_of(aes)
    baseline = evaluator.set_baseline()
    for sampler in ("auto", "tpe", "random"):
        proposer = Proposer(aes, sampler, 1, [("baseline", baseline.canonical)], Reductions(aes))
        asked = [p.design.digest for batch in range(12) for p in proposer.ask(batch, 8)]
        assert len(set(asked)) == len(asked) == 96


def test_warm_cache_computes_nothing(aes: Space, evaluator_of: Make) -> None:
    search(evaluator_of(aes), 30)
    again = evaluator_of(aes)
    search(again, 30)
    assert again.computed == 0
    assert again.hits >= 30


def test_seeds_are_the_baseline_all_on_and_singletons_first(aes: Space, evaluator_of: Make) -> None:
    evaluator = evaluator_of(aes)
    baseline = evaluator.set_baseline()
    seeds = seed_designs(aes, baseline.canonical)
    origins = [origin for origin, _ in seeds]
    assert origins[:6] == ["baseline", "all on", "only zbkb", "only zbkx", "only zkne", "only nluv"]
    digests = [design.digest for _, design in seeds]
    assert len(digests) == len(set(digests)) <= 24
    assert ("only zkne", "zkne") in [(o, d["kernel.aes128-encrypt"]) for o, d in seeds]
    assert all(aes.reduce(design) == design for _, design in seeds)


def test_contrasts_change_one_choice_at_a_time(aes: Space, evaluator_of: Make) -> None:
    baseline = evaluator_of(aes).set_baseline().canonical
    structure = Structure(Encoding(aes))
    seeds = contrast_designs(aes, baseline, structure)
    entries = {entry.name: True for entry in aes.entries}
    bases = {"baseline": baseline, "all on": aes.reduce(baseline.replace(entries))}
    assert dict(seeds[:2]) == bases
    for origin, design in seeds[2:]:
        base, change = origin.split(", ")
        name, value = change.split("=")
        assert {n for n in design if design[n] != bases[base][n]} == {name}
        assert format_value(design[name]) == value
    shown = {origin.split(", ")[1] for origin, _ in seeds[2:]}
    assert shown >= {"core.pipeline=2", "core.pipeline=3", "core.forwarding=false"}
    assert len({design.digest for _, design in seeds}) == len(seeds)

    for kernel, cycles in (("bitsliced", 9000), ("zkne", 200), ("table", 900)):
        design = baseline.replace({**entries, "kernel.aes128-encrypt": kernel})
        segment = Segment("aes128-encrypt", kernel, cycles, 4, ())
        structure.learn(structure.encoding.row(design), [segment])
    origin, fastest = contrast_designs(aes, baseline, structure)[2]
    assert origin == "all on, fastest kernels"
    assert fastest["kernel.aes128-encrypt"] == "zkne"


def test_small_space_is_searched_to_its_end(parse: Parse, evaluator_of: Make) -> None:
    space = parse("instructions: {choose: [zkne]}\ncore: {pipeline: [5, 2]}")
    found, log = search(evaluator_of(space), 500)
    assert len(list(space.designs())) == 2 * (2 + 3)
    assert len(found.counted) == 2 * 3  # zkne is used by its kernel alone
    assert found.losses() == exact_front(evaluator_of(space))
    assert len(log.trials) == 2 * 3


def test_designs_that_come_down_to_one_are_counted_once(parse: Parse, evaluator_of: Make) -> None:
    # no S-box in use: both circuits are one canonical design
    space = parse("units: {aes_sbox: [table, composite]}\ncore: {pipeline: [5, 3]}")
    found, log = search(evaluator_of(space), 100)
    assert len(list(space.designs())) == 2 * 2 * 2
    assert len(found.counted) == 2 * 2
    assert len(log.trials) == 2 * 2
    assert 0 < log.repeats <= 2 * 2


def test_search_ends_on_a_plateau(parse: Parse, evaluator_of: Make) -> None:
    text = "instructions: {choose: [zkne, zbkb, zbkx]}\ncompiler: {unroll: [1, 2, full]}"
    evaluator = evaluator_of(parse(text + "\ncore: {pipeline: [5, 3, 2]}"))
    whole, _ = search(evaluator, 100)
    seeds = seed_designs(evaluator.space, evaluator.set_baseline().canonical)
    proposer = Proposer(evaluator.space, "auto", 1, seeds, evaluator.reductions)
    short = sampled_search(evaluator, proposer, 100, None, ignore, plateau=6)
    assert short.is_flat
    assert 6 < len(short.counted) < len(whole.counted)
    count, volume = short.history[-1]
    earlier = [v for n, v in short.history if n <= count - 6]
    assert volume <= 1.001 * earlier[-1]


def test_exhaustive_search_is_the_front_by_definition(aes: Space, evaluator_of: Make) -> None:
    evaluator = evaluator_of(aes)
    evaluator.set_baseline()
    found = exhaustive_search(evaluator, None, ignore)
    assert found.losses() == exact_front(evaluator_of(aes))


def test_enumeration_gives_up_over_its_budget(
    aes: Space, evaluator_of: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluator = evaluator_of(aes)
    evaluator.set_baseline()
    monkeypatch.setenv("SYNTHETIC_SECONDS", "0.001")
    hopeless = enumerate_within(evaluator, 1.0, 0.5, ignore)
    assert hopeless.found is None
    assert hopeless.designs == len(list(aes.designs()))
    assert hopeless.projected_seconds > 0.25 * hopeless.designs
    assert evaluator.computed < 10  # the baseline's kernels
    over = enumerate_within(evaluator, 0.01, 0.0, ignore)
    assert over.found is None
    assert over.projected_seconds > 0.1
    assert evaluator.computed < 300
    monkeypatch.setenv("SYNTHETIC_SECONDS", "0")
    within = enumerate_within(evaluator, 600, 0.0, ignore)
    assert within.found is not None
    assert within.found.losses() == exact_front(evaluator_of(aes))


def test_random_search_counts_as_many_distinct_designs(aes: Space, evaluator_of: Make) -> None:
    evaluator = evaluator_of(aes)
    evaluator.set_baseline()
    one = random_search(evaluator, 75, 1, ignore)
    assert len(one.counted) == 75
    assert one.counted == random_search(evaluator, 75, 1, ignore).counted
    assert one.counted != random_search(evaluator, 75, 2, ignore).counted


def test_constant_time_changes_the_front(parse: Parse, evaluator_of: Make) -> None:
    text = "instructions: {choose: [zkne]}\ncore: {pipeline: [5, 2]}\n"
    free, _ = search(evaluator_of(parse(text)), 100)
    bound, _ = search(evaluator_of(parse(text + "constraints: {constant_time: true}")), 100)
    assert any(e.metrics["leaks"].value > 0 for e in free.rows())
    assert all(e.metrics["leaks"].value == 0 for e in bound.rows())
    assert 0 < bound.feasible < free.feasible == len(free.counted)


def test_three_objectives_one_of_them_maximised(parse: Parse, evaluator_of: Make) -> None:
    space = parse(
        "objectives: [area_ge, gain, code_bytes]\ninstructions: {choose: [zkne, zbkb]}\n"
        "compiler: {unroll: [1, full]}"
    )
    found, _ = search(evaluator_of(space), 100)
    assert found.losses() == exact_front(evaluator_of(space))
    gains = [e.metrics["gain"].value for e in found.rows()]
    assert max(gains) > 0.5


def test_failing_designs_are_counted_with_their_reason(
    aes: Space, evaluator_of: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SYNTHETIC_RAISE", '"nluv":true')
    evaluator = evaluator_of(aes)
    found, _ = search(evaluator, 40)
    assert len(found.counted) == 40
    assert found.feasible == 40 - len(evaluator.failures)
    assert {r.error for r in evaluator.failures.values()} == {"RuntimeError: told to fail"}


def test_infeasible_baseline_is_refused(parse: Parse, evaluator_of: Make) -> None:
    space = parse("workloads: [{workload: aes128-encrypt, kernel: zkne}]")
    with pytest.raises(
        ValueError, match=r"^baseline must be feasible, not: kernel needs an absent"
    ):
        evaluator_of(space).set_baseline()


def test_objective_that_is_not_measured_is_refused(parse: Parse, evaluator_of: Make) -> None:
    evaluator = evaluator_of(parse("objectives: [time_ns, state_bits]"))
    with pytest.raises(ValueError, match=r"^objective state_bits is not measured in technology ge"):
        evaluator.set_baseline()


def test_baseline_takes_the_best_kernel_the_constraints_admit(
    parse: Parse, evaluator_of: Make
) -> None:
    fastest = evaluator_of(parse("")).set_baseline()
    assert fastest.canonical["kernel.aes128-encrypt"] == "table"
    silent = evaluator_of(parse("constraints: {constant_time: true}")).set_baseline()
    assert silent.canonical["kernel.aes128-encrypt"] == "bitsliced"
    assert silent.metrics["gain"].value == 0


def test_corrupt_cache_entries_are_computed_again_and_said(
    aes: Space, evaluator_of: Make, tmp_path: Path
) -> None:
    before, _ = search(evaluator_of(aes), 24)
    with sqlite3.connect(tmp_path / "cache" / FILE_NAME) as connection:
        connection.execute("UPDATE entries SET payload = substr(payload, 1, 40)")
    connection.close()
    evaluator = evaluator_of(aes)
    after, _ = search(evaluator, 24)
    assert after.losses() == before.losses()
    assert evaluator.computed >= 24
    assert all("is corrupt; it is computed again" in note for note in evaluator.notes)
    assert len(evaluator.notes) >= 24


def test_history_grows_beyond_the_first_designs(aes: Space, evaluator_of: Make) -> None:
    """The first batch must not bound it: a plateau would be seen where the front still grows."""
    evaluator = evaluator_of(aes)
    baseline = evaluator.set_baseline()
    seeds = [("baseline", baseline.canonical)]
    proposer = Proposer(aes, "random", 1, seeds, evaluator.reductions)
    found = sampled_search(evaluator, proposer, 60, None, ignore, 2)
    volumes = [volume for _, volume in found.history]
    assert volumes == sorted(volumes)
    assert volumes[-1] > 1.2
    grown = sum(later > before for before, later in itertools.pairwise(volumes))
    assert grown >= len(found.front) // 2
