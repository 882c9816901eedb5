"""What Optuna does quietly with trials that are not its own, and what the search makes of it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.distributions import BaseDistribution, CategoricalDistribution

import dse.proposer
from dse.cli import run
from dse.design import Design
from dse.proposer import Outcome, Proposal, Proposer
from dse.reductions import Reductions
from dse.sampler import SAMPLERS, missing_library
from dse.seeds import seed_designs
from dse.space import Space
from tests.dse.synthetic import BACKEND

GENETIC = ("nsga2", "nsga3")
INSTALLED = [name for name in SAMPLERS if not missing_library(name)]


def proposer_of(space: Space, sampler: str, seeds: Sequence[tuple[str, Design]] = ()) -> Proposer:
    return Proposer(space, sampler, 1, seeds, Reductions(space))


def answer(proposer: Proposer, proposals: Sequence[Proposal]) -> None:
    """Tell the proposer of made-up losses that depend on the designs alone."""
    for proposal in proposals:
        ones = sum(map(ord, proposal.design.text)) % 97
        proposer.tell(proposal, proposal.design, Outcome((float(ones), 100.0 - ones), ()))


def gene_pool(study: optuna.Study) -> list[optuna.trial.FrozenTrial]:
    """The trials from which the second generation is bred."""
    sampler: Any = study.sampler
    found: list[optuna.trial.FrozenTrial] = sampler.get_population(study, 0)
    return found


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> list[optuna.Study]:
    """The Optuna studies that proposers make."""
    studies: list[optuna.Study] = []
    create = optuna.create_study

    def created(*words: Any, **options: Any) -> optuna.Study:
        studies.append(create(*words, **options))
        return studies[-1]

    monkeypatch.setattr(optuna, "create_study", created)
    return studies


def test_optuna_leaves_enqueued_trials_out_of_the_gene_pool() -> None:
    """The trap itself: should this fail, Optuna has changed and the remedy may go."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study = optuna.create_study(sampler=optuna.samplers.NSGAIISampler(population_size=4))
    choices: dict[str, BaseDistribution] = {"a": CategoricalDistribution([0, 1])}
    study.enqueue_trial({"a": 1})
    study.tell(study.ask(choices), 1.0)
    study.tell(study.ask(choices), 2.0)
    assert [trial.number for trial in gene_pool(study)] == [1]


@pytest.mark.parametrize("sampler", GENETIC)
def test_seeds_enter_the_gene_pool(aes: Space, watched: list[optuna.Study], sampler: str) -> None:
    seeds = seed_designs(aes, aes.neutral)
    proposer = proposer_of(aes, sampler, seeds)
    batch = 0
    while len(proposer.known) < len(seeds) + 8:
        answer(proposer, proposer.ask(batch, 8))
        batch += 1
    study = watched[0]
    population = gene_pool(study)
    assert len(population) == len(study.trials)  # none of the seeds is missing
    seeded = {design.text for _, design in seeds}
    assert seeded <= {trial.user_attrs["canonical"] for trial in population}


@pytest.mark.parametrize("sampler", GENETIC)
def test_designs_of_the_neighbourhood_enter_the_gene_pool(
    aes: Space, watched: list[optuna.Study], monkeypatch: pytest.MonkeyPatch, sampler: str
) -> None:
    """What fills a batch when the sampler only repeats itself is enqueued as well."""
    monkeypatch.setattr(dse.proposer, "_PATIENCE", 0)
    proposer = proposer_of(aes, sampler)
    proposer.front = [aes.neutral]
    proposals = proposer.ask(0, 8)
    assert {proposal.origin for proposal in proposals} == {"neighbour"}
    answer(proposer, proposals)
    study = watched[0]
    population = gene_pool(study)
    assert len(population) == 8


@pytest.mark.parametrize(("name", "value"), [("core.pipeline", 7), ("core.pipeline", "5")])
def test_value_that_is_no_choice_is_refused(aes: Space, name: str, value: Any) -> None:
    """Optuna would take it with a warning, as a category that it does not have."""
    wrong = aes.neutral.replace({name: value})
    with pytest.raises(ValueError, match=r"^seed wrong: core.pipeline must be 2, 3 or 5, not"):
        proposer_of(aes, "nsga2", [("wrong", wrong)]).ask(0, 4)


@pytest.mark.parametrize("sampler", [name for name in INSTALLED if SAMPLERS[name].is_reseeded])
def test_batches_after_a_resume_are_not_those_before(aes: Space, sampler: str) -> None:
    """A sampler built again from one seed would ask for the same designs in each batch."""
    proposer = proposer_of(aes, sampler)
    batches = []
    for batch in range(3):
        proposals = proposer.ask(batch, 8)
        assert {proposal.origin for proposal in proposals} == {sampler}
        batches.append([proposal.design.text for proposal in proposals])
        answer(proposer, proposals)
    assert len({text for texts in batches for text in texts}) == 24
    # numbers drawn for a batch are its own, whatever was drawn before
    late = proposer_of(aes, sampler)
    assert [proposal.design.text for proposal in late.ask(2, 8)] != batches[0]
    again = proposer_of(aes, sampler)
    assert [proposal.design.text for proposal in again.ask(0, 8)] == batches[0]


@pytest.mark.parametrize("sampler", INSTALLED)
def test_parameters_of_absent_extensions_are_sampled_with_the_others(
    aes: Space, watched: list[optuna.Study], sampler: str
) -> None:
    """Samplers that breed pass over parameters that not every trial has; here every trial does."""
    free = {parameter.name for parameter in aes.free}
    assert any(parameter.condition for parameter in aes.free)
    proposer = proposer_of(aes, sampler)
    for batch in range(3):
        answer(proposer, proposer.ask(batch, 8))
    study = watched[0]
    assert all(trial.params.keys() == free for trial in study.trials)
    inactive = {t.params["nluv.banks"] for t in study.trials if not t.params["nluv"]}
    if not SAMPLERS[sampler].uses_structure:  # those propose reduced designs
        assert len(inactive) > 1
    searched = study.sampler.infer_relative_search_space(study, study.trials[-1])
    if sampler != "random":  # that takes each parameter by itself
        assert searched.keys() == free


@pytest.mark.parametrize("sampler", GENETIC)
def test_inactive_parameter_is_neutral_in_what_is_evaluated(
    parse: Callable[[str], Space], watched: list[optuna.Study], sampler: str
) -> None:
    space = parse("instructions: {choose: [{nluv: {banks: [1, 2, 4]}}]}\ncore: {pipeline: [2, 3]}")
    proposer = proposer_of(space, sampler)
    for batch in range(12):
        proposals = proposer.ask(batch, 8)
        if not proposals:
            break
        answer(proposer, proposals)
    designs = {trial.user_attrs["canonical"] for trial in watched[0].trials}
    texts = [text for text in designs if '"nluv":false' in text]
    assert texts
    assert all('"nluv.banks":1' in text for text in texts)  # neutral where it makes no difference


def test_library_that_is_absent_is_refused_with_its_extra(
    aes: Space, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gp = replace(SAMPLERS["gp"], needs=("json", "no_such_library"))
    monkeypatch.setitem(SAMPLERS, "gp", gp)
    words = ["search", str(aes.file), "--sampler", "gp", "--out", str(tmp_path / "run")]
    assert run(words, BACKEND) == 2
    assert capsys.readouterr().err == (
        "dse search: error: sampler gp needs no_such_library, which is not installed; install it "
        "with `pip install 'riscv-dse[samplers]'`, or take another sampler\n"
    )
    assert not (tmp_path / "run").exists()
