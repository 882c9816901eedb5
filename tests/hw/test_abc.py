from __future__ import annotations

import multiprocessing
import os
import signal
from pathlib import Path

import pytest

from hw.abc import AbcError, _servers, run_abc

XOR = b"aig 5 2 0 1 3\n10\n\x02\x02\x01\x02\x01\x02"
"""Two inputs and their exclusive or, as three AND nodes."""


def gates() -> str:
    """Map `XOR` to cells and return ABC's line about it."""
    script = "read_aiger {0}/xor.aig; strash; &get -n; &nf; &put; stime\n"
    (line,) = (x for x in run_abc(script, {"xor.aig": XOR}).log.splitlines() if "Area" in x)
    return line


def pid() -> int:
    return _servers[os.getpid()].process.pid


def test_one_program_answers_every_call_and_results_come_back() -> None:
    first = gates()
    program = pid()
    assert gates() == first
    run = run_abc(
        "read_aiger {0}/a.aig; strash; write_blif {0}/a.blif\n", {"a.aig": XOR}, ("a.blif", "b")
    )
    assert run.results["a.blif"].rstrip().endswith(b".end")
    assert set(run.results) == {"a.blif"}
    assert pid() == program


@pytest.mark.parametrize("script", ["no_such_command\n", "read_aiger {0}/absent.aig\n"])
def test_an_error_is_told_and_does_not_stay(script: str) -> None:
    first = gates()
    with pytest.raises(AbcError, match=r"^yosys-abc failed: "):
        run_abc(script, {})
    assert gates() == first


def test_a_slow_script_is_ended() -> None:
    with pytest.raises(AbcError, match=r"^yosys-abc must finish in 0\.05 s, it did not$"):
        run_abc("sleep 60\n" * 2, {}, timeout_s=0.05)
    gates()


def test_a_killed_program_is_started_again() -> None:
    first = gates()
    os.kill(pid(), signal.SIGKILL)
    _servers[os.getpid()].process.wait()
    assert gates() == first


def test_a_forked_process_has_its_own() -> None:
    first = gates()
    context = multiprocessing.get_context("fork")
    with context.Pool(2) as pool:
        assert pool.map(_from_child, [os.getpid()] * 4) == [first] * 4


def _from_child(parent: int) -> str:
    line = gates()
    assert pid() != _servers[parent].process.pid
    return line


def test_the_program_ends_with_its_process() -> None:
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_die, args=(sender,))
    child.start()
    program = receiver.recv()
    child.join()
    for _ in range(100):
        if not _is_running(program):
            return
        multiprocessing.Event().wait(0.05)
    pytest.fail("the program is still running")


def _die(sender: object) -> None:
    gates()
    sender.send(pid())  # type: ignore[attr-defined]
    os._exit(1)


def _is_running(program: int) -> bool:
    try:
        os.kill(program, 0)
    except ProcessLookupError:
        return False
    # A zombie whose parent has not looked yet.
    return Path(f"/proc/{program}/stat").read_text("ascii").rsplit(")", 1)[1].split()[0] != "Z"
