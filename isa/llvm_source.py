"""LLVM source: one instruction as LLVM IR text in which only operands and immediates are open.

A template is built once for an instruction and its operand shape, as in `isa.template`. Values of
w bits are LLVM integers of w bits, so every operator is one or two LLVM instructions. Meanings of
many operators become functions, so that a program that uses them often stays small.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from isa.bits import Bits, arguments, fold, topological
from isa.instruction import Effects, Instruction
from isa.ops import carryless
from isa.python_source import Source, compile_function
from isa.table import Table
from isa.template import Fields, templates

LARGEST_INLINE = 60
"""Operators beyond which a meaning becomes a function of its own."""

_DIRECT = {name: name for name in ("and", "or", "xor", "add", "sub", "mul", "shl")} | {
    **{"shr": "lshr", "sar": "ashr"},
    **{"shl_var": "shl", "shr_var": "lshr", "sar_var": "ashr"},
}
_COMPARISONS = {"eq": "eq", "ult": "ult", "slt": "slt"}

Fill = Callable[[str, int, Fields, Mapping[str, str]], tuple[str, tuple[str, ...]]]
"""(prefix of new names, pc, fields, operand names) to (statements, text of each root)."""


@dataclass(frozen=True)
class LlvmTemplate:
    """IR text of one instruction shape.

    Attributes:
        effects: What it does; of a memory access, `displacement` and rs1 may replace the address.
        fill: Writes its statements and the text of every root, in the order of `Effects.values`.
        displacement: Byte offset where the address of a memory access is rs1 plus an immediate.
        definitions: Names of the global definitions that the text uses.
        leaves: Registers and state elements that it reads.
    """

    effects: Effects
    fill: Fill
    displacement: Callable[[int, Fields], int] | None
    definitions: tuple[str, ...]
    leaves: frozenset[str]


class LlvmTemplates:
    """The templates of one register width, built when first asked for.

    Attributes:
        definitions: Text of every global that templates use, by name; those it uses come first.
    """

    def __init__(self, xlen: int) -> None:
        self.definitions: dict[str, str] = {}
        self._shapes = templates(xlen)
        self._made: dict[tuple[object, ...], LlvmTemplate] = {}
        self._tables: dict[Table, str] = {}

    def get(self, instruction: Instruction, fields: Fields) -> LlvmTemplate:
        """The template that fits an instruction word."""
        key = self._shapes.shape(instruction, fields)
        found = self._made.get(key)
        if found is None:
            effects = self._shapes.effects(instruction, fields)
            if fields.get("rd") == 0 and effects.rd is not None:
                effects = Effects(None, None, None, effects.next_pc, effects.state, effects.host)
            found = self._made[key] = _Writer(self, instruction).template(effects)
        return found

    def table(self, table: Table) -> str:
        """Name of a global constant, defined if it is new."""
        if table not in self._tables:
            name = self._tables[table] = f"@table{len(self._tables)}"
            entries = ", ".join(f"i{table.width} {e}" for e in table.entries)
            kind = f"[{len(table.entries)} x i{table.width}]"
            self.definitions[name] = f"{name} = private constant {kind} [{entries}]"
        return self._tables[table]

    def rotation(self, width: int) -> str:
        """Name of the funnel shift of a width, declared if it is new."""
        kind = f"i{width}"
        name = f"@llvm.fshr.{kind}"
        self.definitions.setdefault(name, f"declare {kind} {name}({kind}, {kind}, {kind})")
        return name

    def carryless(self, width: int) -> str:
        """Name of the carry-less product of a width, defined if it is new."""
        name = f"@carryless{width}"
        if name not in self.definitions:
            a, w = f"i{width}", f"i{2 * width}"
            lines = [f"%w = zext {a} %a to {w}", f"%r0 = add {w} 0, 0"]
            for i in range(width):
                lines += [
                    f"%b{i} = lshr {a} %b, {i}",
                    f"%c{i} = trunc {a} %b{i} to i1",
                    f"%s{i} = shl {w} %w, {i}",
                    f"%m{i} = select i1 %c{i}, {w} %s{i}, {w} 0",
                    f"%r{i + 1} = xor {w} %r{i}, %m{i}",
                ]
            self._function(name, w, f"{a} %a, {a} %b", lines, f"%r{width}")
        return name

    def _function(
        self, name: str, kind: str, parameters: str, lines: list[str], result: str
    ) -> None:
        body = "\n ".join([*lines, f"ret {kind} {result}"])
        self.definitions[name] = (
            f"define internal {kind} {name}({parameters}) noinline nounwind {{\n {body}\n}}"
        )

    def outline(self, root: Bits) -> tuple[str, list[Bits], tuple[str, ...]]:
        """A function that computes `root`: its name, its arguments, what else it uses."""
        inputs = arguments([root])
        name = f"@meaning{sum(n.startswith('@meaning') for n in self.definitions)}"
        body = _Body(self, {a: f"%a{i}" for i, a in enumerate(inputs)}, "%m")
        text = body.write(root)
        parameters = ", ".join(f"i{a.width} %a{i}" for i, a in enumerate(inputs))
        self._function(name, f"i{root.width}", parameters, body.lines, text)
        return name, inputs, (*body.definitions, name)


@cache
def llvm_templates(xlen: int) -> LlvmTemplates:
    """The templates of a register width."""
    return LlvmTemplates(xlen)


class _Body:
    """Writes statements; names of values start with `prefix`."""

    def __init__(self, owner: LlvmTemplates, leaves: dict[Bits, str], prefix: str) -> None:
        self.owner = owner
        self.lines: list[str] = []
        self.definitions: dict[str, None] = {}
        self._text: dict[Bits, str] = dict(leaves)
        self._prefix = prefix
        self._names = 0

    def write(self, root: Bits) -> str:
        """Text of a value, its statements written."""
        stack = [root]
        while stack:
            n = stack[-1]
            if n in self._text:
                stack.pop()
                continue
            todo = [a for a in n.args if a not in self._text]
            if todo:
                stack += reversed(todo)
            else:
                self._text[stack.pop()] = self._operator(n)
        return self._text[root]

    def emit(self, text: str) -> str:
        """A new value."""
        name = f"{self._prefix}{self._names}"
        self._names += 1
        self.lines.append(f"{name} = {text}")
        return name

    def use(self, name: str) -> str:
        """Note that a global definition is used."""
        self.definitions[name] = None
        return name

    def _operator(self, n: Bits) -> str:
        if n.op == "const":
            return str(n.attr)
        kind = f"i{n.width}"
        x = self._text[n.args[0]]
        first = f"i{n.args[0].width}"
        others = [self._text[a] for a in n.args[1:]]
        match n.op:
            case "not":
                return self.emit(f"xor {kind} {x}, -1")
            case "shl" | "shr" | "sar":
                return self.emit(f"{_DIRECT[n.op]} {kind} {x}, {n.attr}")
            case "shl_var" | "shr_var" | "sar_var":
                amount = self._widened(n.args[1], n.width)
                return self.emit(f"{_DIRECT[n.op]} {kind} {x}, {amount}")
            case "rotr" | "rotr_var":
                amount = self._widened(n.args[1], n.width) if others else str(n.attr)
                name = self.use(self.owner.rotation(n.width))
                return self.emit(f"call {kind} {name}({kind} {x}, {kind} {x}, {kind} {amount})")
            case "mul_wide":
                a, b = (self._widened(v, n.width) for v in n.args)
                return self.emit(f"mul {kind} {a}, {b}")
            case "clmul":
                name = self.use(self.owner.carryless(n.args[0].width))
                return self.emit(f"call {kind} {name}({first} {x}, {first} {others[0]})")
            case "concat":
                return self._concat(n)
            case "slice":
                shifted = self.emit(f"lshr {first} {x}, {n.attr}") if n.attr else x
                return self.emit(f"trunc {first} {shifted} to {kind}")
            case "zext" | "sext":
                return self.emit(f"{n.op} {first} {x} to {kind}")
            case "eq" | "ult" | "slt":
                return self.emit(f"icmp {_COMPARISONS[n.op]} {first} {x}, {others[0]}")
            case "mux":
                return self.emit(f"select i1 {x}, {kind} {others[0]}, {kind} {others[1]}")
            case "lookup":
                return self._lookup(n)
        return self.emit(f"{_DIRECT[n.op]} {kind} {x}, {others[0]}")

    def _widened(self, a: Bits, width: int) -> str:
        text = self._text[a]
        if a.width == width or a.op == "const":
            return text
        return self.emit(f"zext i{a.width} {text} to i{width}")

    def _concat(self, n: Bits) -> str:
        total, low = "", n.width
        for a in n.args:
            low -= a.width
            if a.op == "const" and a.attr == 0:
                continue
            part = self._widened(a, n.width)
            if low:
                part = self.emit(f"shl i{n.width} {part}, {low}")
            total = self.emit(f"or i{n.width} {total}, {part}") if total else part
        return total

    def _lookup(self, n: Bits) -> str:
        assert isinstance(n.attr, Table)
        name = self.use(self.owner.table(n.attr))
        index = self._widened(n.args[0], 64)
        kind = f"[{len(n.attr.entries)} x i{n.width}]"
        place = self.emit(f"getelementptr {kind}, ptr {name}, i64 0, i64 {index}")
        return self.emit(f"load i{n.width}, ptr {place}")


class _Writer:
    """Writes one template: text in which `{...}` is filled in for each instruction word."""

    def __init__(self, owner: LlvmTemplates, instruction: Instruction) -> None:
        self.owner = owner
        self.static = {"pc", *instruction.immediates}
        self.scope: dict[str, Any] = {"carryless": carryless}

    def template(self, effects: Effects) -> LlvmTemplate:
        roots = effects.values()
        leaves: dict[Bits, str] = {}
        used: set[str] = set()

        def visit(n: Bits, below: list[bool]) -> bool:
            static = n.attr in self.static if n.op == "arg" else all(below)
            if n.op == "arg" and not static:
                used.add(str(n.attr))
                leaves[n] = f"{{a['{n.attr}']}}"
            elif static and n.op != "const":
                leaves[n] = f"{{{self._static_text(n)}}}"
            return static

        fold(roots, visit)
        body = _Body(self.owner, leaves, "{p}")
        texts = [self._root(body, leaves, root) for root in roots]
        lines = "\\n ".join(body.lines)
        results = ",".join(f'f"{t}"' for t in texts)
        results = f"({results},)" if texts else "()"
        fill: Fill = eval(f'lambda p, pc, f, a: (f"{lines}", {results})', self.scope)  # our text
        return LlvmTemplate(
            effects, fill, self._displacement(effects), tuple(body.definitions), frozenset(used)
        )

    def _root(self, body: _Body, leaves: Mapping[Bits, str], root: Bits) -> str:
        inner = [n for n in topological([root]) if n.args]
        if len(inner) <= LARGEST_INLINE or root in leaves:
            return body.write(root)
        name, inputs, definitions = self.owner.outline(root)
        for used in definitions:
            body.use(used)
        given = ", ".join(f"i{a.width} {leaves[a]}" for a in inputs)
        return body.emit(f"call i{root.width} {name}({given})")

    def _displacement(self, effects: Effects) -> Callable[[int, Fields], int] | None:
        access = effects.load or effects.store
        if access is None:
            return None
        address = access.address
        if address.op == "arg" and address.attr == "rs1":
            return lambda pc, f: 0
        if address.op == "add" and address.args[0].attr == "rs1":
            offset = address.args[1]
            if all(a.attr in self.static for a in arguments([offset])):
                text = str(offset.attr) if offset.op == "const" else self._static_text(offset)
                function: Callable[[int, Fields], int]
                function = eval(f"lambda pc, f: {text}", self.scope)  # our own text
                return function
        return None

    def _static_text(self, n: Bits) -> str:
        """Python expression over `pc` and the fields `f`."""
        names = {a: "pc" if a.attr == "pc" else f"f['{a.attr}']" for a in arguments([n])}
        tables: dict[Table, str] = {}
        source = Source(names, tables)
        text = source.write([n])[0]
        if not source.statements and not tables:
            return f"({text})"
        name = f"H{len(self.scope)}"
        self.scope[name] = compile_function([n], tuple(names))
        return f"{name}({','.join(names.values())})[0]"
