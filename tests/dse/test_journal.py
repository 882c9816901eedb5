"""The exported journal, read back by Optuna and served by optuna-dashboard."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from dse.cli import run
from dse.show.journal import FILE
from tests.dse.synthetic import BACKEND, SPACES


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the small space in which designs that leak are infeasible."""
    place = tmp_path_factory.mktemp("journal")
    text = (SPACES / "aes-ctr-small.yaml").read_text()
    (place / "space.yaml").write_text(text + "constraints: {constant_time: true}\n")
    words = ["search", str(place / "space.yaml"), "--exact-seconds", "0", "--jobs", "0"]
    assert run([*words, "--no-cache", "--out", str(place / "run")], BACKEND) == 0
    assert run(["export", str(place / "run"), "--format", "journal"], BACKEND) == 0
    return place / "run"


def test_optuna_finds_the_front_in_it(folder: Path) -> None:
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    storage = JournalStorage(JournalFileBackend(str(folder / FILE)))
    study = optuna.load_study(study_name="aes-ctr-small", storage=storage)
    trials = [json.loads(line) for line in (folder / "trials.jsonl").read_text().splitlines()]
    assert len(study.trials) == sum("trial" in line for line in trials)
    front = json.loads((folder / "front.json").read_text())
    names = front["objectives"]
    expected = {tuple(row["metrics"][n]["value"] for n in names) for row in front["rows"]}
    assert {tuple(trial.values) for trial in study.best_trials} == expected
    feasible = [all(c <= 0 for c in trial.constraints.values()) for trial in study.trials]
    assert feasible == [line["feasible"] for line in trials if "trial" in line]
    assert not all(feasible)


@pytest.mark.tool
def test_dashboard_serves_it(folder: Path) -> None:
    dashboard = pytest.importorskip("optuna_dashboard", reason="optuna-dashboard is absent")
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    app = dashboard.wsgi(JournalStorage(JournalFileBackend(str(folder / FILE))))
    status: list[str] = []
    environ = {
        "REQUEST_METHOD": "GET", "PATH_INFO": "/api/studies/0", "QUERY_STRING": "after=0",
        "SERVER_NAME": "here", "SERVER_PORT": "80", "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(), "SCRIPT_NAME": "",
    }  # fmt: skip
    body = b"".join(app(environ, lambda code, headers, *rest: status.append(code)))
    assert status == ["200 OK"]
    served = json.loads(body)
    constraints = {tuple(trial["constraints"]) for trial in served["trials"]}
    assert constraints == {(0.0,), (1.0,)}
