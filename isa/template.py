"""Template: one instruction as Python text in which only registers and immediates are open.

A template is built once for an instruction and the operand shape (which registers are x0, which
are the same, what short immediates hold). Filling it in evaluates everything that depends only
on immediates and pc, so that the text of an instruction is as short as if written by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from isa.bits import Bits, arg, arguments, const, fold, substitute_all, topological
from isa.instruction import REGISTER_SOURCES, Command, Effects, Instruction, Load, NextPc, Store
from isa.ops import carryless
from isa.program import DATA_BASE
from isa.python_source import Source, compile_function
from isa.support import collapse
from isa.table import Table

Fields = Mapping[str, int]
"""Operand fields of an instruction word, as `Instruction.decode` gives them."""
LONGEST_SPECIALISED = 5
"""Width up to which an immediate is part of the shape: byte selects, bank numbers, push counts."""


@dataclass(frozen=True)
class Template:
    """Text of one instruction shape.

    Attributes:
        body: Statements on one line, "" if there are none.
        displacement: Byte offset of a memory access whose address is rs1 plus an immediate.
        condition: When a branch is taken; None where it is no branch or always taken.
        target: Address of a static jump or branch.
        computed_target: The target is the value `n` that the body computes.
        host: Name of a host call.
    """

    body: Callable[[int, Fields], str]
    displacement: Callable[[int, Fields], int] | None = None
    condition: Callable[[int, Fields], str] | None = None
    target: Callable[[int, Fields], int] | None = None
    computed_target: bool = False
    host: str | None = None


@dataclass(frozen=True)
class _Plan:
    """Which operands of an instruction shape its template."""

    instruction: Instruction
    registers: tuple[str, ...]
    specialised: tuple[str, ...]
    open: tuple[str, ...]


class Templates:
    """The templates of one register width and data memory, built when first asked for.

    Attributes:
        tables: Name of each table that the texts read.
    """

    def __init__(self, xlen: int, data_base: int = DATA_BASE) -> None:
        self.xlen = xlen
        self.data_base = data_base
        self.tables: dict[Table, str] = {}
        self._plans: dict[int, _Plan] = {}
        self._made: dict[tuple[object, ...], Template] = {}

    def get(self, instruction: Instruction, fields: Fields, aligned: bool = False) -> Template:
        """The template that fits an instruction word.

        Args:
            instruction: The instruction.
            fields: Its operand fields.
            aligned: The address of its memory access is known to be a multiple of its size.
        """
        key = (aligned, self.shape(instruction, fields))
        found = self._made.get(key)
        if found is None:
            writer = Writer(self, instruction, aligned)
            effects = self.effects(instruction, fields)
            found = self._made[key] = writer.template(effects, fields.get("rd", 0) != 0)
        return found

    def shape(self, instruction: Instruction, fields: Fields) -> tuple[object, ...]:
        """What the template of an instruction word depends on; alike words have equal shapes."""
        plan = self._plans.get(id(instruction))
        if plan is None:
            plan = self._plans[id(instruction)] = _plan(instruction, self.xlen)
        values = [fields[r] for r in plan.registers]
        return (
            id(instruction),  # alive as long as its plan
            fields.get("rd") == 0,
            tuple([values.index(v) if v else -1 for v in values]),
            tuple([fields[i] for i in plan.specialised]),
            any([fields[i] for i in plan.open]),  # noqa: C419 - quicker than a generator
        )

    def effects(self, instruction: Instruction, fields: Fields) -> Effects:
        """Effects in which all that belongs to the shape is substituted."""
        self.shape(instruction, fields)
        plan = self._plans[id(instruction)]
        return specialise(instruction, fields, self.xlen, plan.specialised, plan.open)


@cache
def templates(xlen: int, data_base: int = DATA_BASE) -> Templates:
    """The templates of a register width and data memory; their texts can run together."""
    return Templates(xlen, data_base)


def _plan(instruction: Instruction, xlen: int) -> _Plan:
    roots = instruction.effects(xlen).values()
    amounts_only = {a.attr for a in arguments(roots)}
    for n in topological(roots):
        for i, a in enumerate(n.args):
            if a.op == "arg" and not (n.op.endswith("_var") and i == 1):
                amounts_only.discard(a.attr)
    widths = {i.name: i.width for i in instruction.encoding.immediates}
    used = {a.attr for a in arguments(roots)}
    specialised = tuple(
        name
        for name, width in widths.items()
        if name in used and width <= LONGEST_SPECIALISED and name not in amounts_only
    )
    opened = tuple(n for n in widths if n in used and n not in specialised)
    return _Plan(instruction, tuple(instruction.sources), specialised, opened)


def specialise(
    instruction: Instruction,
    fields: Fields,
    xlen: int,
    fixed: Iterable[str],
    opened: Iterable[str] = (),
) -> Effects:
    """Effects with x0 read as 0, equal registers read as one, and the `fixed` immediates known.

    The `opened` immediates stay open unless all of them are 0.
    """
    replacement: dict[Bits, Bits] = {}
    first: dict[int, str] = {}
    for r in instruction.sources:
        number = fields[r]
        if number == 0:
            replacement[arg(r, xlen)] = const(0, xlen)
        elif first.setdefault(number, r) != r:
            replacement[arg(r, xlen)] = arg(first[number], xlen)
    widths = {i.name: i.width for i in instruction.encoding.immediates}
    known = set(fixed)
    if not any(fields[i] for i in opened):
        known |= set(opened)
    for name in sorted(known):
        replacement[arg(name, widths[name])] = const(fields[name], widths[name])
    return substitute_effects(instruction.effects(xlen), replacement)


def substitute_effects(effects: Effects, replacement: Mapping[Bits, Bits]) -> Effects:
    """Replace nodes throughout a record."""
    new = iter(substitute_all(effects.values(), replacement))
    return rebuild(effects, lambda _: next(new))


def rebuild(effects: Effects, change: Callable[[Bits], Bits]) -> Effects:
    """Apply `change` to every expression of a record, in the order of `Effects.values`."""
    rd = change(effects.rd) if effects.rd is not None else None
    load = store = next_pc = None
    if effects.load:
        load = Load(change(effects.load.address), effects.load.width, effects.load.signed)
    if effects.store:
        store = Store(change(effects.store.address), change(effects.store.value))
    if effects.next_pc:
        target, condition = effects.next_pc.target, effects.next_pc.condition
        next_pc = NextPc(change(target), change(condition) if condition is not None else None)
    command = effects.command
    if command is not None:
        a, b = (None if x is None else change(x) for x in (command.a, command.b))
        command = Command(command.name, a, b, command.has_result)
    state = tuple((name, change(value)) for name, value in effects.state)
    return Effects(rd, load, store, next_pc, state, effects.host, command)


class Writer:
    """Writes one template."""

    def __init__(self, owner: Templates, instruction: Instruction, aligned: bool) -> None:
        self.owner = owner
        self.aligned = aligned
        self.static = {"pc", *instruction.immediates}
        self.scope: dict[str, Any] = {"carryless": carryless}

    def template(self, effects: Effects, writes_rd: bool) -> Template:
        """Build the template of specialised effects."""
        if not writes_rd:
            effects = replace(effects, rd=None)
        displacement = self._displacement(effects)
        if effects.load:
            address = self._offset(effects.load.address)
            effects = Effects(load=Load(address, effects.load.width, effects.load.signed))
        if effects.store:
            effects = Effects(store=Store(self._offset(effects.store.address), effects.store.value))
        roots = [r for r in effects.values() if r.op != "const"]
        collapsed = iter(collapse(roots))
        effects = rebuild(effects, lambda r: r if r.op == "const" else next(collapsed))
        if effects.next_pc:
            return self._jump(effects)
        body = self._body(effects, writes_rd)
        return Template(self._text(body), displacement, host=effects.host)

    def _offset(self, address: Bits) -> Bits:
        """Offset into data memory of an address; whatever is below it wraps to beyond the end."""
        base = const(self.owner.data_base, address.width)
        if address.op == "add":
            for a, b in (address.args, address.args[::-1]):
                if self._is_static(b):
                    return a + (b - base)
        return address - base

    def offset(self, address: Bits) -> Callable[[int, Fields], str]:
        """Text of the offset into data memory of an address."""
        offset = self._offset(address)
        source = self._source([offset])
        text = source.write([offset])[0]
        return self._text(";".join([*(f"{s}" for s in source.statements), f"o={text}"]))

    def _displacement(self, effects: Effects) -> Callable[[int, Fields], int] | None:
        access = effects.load or effects.store
        if access is None:
            return None
        address = access.address
        if address.op == "arg" and address.attr == "rs1":
            return lambda pc, f: 0
        if address.op == "add":
            base, offset = address.args
            if base.attr == "rs1" and self._is_static(offset):
                return self._number(offset)
        return None

    def _is_static(self, root: Bits) -> bool:
        return all(a.attr in self.static for a in arguments([root]))

    def _source(self, roots: list[Bits]) -> Source:
        """A text whose leaves are registers, state and whatever is known at translation."""
        leaves: dict[Bits, str] = {}

        def visit(n: Bits, below: list[bool]) -> bool:
            static = n.attr in self.static if n.op == "arg" else all(below)
            if n.op == "arg" and not static:
                leaves[n] = f"r{{f['{n.attr}']}}" if n.attr in REGISTER_SOURCES else f"s_{n.attr}"
            elif static and n.op != "const":
                leaves[n] = f"{{{self._static_text(n)}}}"
            return static

        fold(roots, visit)
        return Source(leaves, self.owner.tables)

    def _static_text(self, n: Bits) -> str:
        """Expression over `pc` and the fields `f`."""
        names = {a: "pc" if a.attr == "pc" else f"f['{a.attr}']" for a in arguments([n])}
        tables: dict[Table, str] = {}
        source = Source(names, tables)
        text = source.write([n])[0]
        if not source.statements and not tables:
            return text
        name = f"H{len(self.scope)}"
        self.scope[name] = compile_function([n], tuple(names))
        return f"{name}({','.join(names.values())})[0]"

    def _text(self, text: str) -> Callable[[int, Fields], str]:
        function: Callable[[int, Fields], str] = eval(f'lambda pc, f: f"{text}"', self.scope)
        return function  # our own text

    def _number(self, n: Bits) -> Callable[[int, Fields], int]:
        text = str(n.attr) if n.op == "const" else self._static_text(n)
        function: Callable[[int, Fields], int] = eval(f"lambda pc, f: {text}", self.scope)
        return function  # our own text

    def _jump(self, effects: Effects) -> Template:
        assert effects.next_pc is not None
        target, condition = effects.next_pc.target, effects.next_pc.condition
        static = self._is_static(target)
        roots = [] if static else [target]
        names = [] if static else ["n"]
        if effects.rd is not None:
            roots.append(effects.rd)
            names.append("r{f['rd']}")
        for state, value in effects.state:
            roots.append(value)
            names.append(f"s_{state}")
        if condition is not None:
            roots.append(condition)
        source = self._source(roots)
        texts = source.write(roots, [] if condition is None else [condition])
        test = texts.pop() if condition is not None else None
        return Template(
            self._text(";".join([*source.statements, *_assignment(names, texts)])),
            condition=None if test is None else self._text(test),
            target=self._number(target) if static else None,
            computed_target=not static,
        )

    def _body(self, effects: Effects, writes_rd: bool) -> str:
        roots = effects.values()
        source = self._source(roots)
        texts = source.write(roots)
        statements = list(source.statements)
        if effects.load:
            read = self._access(texts[0], effects.load.width, effects.load.signed)
            mask = (1 << self.owner.xlen) - 1
            if effects.load.signed and effects.load.width < self.owner.xlen:
                read = f"{read}&{mask}"
            return ";".join([*statements, f"r{{f['rd']}}={read}" if writes_rd else read])
        if effects.store:
            place = self._access(texts[0], effects.store.value.width, False)
            return ";".join([*statements, f"{place}={texts[1]}"])
        if effects.command:
            operands = iter(texts)
            a, b = (
                "0" if x is None else next(operands) for x in (effects.command.a, effects.command.b)
            )
            call = f"command({effects.command.name!r},{a},{b})"
            return ";".join([*statements, f"r{{f['rd']}}={call}" if writes_rd else call])
        names = ["r{f['rd']}"] if effects.rd is not None else []
        names += [f"s_{name}" for name, _ in effects.state]
        return ";".join([*statements, *_assignment(names, texts)])

    def _access(self, offset: str, width: int, signed: bool) -> str:
        """An element of the memory view of a width; misaligned offsets reach an empty view."""
        view = f"{'S' if signed and width < self.owner.xlen else 'U'}{width}"
        size = width // 8
        if size == 1:
            return f"{view}[{offset}]"
        shift = size.bit_length() - 1
        if self.aligned:
            return f"{view}[({offset})>>{shift}]"
        return f"W{view}[(t:={offset})&{size - 1}][t>>{shift}]"


def _assignment(names: list[str], texts: list[str]) -> list[str]:
    """One simultaneous assignment, without those that change nothing."""
    pairs = [(n, t) for n, t in zip(names, texts, strict=True) if n != t]
    if not pairs:
        return []
    return [f"{','.join(n for n, _ in pairs)}={','.join(t for _, t in pairs)}"]
