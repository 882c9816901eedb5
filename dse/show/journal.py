"""The trials of a run as an Optuna journal, which optuna-dashboard opens."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dse.design import Value
from dse.front import Front
from dse.metrics import METRICS
from dse.run import Run

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

FILE = "optuna-journal.log"


def write_journal(run: Run, front: Front) -> Path:
    """Write a study named as the space, one finished trial for each distinct design.

    A design that broke a constraint has one that is violated by 1, under the attribute that the
    dashboard reads and Optuna understands too; one without metrics is a failed trial.
    """
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    lines = list(run.trials())
    aside = run.folder / f".{FILE}.part"
    aside.unlink(missing_ok=True)
    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        minimised = [METRICS[name].is_minimised for name in front.objectives]
        study = optuna.create_study(
            storage=JournalStorage(JournalFileBackend(str(aside))),
            study_name=front.space,
            directions=["minimize" if least else "maximize" for least in minimised],
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            study.set_metric_names(list(front.objectives))
        choices = _choices([line["design"] for line in lines])
        study.add_trials([_trial(line, front.objectives, choices) for line in lines])
        content = aside.read_bytes()
    finally:
        optuna.logging.set_verbosity(verbosity)
        aside.unlink(missing_ok=True)
    return run.write(FILE, content)


def _choices(designs: Sequence[Mapping[str, Value]]) -> dict[str, list[Any]]:
    """The values that each parameter took, of those that took several."""
    seen: dict[str, dict[str, Any]] = {}
    for design in designs:
        for name, value in design.items():
            seen.setdefault(name, {}).setdefault(repr(value), value)
    return {name: list(values.values()) for name, values in seen.items() if len(values) > 1}


def _trial(
    line: Mapping[str, Any], objectives: Sequence[str], choices: Mapping[str, list[Any]]
) -> FrozenTrial:
    import optuna
    from optuna.distributions import CategoricalDistribution

    metrics = line["metrics"]
    is_measured = all(name in metrics for name in objectives)
    facts = {"origin": line["origin"], "reason": line["reason"]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of attributes to be withdrawn, which the dashboard reads
        return optuna.trial.create_trial(
            state=optuna.trial.TrialState.COMPLETE if is_measured
            else optuna.trial.TrialState.FAIL,
            values=[metrics[name]["value"] for name in objectives] if is_measured else None,
            params={name: line["design"].get(name) for name in choices},
            distributions={name: CategoricalDistribution(c) for name, c in choices.items()},
            user_attrs={name: text for name, text in facts.items() if text},
            system_attrs={"constraints": [0.0 if line["feasible"] else 1.0]},
        )  # fmt: skip
