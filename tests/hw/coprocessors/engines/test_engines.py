"""Contract of engines: netlists equal their plain Python, and take exactly the cycles stated."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import combinations, product

import pytest

from hw.coprocessors.engines import algorithm_names, engine_of, engines
from hw.coprocessors.engines.engine import Engine, Operation
from hw.units import circuit_names
from isa.coprocessor import ALGORITHMS
from tests.hw.coprocessors.engines.bench import Bench, Member
from tests.hw.traces import icarus_trace, needs_icarus

ENGINES = sorted(engines())


def everything(name: str, **axes: object) -> Member:
    return Member(tuple(sorted(engines()[name].algorithms)), **axes)  # type: ignore[arg-type]


def one_of_each_value(name: str) -> list[Member]:
    """A member for each value of each axis; subsets of algorithms are those of one."""
    engine = engines()[name]
    members = [
        everything(name),
        everything(name, width=32),
        *(everything(name, rounds_per_cycle=r) for r in (2, 4)),
        *(everything(name, stages=s) for s in (2, 3, 4)),
        *(Member((a,)) for a in engine.algorithms),
    ]
    if engine.has_sbox:
        members += [everything(name, aes_sbox=box) for box in circuit_names("aes_sbox")]
    return list({replace(p, rounds_per_cycle=engine.rounds(p)): None for p in members})


def all_members(name: str) -> list[Member]:
    """Every width, rounds and stages with all algorithms, and every subset at two of them."""
    engine = engines()[name]
    algorithms = sorted(engine.algorithms)
    subsets = [c for n in range(2, len(algorithms)) for c in combinations(algorithms, n)]
    members = [
        *(Member(tuple(algorithms), *axes) for axes in product((32, 64), (1, 2, 4), (1, 2, 3, 4))),
        *(Member(subset, *axes) for subset in subsets for axes in ((64, 1, 1), (32, 2, 2))),
    ]
    return list({replace(p, rounds_per_cycle=engine.rounds(p)): None for p in members})


class Check:
    """One algorithm of one netlist beside its plain Python."""

    def __init__(self, bench: Bench, algorithm: str, seed: str) -> None:
        self.bench, self.name = bench, algorithm
        self.engine, self.p = bench.engine, bench.p
        self.record = self.engine.algorithms[algorithm]
        self.random = random.Random(seed)
        self.state = self.engine.initial(algorithm)
        self.key = b""

    def begin(self) -> None:
        """What `init` makes of the state: the key stays."""
        self.state = self.engine.initial(self.name)
        if self.key:
            self.state = self.engine.step(self.name, self.state, self.key, Operation.KEY)

    def cycles(self, operation: Operation = Operation.BLOCK) -> int:
        return self.engine.run_cycles(self.p, self.name, operation)

    def data(self, operation: Operation = Operation.BLOCK) -> bytes:
        sizes = {
            Operation.BLOCK: self.record.block_bytes,
            Operation.KEY: self.record.key_bytes,
            Operation.SQUEEZE: 0,
        }
        return self.random.randbytes(sizes[operation])

    def operate(self, operation: Operation = Operation.BLOCK, *, init: bool = False) -> None:
        data = self.data(operation)
        if init:
            self.begin()
        if operation is Operation.KEY:
            self.key = data
        assert self.bench.run(self.name, data, operation, init=init) == self.cycles(operation)
        self.state = self.engine.step(self.name, self.state, data, operation)

    def operate_twice(self) -> None:
        """Two blocks without a cycle between them."""
        first, second = self.data(), self.data()
        assert self.bench.run(self.name, first, more=second) == 2 * self.cycles()
        for data in (first, second):
            self.state = self.engine.step(self.name, self.state, data)

    def compare(self) -> None:
        assert self.bench.output(self.name) == self.engine.output(self.name, self.state)


def check_algorithm(bench: Bench, algorithm: str, seed: str, blocks: int = 2) -> None:
    check = Check(bench, algorithm, seed)
    bench.init(algorithm)
    if check.record.key_bytes:
        check.operate(Operation.KEY)
    for _ in range(blocks):
        check.operate()
        check.compare()
    check.operate_twice()
    check.compare()
    if check.record.extendable:
        check.operate(Operation.SQUEEZE)
        check.compare()
    check.operate(init=True)
    check.compare()


def check_member(engine: Engine, p: Member) -> None:
    """Run all algorithms twice, so that each finds the registers as another left them."""
    bench = Bench(engine, p)
    for i in range(2):
        for algorithm in engine.held(p):
            check_algorithm(bench, algorithm, f"{p} {algorithm} {i}", blocks=1)


QUICK = [
    pytest.param(n, p, id=f"{n}-{i}") for n in ENGINES for i, p in enumerate(one_of_each_value(n))
]
ALL = [pytest.param(n, p, id=f"{n}-{i}") for n in ENGINES for i, p in enumerate(all_members(n))]


@pytest.mark.parametrize(("name", "p"), QUICK)
def test_netlist_equals_python(name: str, p: Member) -> None:
    check_member(engines()[name], p)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "p"), ALL)
def test_every_member_equals_python(name: str, p: Member) -> None:
    check_member(engines()[name], p)


@pytest.mark.slow
@needs_icarus
@pytest.mark.parametrize("name", ENGINES)
def test_exported_verilog(name: str) -> None:
    """The Verilog of a member with two rounds and three stages does what the netlist does."""
    engine = engines()[name]
    bench = Bench(engine, everything(name, rounds_per_cycle=2, stages=3))
    for algorithm in bench.held:
        check_algorithm(bench, algorithm, f"verilog {algorithm}", blocks=1)
    assert icarus_trace(bench.block, bench.stimuli) == bench.answers


@pytest.mark.parametrize("name", ENGINES)
def test_output_waits(name: str) -> None:
    """What `out` shows stays until the next operation."""
    engine = engines()[name]
    p = everything(name)
    bench = Bench(engine, p)
    for algorithm in engine.held(p):
        check = Check(bench, algorithm, f"wait {algorithm}")
        if check.record.key_bytes:
            check.operate(Operation.KEY)
        check.operate(init=True)
        for _ in range(3):
            check.compare()


@pytest.mark.parametrize("rounds", [1, 2])
def test_key_outlives_a_hash(rounds: int) -> None:
    p = everything("aes", rounds_per_cycle=rounds)
    bench = Bench(engines()["aes"], p)
    for cipher in ("aes128-encrypt", "aes128-decrypt"):
        check = Check(bench, cipher, f"outlives {cipher}")
        check.operate(Operation.KEY)
        check_algorithm(bench, "haraka512", f"between {cipher}", blocks=1)
        check.operate()
        check.compare()


def test_every_algorithm_has_a_code() -> None:
    assert sorted(ALGORITHMS) == list(algorithm_names())


def test_engine_is_found_by_algorithm() -> None:
    assert engine_of("sm3").name == "hash"
    with pytest.raises(
        ValueError, match=r"^algorithm must be one of aes128-decrypt, .*, not 'md5'"
    ):
        engine_of("md5")
