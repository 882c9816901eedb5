"""Every instruction chosen computes its word: choices evaluated against the words they are for."""

from __future__ import annotations

import random

import pytest

from isa.bits import evaluate
from isa.compiler.compile import repertoire_of
from isa.compiler.select import Selector
from isa.compiler.words import Word, evaluate_word
from isa.instruction_set import InstructionSet
from isa.kernel import trace
from tests.isa.compiler import kernels
from tests.isa.compiler.test_random_kernels import SETS, SETS_64, RandomKernel

KERNELS = [kernels.aes_bytes, kernels.aes_t_tables]


def values(words: list[Word], xlen: int, rng: random.Random) -> dict[Word, int | None]:
    """Values of words, leaves at random; None of what has no operator of its own."""
    known: dict[Word, int | None] = {}
    for word in sorted(words, key=lambda w: w.serial):
        if word.op in ("leaf", "symbol"):
            low = rng.getrandbits(xlen) & ((1 << word.sign) - 1)
            known[word] = (low - (low >> word.sign - 1 << word.sign)) & word.ones
        else:
            operands = [known[a] for a in word.args]
            if word.op == "permuted" or None in operands:
                known[word] = None
            else:
                known[word] = evaluate_word(word.op, word.attr, xlen, operands)
    return known


def check(build, instructions: InstructionSet, unroll: int | str) -> int:
    xlen = instructions.xlen
    selector = Selector(trace(build, xlen, unroll), repertoire_of(instructions), {})
    selector.run()
    choices = selector.cover.choices
    words: set[Word] = set()
    stack = [w for word, c in choices.items() for w in (word, c.same, *(x for _, x in c.operands))]
    while stack:
        word = stack.pop()
        if word is not None and word not in words:
            words.add(word)
            stack += word.args
    checked = 0
    for round_ in range(3):
        known = values(list(words), xlen, random.Random(round_))
        for word, choice in choices.items():
            if known[word] is None:
                continue
            assert known[word] & ~word.ones == 0
            if choice.same is not None:
                assert known[choice.same] == known[word], word
            elif choice.pattern is not None and None not in (known[x] for _, x in choice.operands):
                instruction = choice.pattern.instruction
                environment = {**dict.fromkeys(instruction.sources, 0), **choice.pattern.fixed}
                environment |= {h: known[x] for h, x in choice.operands}
                if choice.immediate is not None:
                    environment[choice.pattern.immediate.name] = choice.immediate
                rd = instruction.effects(xlen).rd
                assert evaluate(rd, environment) == known[word], (word, instruction)
                checked += 1
    return checked


@pytest.mark.parametrize("seed", range(16))
def test_random_kernels(seed):
    extensions = [*SETS, *SETS_64][seed % 7]
    base = () if "rv64i" in extensions else ("rv32i",)
    instructions = InstructionSet.of(32 if base else 64, *base, *extensions)
    assert check(RandomKernel(seed, size=12, carried=seed % 9), instructions, "full") > 20


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("extensions", [(), ("zbkb",), ("zkne", "zbkb"), ("zbb", "zbkx", "nluv")])
def test_aes(kernel, extensions):
    assert check(kernel, InstructionSet.of(32, "rv32i", *extensions), 1) > 20
