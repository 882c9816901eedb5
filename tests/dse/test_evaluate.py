"""One design evaluated for real: known answers, code quality, leaks, canonical form."""

from __future__ import annotations

import random
from collections import OrderedDict
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

import workloads
from dse.cache import Cache
from dse.design import Design
from dse.measure.evaluate import evaluate
from dse.measure.measurement import WrongAnswer, cases, compiled, measure
from dse.measure.target import Target
from dse.space import Space, load_space
from hw.technology import technology
from isa.instruction_set import InstructionSet, load_extension
from isa.machine import Machine
from isa.timing import Core

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def space() -> Space:
    return load_space(ROOT / "spaces" / "aes.yaml")


def target(*extensions: str, unroll: int | str = "full") -> Target:
    parts = [load_extension(e, banks=1) if e == "nluv" else e for e in extensions]
    instructions = InstructionSet.of(32, "rv32i", *parts)
    return Target(instructions, Core(), (), (), unroll, technology("ge"))


@pytest.mark.parametrize(
    ("kernel", "extensions", "most"),
    [
        ("ttable", (), 985),  # best compiled C on rv32i: riscv-crypto T-tables, Clang 22
        ("ttable", ("zkne",), 288),  # best compiled C with intrinsics: rvkrypto, Clang 22
    ],
)
def test_code_is_as_good_as_a_good_compilers(
    kernel: str, extensions: tuple[str, ...], most: int
) -> None:
    """Instructions from entry to return for one AES-128 block, round keys given."""
    workload = workloads.get("aes128-encrypt")
    found = measure(workload, kernel, target(*extensions), {}, Cache(None))
    assert found.instructions <= most


def test_compiled_aes_equals_cryptography_on_random_blocks() -> None:
    workload = workloads.get("aes128-encrypt")
    rng = random.Random(3)
    for extensions in ((), ("zkne",)):
        on = target(*extensions, unroll=1)
        program = compiled(workload, "ttable", on, {}, Cache(None))
        machine = Machine(on.instructions, program)
        where = cases(workload, program)[0].arguments
        for _ in range(500):
            key, block = rng.randbytes(16), rng.randbytes(16)
            from workloads.aes import expand_key

            run = machine.run(where, {where[0]: block, where[1]: expand_key(key)})
            cipher = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
            assert run.read(where[2], 16) == cipher.update(block)


@pytest.mark.parametrize(
    ("kernel", "leaks"), [("sbox", True), ("ttable", True), ("bitsliced", False)]
)
def test_leaks_on_the_plain_set(kernel: str, leaks: bool) -> None:
    """Tables are read at secret addresses; the bitsliced kernel reads none."""
    workload = workloads.get("aes128-encrypt")
    found = measure(workload, kernel, target(unroll=1), {}, Cache(None))
    assert (found.leaks > 0) == leaks


def test_instructions_leave_no_table_and_no_leak() -> None:
    workload = workloads.get("aes128-encrypt")
    found = measure(workload, "ttable", target("zkne", unroll=1), {}, Cache(None))
    assert (found.leaks, found.data_bytes) == (0, 0)


def design(space: Space, **changes: object) -> Design:
    base = {"kernel.aes128-encrypt": "ttable", "compiler.unroll": 1, "core.pipeline": 5}
    return space.neutral.replace({**base, **{k.replace("__", "."): v for k, v in changes.items()}})


def test_what_no_program_uses_is_dropped(space: Space) -> None:
    cache = Cache(None)
    plain = evaluate(space=space, design=design(space), cache=cache)
    useless = evaluate(space=space, design=design(space, zbkx=True, nluv=True), cache=cache)
    assert useless.canonical == plain.canonical
    assert useless.metrics == plain.metrics
    useful = evaluate(space=space, design=design(space, zkne=True), cache=cache)
    assert useful.canonical["zkne"] is True
    assert useful.metrics["time_ns"].value < plain.metrics["time_ns"].value
    assert useful.metrics["area_ge"].value > plain.metrics["area_ge"].value


def test_an_instruction_that_is_missing_makes_a_design_infeasible(space: Space) -> None:
    changed = design(space)
    values = {**changed, "kernel.aes128-encrypt": "nluv"}
    found = evaluate(space=space, design=Design(values), cache=Cache(None))
    assert found.canonical["kernel.aes128-encrypt"] != "nluv" or not found.feasible


def test_a_wrong_answer_has_no_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    from dse.measure import execution, measurement

    def wrong(workload, program, kernel):  # type: ignore[no-untyped-def]
        good = cases(workload, program)
        first = good[0]
        spoiled = {a: bytes([v[0] ^ 1]) + v[1:] for a, v in first.expected.items()}
        return [first.__class__(first.arguments, first.memory, spoiled, first.secret, "spoiled")]

    monkeypatch.setattr(measurement, "cases", wrong)
    monkeypatch.setattr(execution, "_EXECUTED", OrderedDict())
    with pytest.raises(WrongAnswer, match=r"^aes128-encrypt \(ttable\) must give .* for spoiled"):
        measure(workloads.get("aes128-encrypt"), "ttable", target("zkne"), {}, Cache(None))


def test_metrics_are_consistent(space: Space) -> None:
    found = evaluate(space=space, design=design(space, zkne=True), cache=Cache(None))
    m = {name: quantity.value for name, quantity in found.metrics.items()}
    assert m["area_ge"] == pytest.approx(m["core_area_ge"] + m["extension_area_ge"])
    assert m["time_ns"] == pytest.approx(m["cycles"] * m["period_ns"])
    assert m["tap_silicon_ge"] == pytest.approx(m["time_ns"] * m["area_ge"])
    assert m["tap_ise"] == pytest.approx(m["cycles"] * m["extension_area_ge"])
    assert m["tap_code"] == pytest.approx(m["cycles"] * (m["code_bytes"] + m["data_bytes"]))
    assert all(q.unit is not None and q.rung for q in found.metrics.values())
