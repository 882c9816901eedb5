from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from isa.bits import Bits, concat, const, lookup, mux, node
from isa.compiler import compile_kernel
from isa.instruction_set import InstructionSet
from isa.kernel import Builder, Index, Pointer, trace
from isa.table import Table
from tests.isa.compiler.interpreter import Interpreter
from tests.isa.compiler.kernels import t_table
from tests.workloads.interpret import Interpreter as Reference

BUFFER_WORDS = 16
ADDRESSES = {"a": 0x20000, "b": 0x20100}
SMALL = Table("small", 16, tuple(random.Random(5).randrange(1 << 16) for _ in range(16)))


VARIABLE_SHIFTS = ("shl_var", "shr_var", "sar_var", "rotr_var")


class RandomKernel:
    """Builds the same random kernel each time it is traced."""

    def __init__(self, seed: int, size: int, carried: int) -> None:
        self.seed, self.size, self.carried = seed, size, carried

    def __call__(self, k: Builder) -> None:
        self.rng = random.Random(self.seed)
        self.k = k
        self.pointers = [k.pointer("a"), k.pointer("b")]
        word = k.word("n").slice(0, 32)
        self.scratch = k.scratch("scratch", 4 * BUFFER_WORDS)
        self.constants = k.constants(t_table(2))
        for i in range(BUFFER_WORDS):
            k.store(self.scratch, 4 * i, word ^ i)
        pool = self.block([word], Index((), 0), 2)
        for p, i in ((p, i) for p in self.pointers for i in range(0, BUFFER_WORDS, 5)):
            k.store(p, 4 * i, self.rng.choice(pool))

    def offset(self, i: Index, width: int) -> Index:
        step = width // 8
        free = BUFFER_WORDS * 4 // step - 8
        return i * step * self.rng.choice((0, 1, 1)) + step * self.rng.randrange(free)

    def block(self, pool: list[Bits], i: Index, depth: int) -> list[Bits]:
        """Some loads, stores, loops and expressions; returns the values that are in scope."""
        rng, k = self.rng, self.k
        pool = list(pool)
        for _ in range(rng.randrange(2, self.size)):
            kind = rng.randrange(11)
            pointer: Pointer = rng.choice([*self.pointers, self.scratch])
            width = rng.choice((32, 32, 32, 8, 16))
            if kind == 0:
                signed = rng.random() < 0.3
                loaded = k.load(pointer, self.offset(i, width), width, signed=signed)
                pool.append(loaded.slice(0, 32))
            elif kind == 1:
                k.store(pointer, self.offset(i, width), rng.choice(pool), width)
            elif kind == 2 and depth:
                pool += self.loop(pool, depth)
            elif kind == 3:
                entry = k.load(self.constants, i * 4 + 4 * rng.randrange(200))
                pool.append(entry.slice(0, 32))
            elif kind == 4:
                loaded = k.load(pointer, **self.computed(pool, i, width), width=width)
                pool.append(loaded.slice(0, 32))
            elif kind == 5:
                value = rng.choice(pool)
                k.store(pointer, **self.computed(pool, i, width), value=value, width=width)
            else:
                pool.append(self.expression(pool))
        return pool

    def computed(self, pool: list[Bits], i: Index, width: int) -> dict[str, Any]:
        """An offset and an index that depends on data; their sum lies in every buffer."""
        step = width // 8
        index = (self.rng.choice(pool) & 7) << step.bit_length() - 1
        offset = step * (i * self.rng.randrange(2) + self.rng.randrange(2))
        return {"offset": offset, "index": index.zext(self.k.xlen)}

    def loop(self, pool: list[Bits], depth: int) -> tuple[Bits, ...]:
        rng = self.rng
        initial = [rng.choice([*pool, const(rng.randrange(3), 32)]) for _ in range(self.carried)]
        state = rng.getstate()
        uses_index = rng.random() < 0.4

        def body(i: Index, *carried: Bits) -> tuple[Bits, ...]:
            rng.setstate(state)  # each unrolled copy is the same code
            rng.random()
            inner = [*pool, *carried]
            if uses_index:
                inner.append(i.bits(32))
            inner = self.block(inner, i, depth - 1)
            results = list(carried) if rng.random() < 0.3 else []
            while len(results) < len(carried):
                results.append(rng.choice(inner[-6:]))
            rng.shuffle(results)
            return tuple(results)

        outputs = self.k.loop(rng.randrange(2, 8), body, *initial)
        rng.setstate(state)
        rng.random()
        rng.random()
        return outputs

    def expression(self, pool: list[Bits]) -> Bits:
        rng = self.rng
        a, b, c = (rng.choice(pool[-8:] if rng.random() < 0.7 else pool) for _ in range(3))
        n = rng.randrange(32)
        choices: list[Callable[[], Bits]] = [
            lambda: a ^ b ^ c,
            lambda: (a & b) ^ (~a & c),
            lambda: (a | b) & ~c,
            lambda: a + b - c,
            lambda: a + rng.choice((1, -1, 0x7FF, 0x800, 0xDEADBEEF)),
            lambda: a ^ rng.getrandbits(32),
            lambda: a & rng.choice((0xFF, 0xFF00, 0x55555555, 0xFFFF0000, 0x0FFFFFF0)),
            lambda: a.rotr(n) ^ b.rotr(7) ^ (c >> 3),
            lambda: (a << n) ^ (b >> n) ^ c.sar(n),
            lambda: concat(a.byte(0), b.byte(1), c.byte(2), a.byte(3)),
            lambda: concat(a.slice(0, 16), b.slice(16, 16)),
            lambda: a.slice(min(n, 20), 11).zext(32) ^ b.slice(5, 9).sext(32),
            lambda: lookup(t_table(n % 4), a.byte(n % 4)) ^ b,
            lambda: lookup(SMALL, a.slice(min(n, 28), 4)).zext(32) + b,
            lambda: mux(rng.choice((a.ult(b), a.slt(b), a.eq(b), ~a.eq(c))), b, c),
            lambda: node(
                rng.choice(("shl_var", "shr_var", "sar_var", "rotr_var")), a, b.slice(0, 5)
            ),
            lambda: concat(a, b).rotr(n).slice(7, 32),
            lambda: (concat(a, b) + concat(b, c)).slice(20, 32),
            lambda: (a.slice(0, 8) + b.slice(8, 8)).zext(32) ^ ~c,
        ]
        return rng.choice(choices)()


def expected(
    build: RandomKernel, memory: dict[str, bytes], word: int, xlen: int
) -> dict[str, bytes]:
    kernel = trace(build, xlen, 1)
    reference = Reference(kernel, {n: bytearray(m) for n, m in memory.items()})
    names = {p.name for p in kernel.parameters if not p.is_pointer}
    reference.counters.update(dict.fromkeys(names, word))
    reference.run(kernel.body, {})
    return {n: bytes(reference.memory[n]) for n in memory}


def check(build: RandomKernel, extensions: tuple[str, ...], unroll: int | str) -> None:
    xlen = 64 if "rv64i" in extensions else 32
    instructions = InstructionSet.of(xlen, *(extensions if xlen == 64 else ("rv32i", *extensions)))
    rng = random.Random(build.seed)
    memory = {n: rng.randbytes(4 * BUFFER_WORDS) for n in ADDRESSES}
    word = rng.getrandbits(xlen)
    program = compile_kernel(build, instructions, unroll=unroll)
    run = Interpreter(program, instructions)
    for name, data in memory.items():
        run.write(ADDRESSES[name], data)
    run.run([*ADDRESSES.values(), word])
    found = {n: run.read(a, 4 * BUFFER_WORDS) for n, a in ADDRESSES.items()}
    assert found == expected(build, memory, word, xlen)


SETS = [(), ("zbkb",), ("zkne", "zbkb", "zbkx"), ("zbb", "zba")]
SETS_64 = [("rv64i",), ("rv64i", "m", "zba", "zbb"), ("rv64i", "zbkb", "zkn", "zks")]


@pytest.mark.parametrize("seed", range(24))
def test_random_kernels_compute_what_their_bits_say(seed):
    build = RandomKernel(seed, size=9, carried=seed % 5)
    check(build, SETS[seed % 4], (1, 2, "full")[seed % 3])


@pytest.mark.parametrize("seed", range(12))
def test_words_in_wider_registers(seed):
    """The same kernels, on values of 32 bits, for RV64."""
    build = RandomKernel(seed, size=9, carried=seed % 5)
    check(build, SETS_64[seed % 3], (1, 2, "full")[seed % 2])


@pytest.mark.parametrize("seed", range(8))
def test_more_values_than_registers(seed):
    """Loops that carry more than fits: parameters live in memory, values are spilled."""
    check(RandomKernel(100 + seed, size=12, carried=12 + 4 * seed), SETS[seed % 2], 1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(300))
def test_many_random_kernels(seed):
    build = RandomKernel(1000 + seed, size=6 + seed % 12, carried=seed % 37)
    check(build, [*SETS, *SETS_64][seed % 7], (1, 1, 2, 3, "full")[seed % 5])
