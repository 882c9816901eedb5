"""Costs of engines: what is left out or shared saves gates, and stages shorten paths."""

from __future__ import annotations

from functools import cache

import pytest

from hw.area import Cost, estimate
from hw.coprocessors.engines import engines
from hw.technology import technology
from tests.hw.coprocessors.engines.bench import Member, built

HASHES = ("sha256", "sha512", "sm3")
AES = ("aes128-decrypt", "aes128-encrypt")


@cache
def cost(name: str, p: Member) -> Cost:
    return estimate(built(engines()[name], p), technology("ge"))


def area(name: str, *algorithms: str, sbox: str = "table") -> float:
    return cost(name, Member(algorithms, aes_sbox=sbox)).area_ge


@pytest.mark.parametrize("name", sorted(engines()))
def test_leaving_one_out_saves_gates(name: str) -> None:
    """Each but one of SHA3-256 and SHAKE256, which differ in the padding alone."""
    everything = tuple(sorted(engines()[name].algorithms))
    for missing in everything:
        rest = tuple(a for a in everything if a != missing)
        if rest and missing not in ("sha3-256", "shake256"):
            assert area(name, *rest) < area(name, *everything), missing


def test_hashes_share_registers_and_adders() -> None:
    """Together they take less than two thirds of three engines."""
    separate = sum(area("hash", name) for name in HASHES)
    assert area("hash", *HASHES) < 0.66 * separate
    assert area("hash", "sha256", "sha512") < 1.1 * area("hash", "sha512")


def test_aes_and_haraka_share_rounds() -> None:
    separate = area("aes", *AES) + area("aes", "haraka256", "haraka512")
    assert area("aes", *AES, "haraka256", "haraka512") < 0.9 * separate


def test_sponges_share_the_permutation() -> None:
    names = ("sha3-256", "shake128", "shake256")
    assert area("keccak", *names) < 1.2 * max(area("keccak", name) for name in names)


def test_both_directions_share_an_inversion() -> None:
    """The composite circuit twice against one inversion for both directions."""
    assert area("aes", *AES, sbox="shared") < 0.9 * area("aes", *AES, sbox="composite")


def test_circuits_differ() -> None:
    """The smallest circuit is a third smaller than tables; the low-depth one is the fastest."""
    areas = {s: area("aes", *AES[1:], sbox=s) for s in ("table", "boyar_peralta", "low_depth")}
    delays = {
        s: cost("aes", Member(AES[1:], aes_sbox=s)).delay_fo4
        for s in ("boyar_peralta", "low_depth")
    }
    assert areas["boyar_peralta"] < 0.7 * areas["table"]
    assert delays["low_depth"] < delays["boyar_peralta"]


def next_state_fo4(name: str, p: Member) -> float:
    """The longest path into a register, which leaves out that to the output port."""
    found = cost(name, p)
    ports = {"take", "busy", "ready", "out"}
    return max(value for sink, value in found.arrivals if sink not in ports)


QUICK = {("hash", 1): (0.65, 0.5, 0.5), ("ascon", 4): (0.6, 0.45, 0.35)}
SLOW = {
    ("hash", 2): (0.6, 0.45, 0.4),
    ("hash", 4): (0.6, 0.4, 0.35),
    ("aes", 1): (0.65, 0.5, 0.45),
    ("sm4", 1): (0.9, 0.7, 0.6),
    ("sm4", 4): (0.6, 0.45, 0.4),
    ("ghash", 4): (0.7, 0.65, 0.65),
    ("keccak", 1): (0.95, 0.95, 0.95),
    ("keccak", 2): (0.65, 0.6, 0.6),
    ("keccak", 4): (0.6, 0.45, 0.4),
}


@pytest.mark.parametrize(
    ("name", "rounds", "ratios"),
    [
        *((*member, ratios) for member, ratios in QUICK.items()),
        *(pytest.param(*m, ratios, marks=pytest.mark.slow) for m, ratios in SLOW.items()),
    ],
)
def test_stages_shorten_the_path(name: str, rounds: int, ratios: tuple[float, ...]) -> None:
    """Ratios of the path with 2, 3 and 4 stages to that with 1, at most."""
    algorithms = tuple(sorted(engines()[name].algorithms))
    paths = [
        next_state_fo4(name, Member(algorithms, 64, rounds, s, "boyar_peralta"))
        for s in (1, 2, 3, 4)
    ]
    assert paths == sorted(paths, reverse=True)
    for path, ratio in zip(paths[1:], ratios, strict=True):
        assert path <= ratio * paths[0], [round(x, 1) for x in paths]


@pytest.mark.slow
def test_more_rounds_take_fewer_cycles_and_more_gates() -> None:
    for name, engine in engines().items():
        algorithms = tuple(sorted(engine.algorithms))
        members = [Member(algorithms, rounds_per_cycle=r) for r in (1, 2, 4)]
        members = [p for p in members if engine.rounds(p) == p.rounds_per_cycle]
        costs = [cost(name, p).area_ge for p in members]
        cycles = [sum(engine.run_cycles(p, a) for a in algorithms) for p in members]
        assert costs == sorted(set(costs)), name
        assert cycles == sorted(set(cycles), reverse=True), name
