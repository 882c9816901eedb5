"""Instruction: the one record from which simulator, datapath, compiler pattern and docs derive."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

from isa.bits import Bits, arg
from isa.compressed import Compressed
from isa.encoding import Encoding, EncodingError

REGISTER_SOURCES = ("rs1", "rs2", "rs3")


@dataclass(frozen=True)
class Load:
    """A read of data memory into `rd`.

    Attributes:
        address: Byte address, xlen bits.
        width: Bits read, 8, 16, 32 or 64, little-endian.
        signed: Extend to xlen with the sign instead of zeros.
    """

    address: Bits
    width: int
    signed: bool


@dataclass(frozen=True)
class Store:
    """A write of data memory: the bits of `value`, little-endian, at byte `address`."""

    address: Bits
    value: Bits


@dataclass(frozen=True)
class NextPc:
    """A jump to `target`, taken where the one-bit `condition` is 1; None means always."""

    target: Bits
    condition: Bits | None = None


@dataclass(frozen=True)
class Command:
    """A command to the co-processor, see `isa.coprocessor`.

    Attributes:
        name: Which one.
        a: First operand, xlen bits; None stands for 0.
        b: Second operand.
        has_result: `rd` takes its result, xlen bits.
    """

    name: str
    a: Bits | None = None
    b: Bits | None = None
    has_result: bool = False


@dataclass(frozen=True)
class Effects:
    """All that executing one instruction does; what is absent does not happen.

    Attributes:
        rd: New value of the destination register, xlen bits.
        load: Memory read; its value goes to `rd`.
        store: Memory write.
        next_pc: Jump or branch.
        state: (name, new value) of each architectural state element written.
        host: Name of a host call, "ecall" or "ebreak".
        command: Command to the co-processor.
    """

    rd: Bits | None = None
    load: Load | None = None
    store: Store | None = None
    next_pc: NextPc | None = None
    state: tuple[tuple[str, Bits], ...] = ()
    host: str | None = None
    command: Command | None = None

    def values(self) -> list[Bits]:
        """Every expression in the record, in a fixed order."""
        found = [self.rd] if self.rd is not None else []
        if self.load:
            found.append(self.load.address)
        if self.store:
            found += [self.store.address, self.store.value]
        if self.next_pc:
            found.append(self.next_pc.target)
            if self.next_pc.condition is not None:
                found.append(self.next_pc.condition)
        if self.command:
            found += [x for x in (self.command.a, self.command.b) if x is not None]
        return found + [value for _, value in self.state]


Meaning = Callable[..., Bits | Effects]
AnyMeaning = TypeVar("AnyMeaning", bound=Meaning)


@dataclass(frozen=True)
class Instruction:
    """One machine instruction.

    Attributes:
        line: Encoding in riscv-opcodes syntax.
        encoding: The parsed line.
        meaning: Function of `Bits`.
        parameters: What it takes, in order: register operands (xlen bits), logical immediates
            (their field width, unextended), `pc` (xlen bits) and state elements.
        extension: Name of the extension that declares it.
        source: Document that defines it.
        xlens: Register widths for which it exists.
        state: Width in bits of each state element it may name.
        data_independent: Its latency does not depend on operand values.
    """

    line: str
    encoding: Encoding
    meaning: Meaning
    parameters: tuple[str, ...]
    extension: str
    source: str
    xlens: tuple[int, ...]
    state: Mapping[str, int]
    data_independent: bool = True

    @property
    def name(self) -> str:
        """Mnemonic."""
        return self.encoding.name

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """Register operands read."""
        return tuple(r for r in REGISTER_SOURCES if r in self.parameters)

    @cached_property
    def immediates(self) -> tuple[str, ...]:
        """Names of the logical immediates."""
        return tuple(i.name for i in self.encoding.immediates)

    @cached_property
    def reads_state(self) -> tuple[str, ...]:
        """State elements read."""
        return tuple(s for s in self.state if s in self.parameters)

    @property
    def writes_rd(self) -> bool:
        """Whether it has a destination register."""
        return "rd" in self.encoding.registers

    @cached_property
    def _traces(self) -> dict[int, Effects]:
        return {}

    def effects(self, xlen: int) -> Effects:
        """What it does, over argument nodes named as the parameters; traced once per xlen."""
        if xlen not in self._traces:
            widths = {
                **dict.fromkeys(REGISTER_SOURCES, xlen),
                "pc": xlen,
                **{i.name: i.width for i in self.encoding.immediates},
                **self.state,
            }
            result = self.meaning(*(arg(p, widths[p]) for p in self.parameters))
            self._traces[xlen] = Effects(rd=result) if isinstance(result, Bits) else result
        return self._traces[xlen]

    @cached_property
    def kind(self) -> str:
        """One of "load", "store", "branch", "jump", "device", "system" or "alu"."""
        effects = self.effects(self.xlens[0])
        if effects.load:
            return "load"
        if effects.store:
            return "store"
        if effects.next_pc:
            return "branch" if effects.next_pc.condition is not None else "jump"
        if effects.command:
            return "device"
        return "system" if effects.host else "alu"

    def encode(self, **values: int) -> int:
        """Assemble a word; see `Encoding.encode`."""
        return self.encoding.encode(**values)

    def decode(self, word: int) -> dict[str, int]:
        """Operand fields of a word; see `Encoding.decode`."""
        return self.encoding.decode(word)

    def __hash__(self) -> int:
        return hash((self.extension, self.line))

    def __repr__(self) -> str:
        return f"<Instruction {self.name}>"


class Extension:
    """A named group of instructions and the architectural state they add."""

    def __init__(
        self,
        name: str,
        *,
        source: str,
        xlens: tuple[int, ...] = (32, 64),
        state: Mapping[str, int] | None = None,
        requires: tuple[str, ...] = (),
    ) -> None:
        """Start an extension; its `instruction` decorator fills it.

        Args:
            name: As in an ISA string, lower case.
            source: Document that defines it, with version.
            xlens: Register widths for which it exists.
            state: Width in bits of each architectural state element.
            requires: Extensions without which it cannot stand.
        """
        self.name = name
        self.source = source
        self.xlens = xlens
        self.state = dict(state or {})
        self.requires = requires
        self.views: tuple[str, ...] = ()  # of kernels, see `isa.view`, in which a proposal stands
        self.instructions: list[Instruction] = []
        self.compressed: list[Compressed] = []

    def instruction(
        self,
        line: str,
        *,
        xlens: tuple[int, ...] | None = None,
        fields: Mapping[str, tuple[int, int]] | None = None,
        data_independent: bool = True,
    ) -> Callable[[AnyMeaning], AnyMeaning]:
        """Declare the decorated meaning as the instruction that `line` encodes.

        Args:
            line: riscv-opcodes syntax, so upstream lines paste in unchanged.
            xlens: Register widths, where fewer than the extension's.
            fields: (high, low) of immediates that riscv-opcodes has no name for.
            data_independent: See `Instruction`.

        Raises:
            EncodingError: The line is malformed, or lacks a parameter of the meaning.
        """

        def decorate(meaning: AnyMeaning) -> AnyMeaning:
            self.declare(
                line,
                meaning,
                tuple(inspect.signature(meaning).parameters),
                xlens=xlens,
                fields=fields,
                data_independent=data_independent,
            )
            return meaning

        return decorate

    def declare(
        self,
        line: str,
        meaning: Meaning,
        parameters: tuple[str, ...],
        *,
        xlens: tuple[int, ...] | None = None,
        fields: Mapping[str, tuple[int, int]] | None = None,
        data_independent: bool = True,
    ) -> None:
        """Declare an instruction whose meaning takes the named `parameters`; see `instruction`."""
        encoding = Encoding.parse(line, fields)
        instruction = Instruction(
            line,
            encoding,
            meaning,
            parameters,
            self.name,
            self.source,
            xlens or self.xlens,
            self.state,
            data_independent,
        )
        known = {*encoding.registers, *instruction.immediates, "pc", *self.state} - {"rd"}
        unknown = [p for p in parameters if p not in known]
        if unknown:
            raise EncodingError(
                f"{encoding.name}: meaning takes {unknown}, which the encoding does not carry"
            )
        self.instructions.append(instruction)

    def compressed_instruction(
        self,
        line: str,
        *forms: str,
        xlens: tuple[int, ...] | None = None,
        hints: tuple[str, ...] = (),
    ) -> None:
        """Declare a 16-bit encoding of instructions that are declared elsewhere.

        Args:
            line: riscv-opcodes syntax.
            forms: See `isa.compressed.Form`; the first is what it expands to.
            xlens: Register widths, where fewer than the extension's.
            hints: See `isa.compressed.Compressed`.
        """
        self.compressed.append(
            Compressed.parse(line, forms, hints, xlens or self.xlens, self.name, self.source)
        )

    def adopt(self, other: Extension, *names: str, xlens: tuple[int, ...] | None = None) -> None:
        """Declare here, too, instructions that another extension defines.

        Args:
            other: Where they are defined.
            names: Mnemonics; all of them where none is given.
            xlens: Register widths, where not those that the instruction and this extension share;
                the meanings must be written for any width.
        """
        for i in other.instructions:
            shared = xlens or tuple(x for x in i.xlens if x in self.xlens)
            if shared and (not names or i.name in names):
                self.instructions.append(
                    replace(i, extension=self.name, source=self.source, xlens=shared)
                )

    def include(self, *others: Extension) -> None:
        """Contain other extensions whole, as a bundle such as Zkn does."""
        self.requires += tuple(o.name for o in others)
        for other in others:
            self.state.update(other.state)
            known = {(i.name, i.xlens) for i in self.instructions}
            self.instructions += [i for i in other.instructions if (i.name, i.xlens) not in known]
            self.compressed += [c for c in other.compressed if c not in self.compressed]
