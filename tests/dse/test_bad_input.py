"""Broken spaces and command lines: exit code 2 and one clear line each, never a traceback."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dse.cli import run
from tests.dse.synthetic import BACKEND, SPACES

FOLDER = Path(__file__).parent.parent / "bad_input"
BROKEN = sorted(FOLDER.glob("*.yaml"))

COMMAND_LINES = [
    ("serach aes", "dse: error: No such command 'serach'."),
    ("search", "dse search: error: Missing argument 'SPACE'."),
    ("search ases", "not 'ases'; did you mean 'aes'?"),
    ("search {aes} extra", "Got unexpected extra argument (extra)"),
    ("search {aes} --trials many", "'many' is not a valid integer range."),
    ("search {aes} --trials 0", "'--trials': 0 is not in the range 1<=x<=1000000."),
    ("search {aes} --trials -5", "-5 is not in the range"),
    ("search {aes} --seed 1e3", "Invalid value for '--seed': '1e3' is not a valid integer range."),
    ("search {aes} --jobs -1", "Invalid value for '--jobs': -1 is not in the range"),
    ("search {aes} --batch 0", "Invalid value for '--batch': 0 is not in the range"),
    ("search {aes} --plateau few", "Invalid value for '--plateau': 'few' is not a valid integer"),
    ("search {aes} --time-limit nan", "'--time-limit': 'nan' is not a valid integer range."),
    ("search {aes} --sampler nsga", "Invalid value for '--sampler': 'nsga' is not one of 'auto'"),
    ("search {aes} --trails 5", "No such option '--trails'."),
    ("search {aes} --cache a --no-cache", "--cache and --no-cache must not be given together"),
    ("search {aes} --exact-seconds nan", "'--exact-seconds': 'nan' is not a valid integer range."),
    ("search {aes} --out {file}", "Invalid value for '--out': Directory"),
    ("evaluate {aes} --set zkne", "--set must be key=value, not 'zkne'"),
    ("evaluate {aes} --set zkn=true", "not 'zkn'; did you mean 'zkne'?"),
    ("evaluate {aes} --set zkne=yes", "--set zkne must be false or true, not 'yes'"),
    ("evaluate {aes} --set core.pipeline=4", "--set core.pipeline must be 2, 3 or 5, not '4'"),
    ("evaluate {aes} --set nluv.banks=2", "nluv.banks has no effect unless nluv is true"),
    ("evaluate {aes} --set zkne=true --set zkne=false", "--set zkne must be given once, not twice"),
    ("evaluate {aes} --set units.aes_sbox=boyar", "table, composite or boyar_peralta, not 'boyar'"),
    ("evaluate {aes} --set kernel.aes128-encrypt=fast", "not 'fast'"),
    ("evaluate {aes} --set kernel.aes128-encrypt=zkne", "=zkne needs zkne; choose what provides"),
    ("plot nowhere", "RUN must be the folder of a search (with manifest.json), not nowhere"),
    ("export nowhere", "RUN must be the folder of a search (with manifest.json), not nowhere"),
    ("verify nowhere", "RUN must be the folder of a search (with manifest.json), not nowhere"),
    ("list instruction", "not 'instruction'; did you mean 'instructions'?"),
    ("show aes32esm1", "not 'aes32esm1'; did you mean 'aes32esmi'?"),
    ("show", "dse show: error: Missing argument 'NAME'."),
    ("show x --effort serach", "default, search or exact, not 'serach'; did you mean 'search'?"),
    ("show aes32esmi --effort search", "--effort is for workloads; 'aes32esmi' is of"),
]  # fmt: skip


def test_there_are_many() -> None:
    assert len(BROKEN) + len(COMMAND_LINES) >= 100


@pytest.mark.parametrize("path", BROKEN, ids=lambda path: path.stem)
def test_broken_space_gives_its_one_line(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first line of each file states the error that the rest of it must give."""
    expected = path.read_bytes().split(b"\n")[0].decode().removeprefix("# ")
    code = run(["search", str(path), "--out", "/nonexistent/run"], BACKEND)
    captured = capsys.readouterr()
    assert code == 2
    assert captured.out == ""
    assert captured.err == f"{path}:{expected}\n"
    assert re.match(r"\d+:\d+: error: \S", expected)


@pytest.mark.parametrize(("line", "message"), COMMAND_LINES, ids=[c[0] for c in COMMAND_LINES])
def test_wrong_command_line_gives_one_line(
    line: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file"
    file.write_text("")
    code = run(line.format(file=file, aes=SPACES / "aes.yaml").split(), BACKEND)
    captured = capsys.readouterr()
    assert code == 2
    assert message in captured.err
    assert re.fullmatch(r"dse[ a-z]*: error: [^\n]+\n", captured.err)
    assert captured.out == ""


def test_several_mistakes_are_all_said_in_file_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "space.yaml"
    path.write_text(
        "name: x\nworkloads: [aes128-encrypt]\ncore: {pipeline: 4, xlen: 16}\nobjective: [a]\n"
    )
    assert run(["search", str(path)], BACKEND) == 2
    assert capsys.readouterr().err.splitlines() == [
        f"{path}:3:18: error: core.pipeline: must be 2, 3 or 5, not 4",
        f"{path}:3:27: error: core.xlen: must be 32 or 64, not 16",
        f"{path}:4:1: error: objective: unknown key 'objective'; must be name, workloads, "
        "baseline, technology, core, instructions, units, compiler, coprocessor, objectives, "
        "constraints, search or points; did you mean 'objectives'?",
    ]
