"""Kernel: structured intermediate code of a workload, and the `Builder` that traces it.

A kernel is an ordered list of effects (loads, stores, loops, stateful operations) between which
pure `Bits` expressions float freely. What an effect produces is an argument node that stands for
its value. Loops are functional: values carried in, values carried out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from isa.bits import Bits, arg, const
from isa.table import Table

Unroll = int | str | None
FULL = "full"


class UnsupportedKernel(ValueError):
    """A kernel asks for what the instruction set cannot do."""


class KernelError(ValueError):
    """A kernel is malformed."""


@dataclass(frozen=True)
class Index:
    """An affine function of loop counters: `constant` + sum of coefficient * counter.

    Attributes:
        terms: (counter name, coefficient), sorted, no coefficient 0.
        constant: What is added.
    """

    terms: tuple[tuple[str, int], ...] = ()
    constant: int = 0

    @classmethod
    def of(cls, value: Index | int) -> Index:
        """Turn a plain int into a constant index."""
        return value if isinstance(value, Index) else cls((), value)

    def __add__(self, other: Index | int) -> Index:
        other = Index.of(other)
        total = dict(self.terms)
        for name, coefficient in other.terms:
            total[name] = total.get(name, 0) + coefficient
        terms = tuple(sorted((n, c) for n, c in total.items() if c))
        return Index(terms, self.constant + other.constant)

    def __mul__(self, factor: int) -> Index:
        if not isinstance(factor, int):
            raise TypeError(f"an Index can be multiplied by an int only, not {factor!r}")
        terms = tuple((n, c * factor) for n, c in self.terms if factor)
        return Index(terms, self.constant * factor)

    def __neg__(self) -> Index:
        return self * -1

    def __sub__(self, other: Index | int) -> Index:
        return self + -Index.of(other)

    def __rsub__(self, other: int) -> Index:
        return -self + other

    __radd__ = __add__
    __rmul__ = __mul__

    def bits(self, width: int) -> Bits:
        """The index as a value of `width` bits."""
        total = const(self.constant, width)
        for name, coefficient in self.terms:
            scaled = arg(name, width)
            if coefficient & (coefficient - 1) == 0:
                scaled = scaled << coefficient.bit_length() - 1
            else:
                scaled = scaled * coefficient
            total = scaled + total
        return total


@dataclass(frozen=True)
class Pointer:
    """A named buffer; different buffers never overlap.

    Attributes:
        name: Unique in the kernel.
        kind: "parameter", "scratch" (on the stack) or "constant" (in the data image).
    """

    name: str
    kind: str = "parameter"


@dataclass(frozen=True)
class Parameter:
    """An argument of the kernel, in registers a0 to a7 in order."""

    name: str
    is_pointer: bool


@dataclass(frozen=True, eq=False)
class LoadEffect:
    """Reads `width` bits at `pointer` + `offset`, little-endian, extended to `result.width`.

    With an `index` the address is that much higher: a value known when the kernel runs.
    """

    result: Bits
    pointer: Pointer
    offset: Index
    width: int
    signed: bool
    index: Bits | None = None


@dataclass(frozen=True, eq=False)
class StoreEffect:
    """Writes the low `width` bits of `value` at the address of a `LoadEffect`, little-endian."""

    pointer: Pointer
    offset: Index
    value: Bits
    width: int
    index: Bits | None = None


@dataclass(frozen=True, eq=False)
class ProductEffect:
    """`result` = `matrix` times `operand` over GF(2); with `accumulate` plus the product before.

    `matrix` holds 32 rows; bit i of the product is the parity of row i and the operand.
    """

    result: Bits
    matrix: tuple[int, ...]
    operand: Bits
    accumulate: bool


@dataclass(frozen=True, eq=False)
class SubstitutionEffect:
    """`result` = eight parallel 4-bit S-boxes on `operand`, given as a 64-bit ANF mask."""

    result: Bits
    mask: int
    operand: Bits


@dataclass(frozen=True, eq=False)
class LoopEffect:
    """Runs `body` `count` (at least 2) times.

    Attributes:
        counter: Name of the counter, 0 to `count` - 1.
        initial: Values carried into the first iteration.
        parameters: Argument nodes that stand for the carried values at the start of an iteration.
        results: Values carried out of an iteration.
        outputs: Argument nodes that stand for the results of the last iteration.
    """

    counter: str
    count: int
    initial: tuple[Bits, ...]
    parameters: tuple[Bits, ...]
    body: tuple[Effect, ...]
    results: tuple[Bits, ...]
    outputs: tuple[Bits, ...]


Effect = LoadEffect | StoreEffect | ProductEffect | SubstitutionEffect | LoopEffect


@dataclass(frozen=True)
class Kernel:
    """A traced kernel.

    Attributes:
        parameters: In the order of the argument registers.
        scratch: Bytes of each stack buffer.
        constants: Constant tables that are read by address.
        body: Effects in program order.
    """

    parameters: tuple[Parameter, ...]
    scratch: dict[str, int]
    constants: dict[str, Table]
    body: tuple[Effect, ...]


@dataclass
class Builder:
    """Traces a kernel function: `build(k)` calls these methods in program order.

    Attributes:
        xlen: Register width in bits.
        unroll: How often loop bodies are repeated: 1, 2, 4, .. or "full".
    """

    xlen: int = 32
    unroll: int | str = 1
    _parameters: list[Parameter] = field(default_factory=list)
    _scratch: dict[str, int] = field(default_factory=dict)
    _constants: dict[str, Table] = field(default_factory=dict)
    _effects: list[Effect] = field(default_factory=list)
    _serial: int = 0

    def __post_init__(self) -> None:
        if self.unroll != FULL and (not isinstance(self.unroll, int) or self.unroll < 1):
            raise KernelError(f"unroll must be a positive int or 'full', not {self.unroll!r}")

    def pointer(self, name: str) -> Pointer:
        """Declare the next argument: the address of a buffer, aligned to a register."""
        self._declare(name, is_pointer=True)
        return Pointer(name)

    def word(self, name: str) -> Bits:
        """Declare the next argument: a plain word of xlen bits."""
        self._declare(name, is_pointer=False)
        return arg(name, self.xlen)

    def _declare(self, name: str, *, is_pointer: bool) -> None:
        self._claim(name)
        if len(self._parameters) == 8:
            raise KernelError(f"a kernel must take at most 8 arguments; {name} is the ninth")
        self._parameters.append(Parameter(name, is_pointer))

    def _claim(self, name: str) -> None:
        taken = {p.name for p in self._parameters} | set(self._scratch) | set(self._constants)
        if name in taken:
            raise KernelError(f"name {name!r} must be used once in a kernel")

    def scratch(self, name: str, size_bytes: int) -> Pointer:
        """Reserve a buffer on the stack; its content is undefined at the start."""
        self._claim(name)
        self._scratch[name] = size_bytes
        return Pointer(name, "scratch")

    def constants(self, table: Table) -> Pointer:
        """Place a table in the data image, to be read with `load`."""
        if self._constants.get(table.name) != table:
            self._claim(table.name)
        self._constants[table.name] = table
        return Pointer(table.name, "constant")

    def _fresh(self, kind: str, width: int) -> Bits:
        self._serial += 1
        return arg(f"{kind}.{self._serial}", width)

    def _check_access(self, offset: Index, width: int, index: Bits | None) -> None:
        if width not in (8, 16, 32, 64) or width > self.xlen:
            raise KernelError(f"width of an access must be 8 to {self.xlen} bits, not {width!r}")
        step = width // 8
        if offset.constant % step or any(c % step for _, c in offset.terms):
            raise KernelError(f"offset of a {width}-bit access must be a multiple of {step} bytes")
        if index is not None and index.width != self.xlen:
            raise KernelError(f"index of an access must have {self.xlen} bits, not {index.width}")

    def load(
        self,
        pointer: Pointer,
        offset: Index | int = 0,
        width: int = 32,
        *,
        signed: bool = False,
        index: Bits | None = None,
    ) -> Bits:
        """Read memory: `width` bits, little-endian, extended to xlen bits.

        Args:
            pointer: The buffer.
            offset: Bytes from its start, known but for counters of loops.
            width: 8, 16, 32 or 64 bits, at most xlen.
            signed: Extend by the sign instead of zeros.
            index: Further bytes, of xlen bits, computed by the kernel. The address must be aligned
                and in the buffer; a secret index is a leak.
        """
        offset = Index.of(offset)
        self._check_access(offset, width, index)
        result = self._fresh(pointer.name, self.xlen)
        self._effects.append(LoadEffect(result, pointer, offset, width, signed, index))
        return result

    def store(
        self,
        pointer: Pointer,
        offset: Index | int,
        value: Bits,
        width: int | None = None,
        *,
        index: Bits | None = None,
    ) -> None:
        """Write memory: the low `width` bits of `value`, little-endian (default: its width).

        Offset and index as of `load`.
        """
        offset = Index.of(offset)
        width = value.width if width is None else width
        self._check_access(offset, width, index)
        if pointer.kind == "constant":
            raise KernelError(f"constant table {pointer.name} must not be written")
        if value.width < width:
            raise KernelError(f"value stored must have {width} bits, not {value.width}; extend it")
        self._effects.append(StoreEffect(pointer, offset, value, width, index))

    def multiply(self, matrix: Sequence[int], x: Bits, *, accumulate: bool = False) -> Bits:
        """Multiply a 32 x 32 matrix over GF(2), given as rows (row i makes bit i), with `x`.

        With `accumulate` the result of the `multiply` before it in program order is added. Needs a
        matrix unit (NLU-V); loading the matrix is the compiler's work.
        """
        rows = tuple(matrix)
        if len(rows) != 32 or not all(0 <= r < 1 << 32 for r in rows) or x.width != 32:
            raise KernelError("multiply takes 32 rows of 32 bits and a 32-bit value")
        result = self._fresh("product", 32)
        self._effects.append(ProductEffect(result, rows, x, accumulate))
        return result

    def anf(self, mask: int, x: Bits) -> Bits:
        """Eight parallel 4-bit S-boxes given by a 64-bit ANF mask; needs NLU-V.

        Output bit j of each nibble is the sum of monomials k (bit i of k set: input bit i is a
        factor) with mask bit 16 j + 15 - k set.
        """
        if not 0 <= mask < 1 << 64 or x.width != 32:
            raise KernelError("anf takes a mask of 64 bits and a 32-bit value")
        result = self._fresh("substituted", 32)
        self._effects.append(SubstitutionEffect(result, mask, x))
        return result

    def loop(
        self,
        count: int,
        body: Callable[..., Any],
        *carried: Bits,
        unroll: int | str | bool | None = None,
    ) -> tuple[Bits, ...]:
        """Run `body(index, *carried)` `count` times; it returns the carried values of the next.

        Args:
            count: Number of iterations, at least 0.
            body: Takes the index (0 to count - 1) and the carried values; returns as many.
            carried: Values before the first iteration.
            unroll: False keeps the loop whatever the compile option; a factor overrides it.

        Returns:
            The carried values after the last iteration.
        """
        factor = self.unroll if unroll is None or unroll is True else unroll or 1
        repeat = count if factor == FULL else min(int(factor), count)
        trips = count // repeat if repeat else 0
        values = carried
        done = 0
        if trips > 1:
            values = self._rolled(trips, repeat, body, carried)
            done = trips * repeat
        for i in range(done, count):
            values = self._call(body, Index((), i), values)
        return values

    def _call(
        self, body: Callable[..., Any], i: Index, values: tuple[Bits, ...]
    ) -> tuple[Bits, ...]:
        returned = body(i, *values)
        if returned is None:
            returned = ()
        elif isinstance(returned, Bits):
            returned = (returned,)
        returned = tuple(returned)
        if [r.width for r in returned] != [v.width for v in values]:
            raise KernelError(
                f"a loop body must return values of {[v.width for v in values]} bits as it took, "
                f"not {[r.width for r in returned]}"
            )
        return returned

    def _rolled(
        self, trips: int, repeat: int, body: Callable[..., Any], carried: tuple[Bits, ...]
    ) -> tuple[Bits, ...]:
        self._serial += 1
        counter = f"i.{self._serial}"
        parameters = tuple(self._fresh("carried", v.width) for v in carried)
        outer, self._effects = self._effects, []
        values = parameters
        for step in range(repeat):
            values = self._call(body, Index(((counter, repeat),), step), values)
        effects, self._effects = tuple(self._effects), outer
        outputs = tuple(self._fresh("result", v.width) for v in carried)
        self._effects.append(
            LoopEffect(counter, trips, carried, parameters, effects, values, outputs)
        )
        return outputs

    def finish(self) -> Kernel:
        """The kernel traced so far."""
        return Kernel(
            tuple(self._parameters),
            dict(self._scratch),
            dict(self._constants),
            tuple(self._effects),
        )


def trace(build: Callable[[Builder], None], xlen: int, unroll: int | str = 1) -> Kernel:
    """Trace a kernel function."""
    builder = Builder(xlen, unroll)
    build(builder)
    return builder.finish()


def level_values(body: Iterable[Effect], results: tuple[Bits, ...]) -> list[Bits]:
    """The distinct values that the effects of one level read, and its results."""
    return list(dict.fromkeys((*_values(body), *results)))


def _values(body: Iterable[Effect]) -> Iterator[Bits]:
    """Expressions that the effects of one level read."""
    for effect in body:
        match effect:
            case StoreEffect():
                yield effect.value
                if effect.index is not None:
                    yield effect.index
            case ProductEffect() | SubstitutionEffect():
                yield effect.operand
            case LoopEffect():
                yield from effect.initial
            case LoadEffect():
                if effect.index is not None:
                    yield effect.index
