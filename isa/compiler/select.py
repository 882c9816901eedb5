"""Select: from a traced kernel to regions of operations, in the kernel's own order.

Expressions are placed in the outermost region where their operands are known, which takes loop
invariants out of loops. Pointers that move with a loop are carried around it; constant offsets go
into the loads and stores.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from isa.compiler.choice import IMPOSSIBLE, Choice
from isa.compiler.constants import Constants
from isa.compiler.cover import Cover
from isa.compiler.describe import describe
from isa.compiler.frame import far_buffers
from isa.compiler.gather import Gatherer, LoopWords, Step
from isa.compiler.layout import Layout
from isa.compiler.operations import (
    FIRST_VALUE,
    STACK,
    ZERO,
    Address,
    Carried,
    Loop,
    MemoryAccess,
    Operation,
    Region,
)
from isa.compiler.patterns import Access, Pattern
from isa.compiler.repertoire import Repertoire
from isa.compiler.words import Word
from isa.kernel import (
    Index,
    Kernel,
    KernelError,
    LoadEffect,
    LoopEffect,
    Pointer,
    ProductEffect,
    StoreEffect,
    SubstitutionEffect,
    UnsupportedKernel,
)
from isa.table import Table


@dataclass(eq=False)
class Selection:
    """What the later passes work on.

    Attributes:
        root: The whole kernel.
        parameters: Values in the argument registers, in order.
        values: Number of values so far; new ones count up from it.
        tables: Tables that are read, with their layout.
    """

    root: Region
    parameters: list[int]
    values: int
    layout: Layout
    scratch: Mapping[str, int]


class Selector:
    """Selects the operations of one kernel."""

    def __init__(
        self, kernel: Kernel, repertoire: Repertoire, latencies: Mapping[str, int]
    ) -> None:
        self.kernel = kernel
        self.repertoire = repertoire
        self.xlen = repertoire.xlen
        self.latencies = latencies
        self.constants = Constants(repertoire, latencies)
        self._gathered = Gatherer(kernel, repertoire)
        self.words = self._gathered.words
        self.root = self._gathered.root
        order, uses = self._gathered.reachable()
        tables = list(dict.fromkeys(w.attr for w in order if isinstance(w.attr, Table)))
        tables += [t for t in kernel.constants.values() if t not in tables]
        self.layout = Layout(tables)
        self.cover = Cover(
            self.words,
            repertoire,
            self.constants,
            latencies,
            uses,
            lambda w: self._gathered.region_of(w).depth,
            self._gathered.frequency,
            self.layout.anchors,
        )
        roots = [w for step in self._gathered.steps for w in step.operands]
        self.cover.choose_all(order, roots)
        self._value: dict[Word, int] = {}
        self._values = FIRST_VALUE
        self._bases: dict[tuple[str, tuple[tuple[str, int], ...]], int] = {}
        self._biased: dict[tuple[int, int], int] = {}
        self._passed: list[tuple[Loop, tuple[str, tuple[tuple[str, int], ...]], int, int]] = []
        self._constant_values: dict[int | Address, int] = {}

    def run(self) -> Selection:
        """Select everything."""
        parameters = []
        for p in self.kernel.parameters:
            value = self._new_value()
            parameters.append(value)
            if p.is_pointer:
                self._bases[p.name, ()] = value
            else:
                self._value[self.words.leaf(p.name)] = value
        for step in self._gathered.steps:
            self._emit_step(step)
        return Selection(self.root, parameters, self._values, self.layout, self.kernel.scratch)

    def _new_value(self) -> int:
        self._values += 1
        return self._values - 1

    def _emit_fill(self, step: Step) -> None:
        assert step.fill is not None
        unit, fill = step.fill
        push = unit.pushes[fill.bank]
        name = unit.banks[fill.bank]
        for chunk in unit.chunks(fill.content, fill.bits):
            fixed, sources = push.fixed, tuple[tuple[str, int], ...]()
            if push.data:
                fixed = {**fixed, push.data: fixed[push.data] | chunk}
            elif chunk:
                sources = (("rs1", self._passing_constant(chunk, step.region)),)
            latency = self._latency(push.instruction.name)
            operation = Operation(push.instruction, fixed, sources, None, latency=latency)
            operation.state = ((name, True),)
            operation.order = step.order
            operation.is_effect = True
            operation.text = f"fill {name}"
            step.region.items.append(operation)

    def _emit_stateful(self, step: Step, effect: ProductEffect | SubstitutionEffect) -> None:
        unit, plan = next((u, p) for kind, u, p in self._gathered.plans if isinstance(effect, kind))
        bank = plan.bank_of[id(effect)]
        uses = unit.uses
        if isinstance(effect, ProductEffect) and effect.accumulate:
            uses = unit.accumulates
            if not uses:
                raise UnsupportedKernel(
                    "the matrix unit must be able to add the product before, which it is not"
                )
        use = uses[bank]
        self._demand(step.operands[0])
        result = self._new_value()
        operand = self._value_of(step.operands[0])
        sources = (("rs1", operand),) if operand != ZERO else ()
        latency = self._latency(use.instruction.name)
        operation = Operation(use.instruction, use.fixed, sources, result, latency=latency)
        operation.state = ((unit.banks[bank], False), *((n, True) for n in unit.history))
        operation.order = step.order
        operation.is_effect = bool(unit.history)
        operation.text = f"{unit.banks[bank]} on {describe(step.operands[0], self._gathered.texts)}"
        step.region.items.append(operation)
        self._value[self.words.leaf(str(effect.result.attr))] = result

    # Emission.

    def _emit_step(self, step: Step) -> None:
        effect = step.effect
        for word in step.operands:
            self._check_scope(word, step.region)
        if step.fill is not None:
            self._emit_fill(step)
        elif isinstance(effect, ProductEffect | SubstitutionEffect):
            self._emit_stateful(step, effect)
        elif isinstance(effect, StoreEffect):
            for word in step.operands:
                self._demand(word)
            self._store(step, effect)
        elif isinstance(effect, LoopEffect):
            assert step.loop is not None
            if step.ends:
                self._end_loop(step.loop)
            else:
                self._begin_loop(step.loop, step.region)

    def _check_scope(self, word: Word, region: Region | None) -> None:
        """Values live in the region that defines them and in the loops inside it."""
        home = self._gathered.region_of(word)
        while region is not None and region is not home:
            region = region.parent
        if region is None:
            text = describe(word, self._gathered.texts)
            raise KernelError(
                f"{text} must be used inside the loop that defines it; carry it out as a result"
            )

    def _begin_loop(self, words: LoopWords, region: Region) -> None:
        loop = words.loop
        for parameter, initial in zip(words.parameters, words.initial, strict=True):
            self._demand(initial)
            value = self._new_value()
            self._value[parameter] = value
            loop.carried.append(Carried(value, self._value_of(initial), -1, self._new_value()))
        region.items.append(loop)

    def _end_loop(self, words: LoopWords) -> None:
        loop = words.loop
        for carried, result, output in zip(
            list(loop.carried[: len(words.results)]), words.results, words.outputs, strict=True
        ):
            self._demand(result)
            carried.result = self._value_of(result)
            self._value[output] = carried.output
        self._close(loop)

    def _close(self, loop: Loop) -> None:
        """Count iterations: a pointer that moves is compared with its end, else a counter runs."""
        assert loop.body.parent is not None
        jump = self.repertoire.branch_different
        if jump is None:
            raise UnsupportedKernel("the instruction set must have a branch if not equal")
        sources: tuple[tuple[str, int], ...]
        steps = [p for p in self._passed if p[0] is loop and p[3]]
        if steps:
            _, _, parameter, step = steps[0]
            carried = next(c for c in loop.carried if c.parameter == parameter)
            end = self._sum(carried.initial, loop.count * step, loop.body.parent, "end")
            sources = ((jump.sources[0], carried.result), (jump.sources[1], end))
        else:
            parameter = self._new_value()
            initial = self._constant(loop.count)
            result = self._sum(parameter, -1, loop.body, "iterations left")
            loop.carried.append(Carried(parameter, initial, result, self._new_value()))
            sources = ((jump.sources[0], result),)
        loop.branch = Operation(
            jump.instruction, {}, sources, None, jump.offset, order=len(self._gathered.steps)
        )

    def _value_of(self, word: Word) -> int:
        return ZERO if word is self.words.zero else self._value[word]

    def _demand(self, root: Word) -> None:
        """Emit what a word needs, then the word; iterative, as kernels are deep."""
        stack = [root]
        while stack:
            word = stack[-1]
            if word in self._value or word is self.words.zero:
                stack.pop()
                continue
            choice = self.cover.choose(word)
            load = self._gathered.loads.get(word)
            needs = load.operands if load is not None else ()
            if choice is not None:
                if choice.cost == IMPOSSIBLE:
                    raise self._unsupported(word)
                needs = (choice.same,) if choice.same else tuple(w for _, w in choice.operands)
            todo = [w for w in needs if w not in self._value and w is not self.words.zero]
            if todo:
                stack += reversed(todo)
            else:
                stack.pop()
                self._value[word] = self._emit(word, choice)

    def _unsupported(self, word: Word) -> UnsupportedKernel:
        """Name the deepest word that cannot be computed."""
        while True:
            below = [a for a in word.args if self.cover.flow(a) == IMPOSSIBLE]
            if not below:
                break
            word = below[0]
        what = f"lookup in {word.attr.name}" if isinstance(word.attr, Table) else word.op
        return UnsupportedKernel(
            f"kernel needs {what} of {self.xlen} bits, which no instruction of the set computes; "
            f"add an extension that has it or choose another variant of the kernel"
        )

    def _emit(self, word: Word, choice: Choice | None) -> int:
        if choice is None:
            return self._emit_leaf(word)
        if choice.same is not None:
            return self._value_of(choice.same)
        if word.op == "const":
            return self._constant(word.value)
        if word.op == "symbol":
            return self._constant(Address("anchor", str(word.attr)))
        sources = tuple((h, self._value_of(w)) for h, w in choice.operands)
        result = self._new_value()
        if choice.table is not None:
            assert choice.access is not None
            operation = self._operation(choice.access, sources, result)
            operation.immediate = Address("table", choice.table.name)
            self.layout.use(choice.table)
        else:
            assert choice.pattern is not None
            operation = self._computation(choice.pattern, sources, result)
            if choice.pattern.immediate is not None:
                operation.solver = None
                assert choice.immediate is not None
                operation.fixed = {
                    **choice.pattern.fixed,
                    choice.pattern.immediate.name: choice.immediate,
                }
        operation.text = describe(word, self._gathered.texts)
        self._gathered.region_of(word).items.append(operation)
        return result

    def _latency(self, name: str) -> int:
        return self.latencies.get(name, 1)

    def _computation(
        self, pattern: Pattern, sources: tuple[tuple[str, int], ...], result: int
    ) -> Operation:
        instruction = pattern.instruction
        sources = tuple(s for s in sources if s[1] != ZERO)
        return Operation(
            instruction, pattern.fixed, sources, result, latency=self._latency(instruction.name)
        )

    def _operation(
        self, access: Access, sources: tuple[tuple[str, int], ...], result: int | None
    ) -> Operation:
        instruction = access.instruction
        sources = tuple(s for s in sources if s[1] != ZERO)
        return Operation(
            instruction,
            {},
            sources,
            result,
            access.offset,
            latency=self._latency(instruction.name),
        )

    def _constant(self, immediate: int | Address) -> int:
        """A constant in a register; in the outermost region, once."""
        if immediate == 0:
            return ZERO
        if immediate not in self._constant_values:
            value = self._new_value()
            text = f"{immediate:#x}"[:18] if isinstance(immediate, int) else immediate.name
            self.root.items.append(Operation(None, {}, (), value, None, immediate, text=text))
            self._constant_values[immediate] = value
        return self._constant_values[immediate]

    def _passing_constant(self, immediate: int, region: Region) -> int:
        """A constant in a register for the one operation that comes next."""
        value = self._new_value()
        text = f"{immediate:#x}"
        region.items.append(Operation(None, {}, (), value, None, immediate, text=text))
        return value

    def _sum(self, value: int, addend: int, region: Region, text: str) -> int:
        """Value + constant."""
        mask = self.words.mask
        for accumulate in self.repertoire.accumulate_immediate["add"]:
            pattern = accumulate.pattern
            assert pattern.immediate is not None
            field = pattern.immediate.solve(addend & mask)
            if field is not None:
                result = self._new_value()
                operation = self._computation(pattern, ((accumulate.acc, value),), result)
                operation.fixed = {**pattern.fixed, pattern.immediate.name: field}
                break
        else:
            other = self._constant(addend & mask)
            plain = self.repertoire.accumulate["add"][self.words.labels.identity][0]
            result = self._new_value()
            sources = ((plain.acc, value), (plain.x, other))
            operation = self._computation(plain.pattern, sources, result)
        operation.text = text
        region.items.append(operation)
        return result

    def _emit_leaf(self, word: Word) -> int:
        step = self._gathered.loads.get(word)
        if step is not None:
            assert isinstance(step.effect, LoadEffect)
            return self._load(step, step.effect, word)
        base = self._gathered.bases.get(word)
        if base is not None:
            return self._moving(*base)
        counter = self._gathered.counters.get(word)
        if counter is not None:
            loop = self._gathered.loops[counter]
            parameter = self._new_value()
            result = self._sum(parameter, 1, loop.body, "next index")
            carried = Carried(parameter, ZERO, result, self._new_value())
            loop.carried.append(carried)
            self._passed.append((loop, ("", ()), parameter, 1))
            return parameter
        raise KernelError(f"value {word.attr} must be used inside the loop that defines it")

    # Memory.

    def _load(self, step: Step, effect: LoadEffect, word: Word) -> int:
        loads = self.repertoire.loads
        signed = self._gathered.signed_load(effect)
        access = loads.get((effect.width, signed))
        if access is None and effect.width == self.xlen:
            access = loads.get((effect.width, not signed))
        if access is None:
            raise UnsupportedKernel(
                f"the instruction set must have a load of {effect.width} bits for this kernel"
            )
        result = self._new_value()
        base, immediate = self._address(effect, step, access)
        operation = self._operation(access, ((access.base, base),), result)
        operation.immediate = immediate
        operation.order = step.order
        operation.text = self._gathered.texts[str(word.attr)]
        if effect.pointer.kind != "constant":
            operation.memory = self._memory(effect, base, is_store=False)
        step.region.items.append(operation)
        return result

    def _store(self, step: Step, effect: StoreEffect) -> None:
        access = self.repertoire.stores.get(effect.width)
        if access is None:
            raise UnsupportedKernel(
                f"the instruction set must have a store of {effect.width} bits for this kernel"
            )
        assert access.value is not None
        base, immediate = self._address(effect, step, access)
        sources = ((access.base, base), (access.value, self._value_of(step.operands[0])))
        operation = self._operation(access, sources, None)
        operation.immediate = immediate
        operation.order = step.order
        operation.is_effect = True
        operation.text = self._gathered.place(effect)
        operation.memory = self._memory(effect, base, is_store=True)
        step.region.items.append(operation)

    def _memory(
        self, effect: LoadEffect | StoreEffect, base: int, *, is_store: bool
    ) -> MemoryAccess:
        low, terms = effect.offset.constant, effect.offset.terms
        if effect.index is not None:
            terms = (*terms, ("index", base))
        return MemoryAccess(effect.pointer.name, terms, low, low + effect.width // 8, is_store)

    def _address(
        self, effect: LoadEffect | StoreEffect, step: Step, access: Access
    ) -> tuple[int, int | Address]:
        """Base register value and immediate of an access."""
        pointer, offset = effect.pointer, effect.offset
        constant = offset.constant
        if effect.index is not None:
            base = self._value_of(step.operands[-1])
        else:
            base = self._moving(pointer, offset.terms)
            passed = self._latest(pointer, offset, step, access)
            if passed is not None:
                return passed
        if not offset.terms and pointer.kind == "scratch" and not self._is_far(pointer):
            return base, Address("frame", pointer.name, constant)
        if not offset.terms and pointer.kind == "constant":
            return base, Address("table", pointer.name, constant)
        if access.offset.solve(constant & self.words.mask) is None:
            high = (constant + 0x800) & ~0xFFF
            key = (base, high)
            if key not in self._biased:
                region = self._moving_region(offset.terms)
                if effect.index is not None:
                    region = self._gathered.region_of(step.operands[-1])
                self._biased[key] = self._sum(base, high, region, f"{pointer.name} + {high:#x}")
            base, constant = self._biased[key], constant - high
        return base, constant & self.words.mask

    def _latest(
        self, pointer: Pointer, offset: Index, step: Step, access: Access
    ) -> tuple[int, int] | None:
        """A pointer that a loop before this access has left behind: it frees the original."""
        for loop, key, parameter, move in reversed(self._passed):
            name, terms = key
            if name != pointer.name or not move or loop.body.parent is not step.region:
                continue
            rest = tuple(t for t in terms if t[0] != loop.name)
            if rest != offset.terms or step.order < loop.order or loop.branch is None:
                continue
            immediate = offset.constant - loop.count * move & self.words.mask
            if access.offset.solve(immediate) is not None:
                carried = next(c for c in loop.carried if c.parameter == parameter)
                return carried.output, immediate
        return None

    def _moving_region(self, terms: tuple[tuple[str, int], ...]) -> Region:
        loops = [self._gathered.loops[name] for name, _ in terms]
        return max((x.body for x in loops), key=lambda r: r.depth, default=self.root)

    def _moving(self, pointer: Pointer, terms: tuple[tuple[str, int], ...]) -> int:
        """Value of pointer + terms, carried around the loops whose counters occur."""
        key = (pointer.name, terms)
        if key in self._bases:
            return self._bases[key]
        if not terms:
            if pointer.kind == "scratch":
                return self._far_address(pointer) if self._is_far(pointer) else STACK
            self.layout.use(self.kernel.constants[pointer.name])
            return self._constant(Address("anchor", self.layout.anchors[pointer.name]))
        loop = max((self._gathered.loops[n] for n, _ in terms), key=lambda x: x.body.depth)
        rest = tuple(t for t in terms if t[0] != loop.name)
        move = dict(terms)[loop.name]
        if rest or pointer.kind == "parameter":
            initial = self._moving(pointer, rest)
        elif pointer.kind == "constant":
            self.layout.use(self.kernel.constants[pointer.name])
            initial = self._constant(Address("absolute", pointer.name))
        elif self._is_far(pointer):
            initial = self._far_address(pointer)
        else:
            initial = self._frame_address(pointer)
        parameter = self._new_value()
        self._bases[key] = parameter
        result = self._sum(parameter, move, loop.body, f"next {pointer.name}")
        loop.carried.append(Carried(parameter, initial, result, self._new_value()))
        self._passed.append((loop, key, parameter, move))
        return parameter

    def _is_far(self, pointer: Pointer) -> bool:
        """Whether a stack buffer has an address of its own, as offsets from sp do not reach it."""
        return pointer.kind == "scratch" and pointer.name in far_buffers(self.kernel.scratch)

    def _far_address(self, pointer: Pointer) -> int:
        """Value of the address of a stack buffer that is far from sp."""
        key = (pointer.name, ())
        if key not in self._bases:
            place = self._constant(Address("frame", pointer.name))
            plain = self.repertoire.accumulate["add"][self.words.labels.identity][0]
            result = self._new_value()
            sources = ((plain.acc, STACK), (plain.x, place))
            operation = self._computation(plain.pattern, sources, result)
            operation.text = pointer.name
            self.root.items.append(operation)
            self._bases[key] = result
        return self._bases[key]

    def _frame_address(self, pointer: Pointer) -> int:
        accumulate = self.repertoire.accumulate_immediate["add"][0]
        result = self._new_value()
        operation = self._computation(accumulate.pattern, ((accumulate.acc, STACK),), result)
        operation.solver = accumulate.pattern.immediate
        operation.immediate = Address("frame", pointer.name)
        operation.text = pointer.name
        self.root.items.append(operation)
        return result
