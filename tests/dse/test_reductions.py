from __future__ import annotations

import itertools

from dse.design import Design
from dse.evaluator import Evaluator
from dse.reductions import Reductions
from dse.space import Space
from tests.dse.synthetic import BACKEND


def test_everything_between_offered_and_used_is_the_used(aes: Space) -> None:
    reductions = Reductions(aes)
    offered = aes.neutral.replace(
        {"zbkb": True, "zbkx": True, "zkne": True, "nluv": True, "nluv.banks": 4}
    )
    used = aes.neutral.replace({"zkne": True})
    assert reductions.apply(offered) == offered
    reductions.learn(offered, used)
    for zbkb, zbkx in itertools.product((False, True), repeat=2):
        between = offered.replace({"zbkb": zbkb, "zbkx": zbkx, "nluv.banks": 2})
        assert reductions.apply(between) == used
        assert reductions.apply(between.replace({"nluv": False, "nluv.banks": 1})) == used
        assert reductions.apply(between.replace({"zkne": False})) != used
        assert reductions.apply(between.replace({"compiler.unroll": "full"})) != used


def test_circuit_that_nothing_uses_does_not_matter(aes: Space) -> None:
    reductions = Reductions(aes)
    reductions.learn(aes.neutral.replace({"units.aes_sbox": "composite"}), aes.neutral)
    other = aes.neutral.replace({"units.aes_sbox": "boyar_peralta"})
    assert reductions.apply(other) == aes.neutral


def test_nothing_is_concluded_from_a_change_of_kernel(aes: Space) -> None:
    reductions = Reductions(aes)
    asked = aes.neutral.replace({"nluv": True, "kernel.aes128-encrypt": "nluv"})
    reductions.learn(asked, aes.neutral)
    assert reductions.apply(asked) == asked


def test_answers_are_those_of_evaluating(aes: Space) -> None:
    evaluator = Evaluator(aes, BACKEND, None, jobs=0)
    every = list(aes.designs())
    evaluator.evaluate(every[::7])
    settled = [design for design in every if evaluator.reductions.apply(design) != design]
    assert len(settled) > len(every) // 10
    fresh = Evaluator(aes, BACKEND, None, jobs=0)
    for design in settled[::11]:
        fresh.reductions = Reductions(aes)  # forget, so that it is evaluated
        assert fresh.evaluate([design])[0].canonical == evaluator.reductions.apply(design)
    assert isinstance(settled[0], Design)
