"""Run a traced kernel on bytes, without the compiler: an independent check of kernels."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from isa.bits import Bits, apply
from isa.kernel import Kernel, LoadEffect, LoopEffect, ProductEffect, StoreEffect, trace
from isa.table import Table
from workloads.workload import Kernel as Variant
from workloads.workload import Workload


def layout(table: Table) -> bytes:
    """A table in memory: entries in order, little-endian."""
    return b"".join(e.to_bytes(table.width // 8, "little") for e in table.entries)


class Interpreter:
    """State of one run: memory by buffer name, values by node."""

    def __init__(self, kernel: Kernel, memory: Mapping[str, bytearray]) -> None:
        self.memory = dict(memory)
        for name, size in kernel.scratch.items():
            self.memory[name] = bytearray(b"\xa5" * size)
        for name, table in kernel.constants.items():
            self.memory[name] = bytearray(layout(table))
        self.counters: dict[str, int] = {}
        self.product = 0

    def value(self, root: Bits, known: dict[Bits, int]) -> int:
        """Evaluate a node, remembering everything below it; counters are not remembered."""
        stack = [root]
        while stack:
            n = stack[-1]
            if n in known:
                stack.pop()
                continue
            if n.op == "arg":
                known[n] = self.counters[str(n.attr)] & ((1 << n.width) - 1)
                continue
            todo = [a for a in n.args if a not in known]
            if todo:
                stack += todo
            else:
                known[n] = apply(n.op, n.width, n.attr, n.args, [known[a] for a in n.args])
        return known[root]

    def place(self, effect: LoadEffect | StoreEffect, known: dict[Bits, int]) -> int:
        terms = sum(c * self.counters[name] for name, c in effect.offset.terms)
        index = 0 if effect.index is None else self.value(effect.index, known)
        return effect.offset.constant + terms + index

    def run(self, effects: tuple[object, ...], known: dict[Bits, int]) -> None:
        """Execute effects; `known` holds the values of this execution of the body."""
        for effect in effects:
            if isinstance(effect, LoadEffect):
                data = self.memory[effect.pointer.name]
                start, size = self.place(effect, known), effect.width // 8
                assert 0 <= start <= len(data) - size, (effect.pointer.name, start)
                value = int.from_bytes(data[start : start + size], "little", signed=effect.signed)
                known[effect.result] = value & ((1 << effect.result.width) - 1)
            elif isinstance(effect, StoreEffect):
                data = self.memory[effect.pointer.name]
                start, size = self.place(effect, known), effect.width // 8
                assert 0 <= start <= len(data) - size, (effect.pointer.name, start)
                value = self.value(effect.value, known) & ((1 << effect.width) - 1)
                data[start : start + size] = value.to_bytes(size, "little")
            elif isinstance(effect, LoopEffect):
                values = [self.value(v, known) for v in effect.initial]
                for i in range(effect.count):
                    self.counters[effect.counter] = i
                    inner = dict(known)
                    inner.update(zip(effect.parameters, values, strict=True))
                    self.run(effect.body, inner)
                    values = [self.value(r, inner) for r in effect.results]
                del self.counters[effect.counter]
                known.update(zip(effect.outputs, values, strict=True))
            elif isinstance(effect, ProductEffect):
                x = self.value(effect.operand, known)
                y = sum(((row & x).bit_count() & 1) << i for i, row in enumerate(effect.matrix))
                self.product = y ^ (self.product if effect.accumulate else 0)
                known[effect.result] = self.product
            else:
                x = self.value(effect.operand, known)
                known[effect.result] = substitution(effect.mask, x)


def substitution(mask: int, x: int) -> int:
    """Eight 4-bit S-boxes by algebraic normal form, as `Builder.anf` defines them."""
    result = 0
    for n in range(8):
        nibble = x >> 4 * n & 15
        for j in range(4):
            terms = (mask >> (16 * j + 15 - k) & 1 for k in range(16) if k & nibble == k)
            result |= (sum(terms) & 1) << 4 * n + j
    return result


_traced = lru_cache(maxsize=2)(trace)
"""One kernel is interpreted for several inputs in a row."""


def interpret(
    workload: Workload,
    variant: Variant,
    inputs: Mapping[str, bytes],
    xlen: int = 32,
    unroll: int | str = 1,
) -> dict[str, bytes]:
    """Final contents of the "out" and "inout" buffers."""
    kernel = _traced(variant.build, xlen, unroll)
    assert [p.name for p in kernel.parameters] == [b.name for b in workload.buffers]
    memory = {
        b.name: bytearray(inputs[b.name] if b.direction != "out" else b"\xa5" * b.size_bytes)
        for b in workload.buffers
    }
    for b in workload.buffers:
        assert len(memory[b.name]) == b.size_bytes, b.name
    machine = Interpreter(kernel, memory)
    machine.run(kernel.body, {})
    for b in workload.buffers:
        if b.direction == "in":
            assert machine.memory[b.name] == inputs[b.name], b.name
    return {b.name: bytes(memory[b.name]) for b in workload.buffers if b.direction != "in"}
