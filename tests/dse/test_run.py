from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dse.design import Design
from dse.evaluation import Evaluation
from dse.run import MANIFEST, TRIALS, Run, RunError

MANIFEST_DATA: dict[str, Any] = {
    "space_digest": "s",
    "code_digest": "c",
    "sampler": "auto",
    "seed": 1,
    "batch": 8,
    "exhaustive": False,
}


def begun(folder: Path, *, resume: bool = False, **changes: Any) -> Run:
    manifest = {**MANIFEST_DATA, **changes}
    run = Run.claim(folder, manifest, resume=resume)
    run.begin(manifest, "name: x\n")
    return run


def evaluation(number: int) -> Evaluation:
    return Evaluation(Design({"a": number}), feasible=True)


def test_trials_survive_and_are_not_recorded_twice(tmp_path: Path) -> None:
    run = begun(tmp_path)
    for number in range(3):
        run.trial(number, "auto", Design({"a": number, "b": 1}), evaluation(number))
    run.repeat(Design({"a": 2, "b": 2}), evaluation(2))
    run.sync()
    before = (tmp_path / TRIALS).read_text()
    run.close()
    again = begun(tmp_path, resume=True)
    known = again.known()
    assert known[Design({"a": 1, "b": 1}).digest] == evaluation(1)
    assert known[Design({"a": 2, "b": 2}).digest] == evaluation(2)
    for number in range(3):
        again.trial(number, "auto", Design({"a": number, "b": 1}), evaluation(number))
    again.repeat(Design({"a": 2, "b": 2}), evaluation(2))
    again.sync()
    assert (tmp_path / TRIALS).read_text() == before
    again.trial(3, "auto", Design({"a": 3}), evaluation(3))
    again.close()
    assert [line["trial"] for line in Run.open(tmp_path).trials()] == [0, 1, 2, 3]


def test_torn_last_line_is_cut_off(tmp_path: Path) -> None:
    run = begun(tmp_path)
    run.trial(0, "auto", Design({"a": 0}), evaluation(0))
    run.close()
    whole = (tmp_path / TRIALS).read_bytes()
    (tmp_path / TRIALS).write_bytes(whole + whole[:25])
    again = begun(tmp_path, resume=True)
    again.trial(0, "auto", Design({"a": 0}), evaluation(0))
    again.trial(1, "auto", Design({"a": 1}), evaluation(1))
    again.close()
    assert len((tmp_path / TRIALS).read_bytes().splitlines()) == 2
    assert (tmp_path / TRIALS).read_bytes().startswith(whole)


def test_existing_run_is_refused_without_resume(tmp_path: Path) -> None:
    begun(tmp_path).close()
    with pytest.raises(RunError, match=r"already holds a run; continue it with --resume, or give"):
        begun(tmp_path)


def test_second_search_in_one_folder_is_refused(tmp_path: Path) -> None:
    run = begun(tmp_path)
    with pytest.raises(RunError, match=r"^another search is running in .*; wait for it, or give"):
        begun(tmp_path, resume=True)
    run.close()
    begun(tmp_path, resume=True).close()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": 2}, r"made with another seed: 1, now 2; restore that, or start a new run"),
        ({"sampler": "nsga2"}, r"made with another sampler: auto, now nsga2; restore"),
        ({"space_digest": "t"}, r"made with another space; restore that"),
        ({"code_digest": "d"}, r"made with another version of the code; restore that"),
    ],
)
def test_resume_of_another_search_is_refused(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    begun(tmp_path).close()
    with pytest.raises(RunError, match=message):
        begun(tmp_path, resume=True, **change)


def test_altered_log_is_refused(tmp_path: Path) -> None:
    run = begun(tmp_path)
    run.trial(0, "auto", Design({"a": 0}), evaluation(0))
    run.close()
    again = begun(tmp_path, resume=True)
    with pytest.raises(RunError, match=r"^trial 0 of .* is not the one this search makes; the log"):
        again.trial(0, "auto", Design({"a": 5}), evaluation(5))
    again.close()


def test_claim_alone_leaves_no_run_behind(tmp_path: Path) -> None:
    Run.claim(tmp_path, MANIFEST_DATA, resume=False).close()
    begun(tmp_path).close()


def test_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match=r"^run folder .*run cannot be written: Not a directory"):
        begun(tmp_path / "file" / "run")


@pytest.mark.parametrize("length", [1, 100_000])
def test_full_disk_is_said_when_the_buffer_is_written_or_before(
    tmp_path: Path, length: int
) -> None:
    run = Run.claim(tmp_path, MANIFEST_DATA, resume=False)
    (tmp_path / TRIALS).symlink_to("/dev/full")
    run.begin(MANIFEST_DATA, "name: x\n")
    result = Evaluation(Design({"a": "x" * length}), feasible=True)
    with pytest.raises(RunError, match=r"^run folder .* cannot be written: No space left on dev"):
        log_and_sync(run, result)
    run.close()


def log_and_sync(run: Run, result: Evaluation) -> None:
    run.trial(0, "auto", Design({"a": 0}), result)
    run.sync()


def test_files_are_whole_or_absent(tmp_path: Path) -> None:
    run = begun(tmp_path)
    assert run.write("front.csv", "a,b\n").read_text() == "a,b\n"
    assert sorted(p.name for p in tmp_path.iterdir() if p.suffix == ".part") == []
    assert json.loads((tmp_path / MANIFEST).read_text()) == MANIFEST_DATA
    run.close()


def test_opening_what_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"^RUN must be the folder of a search \(with manifest"):
        Run.open(tmp_path)
    begun(tmp_path).close()
    with pytest.raises(RunError, match=r"front.json is not there: the search has not finished"):
        Run.open(tmp_path).read("front.json")
