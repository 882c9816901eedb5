"""The estimator and its parts on spaces whose truth is known."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from benchmarks import selection
from dse.bundled import find_space
from dse.evaluator import Evaluator
from dse.learn.discovery import Discovery, discover
from dse.learn.encoding import Encoding, Rows
from dse.learn.estimator import Estimator, hardware_columns
from dse.learn.estimator_sampler import EstimatorSampler
from dse.learn.segment import Segment
from dse.learn.structure import Structure
from dse.learn.surrogate import Surrogate
from dse.pareto import Frame
from dse.proposer import Proposer
from dse.search import sampled_search
from dse.seeds import first_designs
from dse.space import Space, load_space
from tests.dse.test_search import Trials, ignore

Parse = Callable[[str], Space]
INSTRUCTIONS = (
    "instructions: {choose: [zkne, zbkb, {nluv: {banks: [1, 2, 4]}}]}\n"
    "compiler: {unroll: [1, full]}\ncore: {pipeline: [2, 3, 5], forwarding: [true, false]}"
)


def random_rows(encoding: Encoding, count: int) -> Rows:
    draw = random.Random(1)
    rows = [[draw.randrange(size) for size in encoding.sizes] for _ in range(count)]
    return np.array(rows, dtype=np.int16)


@pytest.fixture(scope="module")
def small() -> Space:
    return selection.space_of(10, 8, 3, ["time_ns", "area_ge"])


@pytest.fixture
def evaluator(small: Space) -> Iterator[Evaluator]:
    made = Evaluator(small, selection.BACKEND, None, 0)
    made.set_baseline()
    yield made
    made.close()


def test_rows_are_reduced_as_designs_are(aes: Space, parse: Parse) -> None:
    inert = parse("core: {pipeline: 2, forwarding: [false, true]}")  # fixed where it cannot matter
    for space in (aes, inert, parse(INSTRUCTIONS)):
        encoding = Encoding(space)
        rows = random_rows(encoding, 300)
        for row, reduced in zip(rows, encoding.reduce(rows), strict=True):
            assert (encoding.row(encoding.design(row)) == reduced).all()


def test_segment_costs_the_least_of_the_ways_that_lack_nothing(parse: Parse) -> None:
    encoding = Encoding(parse(INSTRUCTIONS))
    structure = Structure(encoding)
    names = list(encoding.names)
    on = encoding.row(encoding.space.neutral.replace({"zkne": True, "nluv": True, "nluv.banks": 2}))
    name = "aes128-encrypt"
    structure.learn(
        on,
        [
            Segment(name, "a", 100, 8, ()),
            Segment(name, "a", 40, 4, ("zkne",)),
            Segment(name, "a", 20, 4, ("zkne", "nluv")),
            Segment(name, "b", 7, 4, ()),
        ],
    )
    rows = np.repeat(on[None], 4, axis=0)
    rows[1, names.index("nluv.banks")] = 2  # another number of banks: that way is not known
    rows[2, names.index("nluv")] = 0
    rows[3, [names.index("nluv"), names.index("zkne")]] = 0
    reduced, features = structure.predict(rows)
    assert np.exp(features[:, 0]) == pytest.approx([27, 47, 47, 107])
    assert reduced[:, names.index("nluv")].tolist() == [1, 0, 0, 0]
    assert reduced[:, names.index("zkne")].tolist() == [1, 1, 1, 0]


def test_few_runs_show_most_ways_to_run_a_segment(small: Space, evaluator: Evaluator) -> None:
    structure, runs = discover(evaluator, 80, ignore)
    assert runs <= 80
    instance = selection.problem(10, 8, 3)
    encoding = structure.encoding
    rows = encoding.reduce(random_rows(encoding, 200))
    _, features = structure.predict(rows)
    right = 0
    for row, predicted in zip(rows, np.exp(features[:, 0]), strict=True):
        values = encoding.values(row)
        mask = sum(1 << i for i, name in enumerate(instance.names) if values[name])
        fits = [[v for v in ways if v.mask & mask == v.mask] for _, _, ways in instance.segments]
        truth = sum(
            count * min(fitting, key=lambda v: (v.cycles + v.slow, v.bytes, v.mask)).cycles
            for (count, _, _), fitting in zip(instance.segments, fits, strict=True)
        )
        assert predicted >= 0.95 * truth
        right += abs(predicted / truth - 1) < 1e-9
    assert right >= 150


def test_runs_end_when_they_would_show_nothing_new(parse: Parse) -> None:
    space = parse("instructions: {choose: [zkne, zbkb]}")
    discovery = Discovery(Encoding(space))
    asked = []
    while questions := discovery.plan(16):
        for question in questions:
            asked.append((question.design.text, question.removed))
            kernel = question.design["kernel.aes128-encrypt"]
            uses = tuple(n for n in ("zkne",) if question.design[n] and kernel == n)
            discovery.learn(question, [Segment("aes128-encrypt", "k", 10, 4, uses)])
    assert len(asked) == len(set(asked))
    removed = [r for text, r in asked if '"kernel.aes128-encrypt":"zkne"' in text]
    assert frozenset({"zkne"}) not in removed  # the kernel cannot do without it
    assert len(asked) <= 2 * len(space.workloads[0].kernels)


def test_area_is_learned_from_hardware_alone(parse: Parse) -> None:
    """Kernels and the compiler decide no area: one program tells that of all others."""
    choices = "core: {pipeline: [2, 3, 5]}\ncompiler: {unroll: [1, 2, full]}\n"
    encoding = Encoding(parse(choices + "instructions: {choose: [zkne, zbkb]}"))
    rows = encoding.every()
    is_built = [not name.startswith(("kernel.", "compiler.")) for name in encoding.names]
    built, first = np.unique(rows[:, is_built], axis=0, return_index=True)
    draw = np.random.default_rng(2)
    areas = dict(zip(map(tuple, built), 2e4 * 1.1 ** built.sum(axis=1), strict=True))
    estimator = Estimator(encoding, Structure(encoding))
    for row in rows[first]:
        estimator.observe(row, row, (draw.uniform(1, 9), areas[tuple(row[is_built])]), ())
    assert estimator.fit()
    candidates = estimator.reduce(rows)
    assert len(candidates.rows) > 2 * len(first)
    expected = [areas[tuple(row)] for row in candidates.rows[:, is_built]]
    assert np.abs(estimator.predict(candidates)[:, 1] / expected - 1).max() < 1e-3


def test_kernels_of_a_coprocessor_decide_hardware() -> None:
    """A co-processor holds the engines that its kernels need, other hardware is all built."""
    encoding = Encoding(load_space(find_space("iot-gateway")))
    decisive = {encoding.names[column] for column in hardware_columns(encoding)}
    kernels = {name for name in encoding.names if name.startswith("kernel.")}
    assert {"coprocessor", "zkne", "kernel.sha256@64"} <= decisive
    assert kernels <= decisive
    assert not any(name.startswith("compiler.") for name in decisive)
    encoding = Encoding(load_space(find_space("aes")))
    decisive = {encoding.names[column] for column in hardware_columns(encoding)}
    assert not any(name.startswith(("kernel.", "compiler.")) for name in decisive)


def test_sums_and_products_are_learned_from_few(parse: Parse) -> None:
    encoding = Encoding(parse(INSTRUCTIONS))
    rows = encoding.reduce(random_rows(encoding, 260))
    draw = np.random.default_rng(1)
    weights = draw.uniform(0, 1, encoding.width)
    values = encoding.marks(rows) @ weights
    targets = np.column_stack([10 + values, np.exp(values), -np.exp(values)])
    features = np.zeros((len(rows), 1))
    model = Surrogate(encoding)
    model.fit(rows[:60], features[:60], targets[:60])
    means = model.predict(rows[60:], features[60:])
    errors = np.abs(means / targets[60:] - 1).mean(axis=0)
    assert (errors < 0.01).all()
    hopeful = model.predict(rows[60:], features[60:], 1.0)
    assert (hopeful <= means + 1e-9).all()
    assert np.abs(model.predict(rows[:60], features[:60]) / targets[:60] - 1).max() < 1e-2


def test_default_sampler_is_far_ahead_at_few_designs(small: Space, evaluator: Evaluator) -> None:
    front = selection.exact_front(small)
    frame = Frame.around(front)
    shares = {}
    for sampler in ("estimator", "tpe", "nsga2"):
        structure = discover(evaluator, 40, ignore)[0] if sampler == "estimator" else None
        assert evaluator.baseline is not None
        seeds = first_designs(small, evaluator.baseline.canonical, structure)
        proposer = Proposer(small, sampler, 1, seeds, evaluator.reductions, structure)
        found = sampled_search(evaluator, proposer, 50, Trials(), ignore)
        shares[sampler] = frame.hypervolume(found.losses()) / frame.hypervolume(front)
    assert shares["estimator"] > 0.95
    assert shares["estimator"] > max(shares["tpe"], shares["nsga2"])


def test_sampler_is_one_of_optuna_and_learns_from_its_trials(aes: Space) -> None:
    """Told of trials by Optuna alone, it soon proposes what is cheap in both objectives."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(
        directions=["minimize", "minimize"], sampler=EstimatorSampler(aes, seed=3)
    )

    built = [p for p in aes.free if not p.name.startswith(("kernel.", "compiler."))]

    def objective(trial: optuna.Trial) -> tuple[float, float]:
        picked = [trial.suggest_categorical(p.name, p.choices) == p.choices[-1] for p in aes.free]
        trial.set_constraint("not too many", sum(picked) - 7)
        area = sum(trial.params[p.name] == p.choices[-1] for p in built)
        return 10.0 - sum(picked), 1.0 + area

    study.optimize(objective, n_trials=60)
    texts = [str(sorted(t.params.items(), key=str)) for t in study.trials]
    assert len(set(texts)) == 60
    ends = {t.values[0] for t in study.best_trials}
    assert {9.0, 3.0} <= ends  # what costs no area alone; all that the constraint allows
