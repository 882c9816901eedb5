"""View: a kernel in another spelling, its linear layers distributed to the S-boxes.

The spelling as written is one of many with the same results. In another one an instruction may be
found that does not stand in the first: a space offers such kernels with the proposals that need
them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from isa.bits import Bits, arg, substitute
from isa.distribution import distribute, turn
from isa.kernel import (
    Builder,
    Effect,
    Index,
    Kernel,
    LoadEffect,
    LoopEffect,
    Pointer,
    ProductEffect,
    StoreEffect,
    SubstitutionEffect,
    level_values,
    trace,
)

Rewrite = Callable[[Iterable[Bits]], list[Bits]]
Build = Callable[[Builder], None]

VIEWS: dict[str, tuple[Rewrite, str]] = {
    "distributed": (distribute, "linear layers distributed to the S-boxes"),
    "turned": (turn, "sums of S-boxes turned by a byte for each"),
}
"""How values are rewritten, and what that is, by the name added to that of the kernel."""


def in_view(build: Build, view: str) -> Build:
    """The kernel that `build` traces, in another view; as it is written where nothing changes."""
    rewrite, _ = VIEWS[view]
    written: dict[int, Kernel] = {}  # by register width
    spelled: dict[int, dict[Bits, Bits]] = {}  # by level, alive as long as `written`

    def build_view(k: Builder) -> None:
        if k.xlen not in written:
            written[k.xlen] = trace(build, k.xlen)
        _Replay(k, written[k.xlen], spelled, rewrite).run()

    return build_view


def changes(build: Build, view: str, xlen: int) -> bool:
    """Whether a view differs from what is written.

    Raises:
        UnsupportedKernel: The kernel does not exist for this register width.
    """
    rewrite, _ = VIEWS[view]
    return _changes(rewrite, trace(build, xlen).body, ())


def _changes(rewrite: Rewrite, body: Iterable[Effect], results: tuple[Bits, ...]) -> bool:
    body = tuple(body)
    roots = level_values(body, results)
    if any(a is not b for a, b in zip(roots, rewrite(roots), strict=True)):
        return True
    return any(_changes(rewrite, e.body, e.results) for e in body if isinstance(e, LoopEffect))


class _Replay:
    """Traces a kernel again on another builder, each level in another view."""

    def __init__(
        self,
        builder: Builder,
        written: Kernel,
        spelled: dict[int, dict[Bits, Bits]],
        rewrite: Rewrite,
    ) -> None:
        self.builder = builder
        self.written = written
        self.spelled = spelled
        self.rewrite = rewrite
        self.pointers: dict[str, Pointer] = {}
        self.values: dict[Bits, Bits] = {}
        self.counters: dict[str, Index] = {}

    def run(self) -> None:
        """Declare what the kernel takes, then do what it does."""
        k = self.builder
        for parameter in self.written.parameters:
            if parameter.is_pointer:
                self.pointers[parameter.name] = k.pointer(parameter.name)
            else:
                k.word(parameter.name)
        for name, size in self.written.scratch.items():
            self.pointers[name] = k.scratch(name, size)
        for name, table in self.written.constants.items():
            self.pointers[name] = k.constants(table)
        self._level(self.written.body, ())

    def _level(self, body: tuple[Effect, ...], results: tuple[Bits, ...]) -> tuple[Bits, ...]:
        spelled = self.spelled.get(id(body))
        if spelled is None:
            roots = level_values(body, results)
            spelled = dict(zip(roots, self.rewrite(roots), strict=True))
            self.spelled[id(body)] = spelled
        for effect in body:
            self._effect(effect, spelled)
        return tuple(self._value(r, spelled) for r in results)

    def _value(self, root: Bits, spelled: dict[Bits, Bits]) -> Bits:
        return substitute(spelled.get(root, root), self.values)

    def _offset(self, offset: Index) -> Index:
        total = Index((), offset.constant)
        for name, coefficient in offset.terms:
            total = total + self.counters[name] * coefficient
        return total

    def _index(self, effect: LoadEffect | StoreEffect, spelled: dict[Bits, Bits]) -> Bits | None:
        return None if effect.index is None else self._value(effect.index, spelled)

    def _effect(self, effect: Effect, spelled: dict[Bits, Bits]) -> None:
        k = self.builder
        match effect:
            case LoadEffect():
                pointer = self.pointers[effect.pointer.name]
                offset = self._offset(effect.offset)
                index = self._index(effect, spelled)
                self.values[effect.result] = k.load(
                    pointer, offset, effect.width, signed=effect.signed, index=index
                )
            case StoreEffect():
                pointer = self.pointers[effect.pointer.name]
                value = self._value(effect.value, spelled)
                offset, index = self._offset(effect.offset), self._index(effect, spelled)
                k.store(pointer, offset, value, effect.width, index=index)
            case ProductEffect():
                operand = self._value(effect.operand, spelled)
                self.values[effect.result] = k.multiply(
                    effect.matrix, operand, accumulate=effect.accumulate
                )
            case SubstitutionEffect():
                operand = self._value(effect.operand, spelled)
                self.values[effect.result] = k.anf(effect.mask, operand)
            case LoopEffect():
                self._loop(effect, spelled)

    def _loop(self, effect: LoopEffect, spelled: dict[Bits, Bits]) -> None:
        def body(index: Index, *carried: Bits) -> tuple[Bits, ...]:
            self.counters[effect.counter] = index
            self.values[arg(effect.counter, self.builder.xlen)] = index.bits(self.builder.xlen)
            self.values.update(zip(effect.parameters, carried, strict=True))
            return self._level(effect.body, effect.results)

        initial = [self._value(v, spelled) for v in effect.initial]
        outputs = self.builder.loop(effect.count, body, *initial)
        self.values.update(zip(effect.outputs, outputs, strict=True))
