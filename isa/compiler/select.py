"""Select: from a traced kernel to regions of operations, in the kernel's own order.

Expressions are placed in the outermost region where their operands are known, which takes loop
invariants out of loops. Pointers that move with a loop are carried around it; constant offsets go
into the loads and stores.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from isa.bits import Bits
from isa.compiler.banks import BankPlan, Fill
from isa.compiler.constants import Constants
from isa.compiler.cover import IMPOSSIBLE, Choice, Cover, table_entry_bytes
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
from isa.compiler.repertoire import Access, Pattern, Repertoire
from isa.compiler.units import Unit
from isa.compiler.words import Legaliser, Pieces, Word, Words, signed_width
from isa.kernel import (
    Effect,
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
class _LoopWords:
    """A loop while its values are still words."""

    effect: LoopEffect
    loop: Loop
    parameters: list[Word]
    initial: list[Word]
    results: list[Word]
    outputs: list[Word]


@dataclass(frozen=True, eq=False)
class _Step:
    """An effect in program order, its operands as words."""

    effect: Effect
    region: Region
    order: int
    operands: tuple[Word, ...] = ()
    loop: _LoopWords | None = None
    ends: bool = False
    fill: tuple[Unit, Fill] | None = None


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
        self.words = Words(self.xlen)
        self.constants = Constants(repertoire, latencies)
        self.root = Region(0, 1.0)
        self._legalise = Legaliser(self.words, self._leaf)
        self._leaf_region: dict[Word, Region] = {}
        self._region_of: dict[Word, Region] = {}
        self._loads: dict[Word, _Step] = {}
        self._steps: list[_Step] = []
        self._loops: dict[str, Loop] = {}
        self._frequencies: dict[int, float] = {}  # by loop depth
        self._counters: dict[Word, str] = {}
        self._counter_masks: dict[str, int] = {}
        self._value: dict[Word, int] = {}
        self._values = FIRST_VALUE
        self._bases: dict[tuple[str, tuple[tuple[str, int], ...]], int] = {}
        self._biased: dict[tuple[int, int], int] = {}
        self._passed: list[tuple[Loop, tuple[str, tuple[tuple[str, int], ...]], int, int]] = []
        self._constant_values: dict[int | Address, int] = {}
        self._texts: dict[str, str] = {}
        self._plans: list[tuple[type, Unit, BankPlan]] = []

    def run(self) -> Selection:
        """Select everything."""
        parameters = []
        for p in self.kernel.parameters:
            value = self._new_value()
            parameters.append(value)
            if p.is_pointer:
                self._bases[p.name, ()] = value
            else:
                leaf = self.words.leaf(p.name)
                self._leaf_region[leaf] = self.root
                self._value[leaf] = value
        self._plan()
        self._gather(self.kernel.body, self.root)
        order, uses = self._reachable()
        tables = list(dict.fromkeys(w.attr for w in order if isinstance(w.attr, Table)))
        tables += [t for t in self.kernel.constants.values() if t not in tables]
        self.layout = Layout(tables)
        self.cover = Cover(
            self.words,
            self.repertoire,
            self.constants,
            self.latencies,
            uses,
            lambda w: self.region_of(w).depth,
            self._frequency,
            self.layout.anchors,
        )
        self.cover.choose_all(order)
        for step in self._steps:
            self._emit_step(step)
        return Selection(self.root, parameters, self._values, self.layout, self.kernel.scratch)

    def _new_value(self) -> int:
        self._values += 1
        return self._values - 1

    # Gathering: effects in order, expressions as words.

    def _leaf(self, n: Bits) -> Pieces:
        """Words of an argument node, whose region is known once its effect was gathered."""
        pieces = []
        for i in range(0, n.width, self.xlen):
            name = str(n.attr) if n.width <= self.xlen else f"{n.attr}:{i}"
            ones = (1 << min(self.xlen, n.width - i)) - 1
            sign = None
            if n.attr in self._counter_masks:
                ones &= self._counter_masks[str(n.attr)]
            elif n.width == signed_width(self.xlen):
                ones, sign = -1, n.width
            pieces.append(self.words.leaf(name, ones, sign))
        return tuple(pieces)

    def _gather(self, effects: Iterable[Effect], region: Region) -> None:
        for effect in effects:
            for _, unit, plan in self._plans:
                for fill in plan.before.get(id(effect), ()):
                    self._steps.append(_Step(effect, region, len(self._steps), fill=(unit, fill)))
            order = len(self._steps)
            if isinstance(effect, LoadEffect):
                leaf, value = self._loaded(effect)
                self._legalise.know(effect.result, (value,))
                self._leaf_region[leaf] = region
                step = _Step(effect, region, order)
                self._loads[leaf] = step
                self._texts[str(leaf.attr)] = f"{effect.pointer.name}[{_shown(effect.offset)}]"
                self._steps.append(step)
            elif isinstance(effect, StoreEffect):
                operand = self._legalise(effect.value)[0]
                self._steps.append(_Step(effect, region, order, (operand,)))
            elif isinstance(effect, LoopEffect):
                self._gather_loop(effect, region, order)
            else:
                self._gather_stateful(effect, region)

    def _signed_load(self, effect: LoadEffect) -> bool:
        """Whether to sign-extend, as words on RV64 are also where the kernel wants zeros."""
        return effect.signed or effect.width == signed_width(self.xlen)

    def _loaded(self, effect: LoadEffect) -> tuple[Word, Word]:
        """What the load instruction gives, and the value of the effect."""
        name, width = str(effect.result.attr), effect.width
        if not self._signed_load(effect):
            leaf = self.words.leaf(name, (1 << width) - 1)
            return leaf, leaf
        leaf = self.words.leaf(name, -1, width)
        return leaf, leaf if effect.signed else self.words.move(leaf, 0, width, 0)

    def _gather_stateful(self, effect: ProductEffect | SubstitutionEffect, region: Region) -> None:
        operand = self._legalise(effect.operand)[0]
        leaf = self.words.leaf(str(effect.result.attr))
        self._leaf_region[leaf] = region
        self._steps.append(_Step(effect, region, len(self._steps), (operand,)))

    def _plan(self) -> None:
        """Find the units the kernel asks for and plan their banks."""
        wanted = {type(e) for e in _all_effects(self.kernel.body)}
        if ProductEffect in wanted:
            unit = self.repertoire.matrix_unit
            if unit is None:
                raise UnsupportedKernel(
                    "kernel multiplies with matrices, for which the instruction set has no unit; "
                    "add nluv or choose another variant of the kernel"
                )
            self._plans.append(
                (ProductEffect, unit, BankPlan(self.kernel.body, len(unit.banks), _matrix))
            )
        if SubstitutionEffect in wanted:
            unit = self.repertoire.mask_unit
            if unit is None:
                raise UnsupportedKernel(
                    "kernel substitutes by a mask, for which the instruction set has no unit; "
                    "add nluv or choose another variant of the kernel"
                )
            self._plans.append(
                (SubstitutionEffect, unit, BankPlan(self.kernel.body, len(unit.banks), _mask))
            )

    def _emit_fill(self, step: _Step) -> None:
        assert step.fill is not None
        unit, fill = step.fill
        push = unit.pushes[fill.bank]
        name = unit.banks[fill.bank]
        for chunk in unit.chunks(fill.content):
            fixed = {**push.fixed, push.data: push.fixed[push.data] | chunk}
            latency = self._latency(push.instruction.name)
            operation = Operation(push.instruction, fixed, (), None, latency=latency)
            operation.state = ((name, True),)
            operation.order = step.order
            operation.is_effect = True
            operation.text = f"fill {name}"
            step.region.items.append(operation)

    def _emit_stateful(self, step: _Step, effect: ProductEffect | SubstitutionEffect) -> None:
        unit, plan = next((u, p) for kind, u, p in self._plans if isinstance(effect, kind))
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
        operation.text = f"{unit.banks[bank]} on {self.describe(step.operands[0])}"
        step.region.items.append(operation)
        self._value[self.words.leaf(str(effect.result.attr))] = result

    def _gather_loop(self, effect: LoopEffect, region: Region, order: int) -> None:
        body = Region(region.depth + 1, region.frequency * effect.count, region)
        loop = Loop(effect.counter, effect.count, body, order)
        body.loop = loop
        self._loops[effect.counter] = loop
        known = self._frequencies.get(body.depth, 1.0)
        self._frequencies[body.depth] = max(known, body.frequency)
        self._counter_masks[effect.counter] = (1 << (effect.count - 1).bit_length()) - 1
        counter = self.words.leaf(effect.counter, self._counter_masks[effect.counter])
        self._counters[counter] = effect.counter
        self._leaf_region[counter] = body
        words = _LoopWords(effect, loop, [], [], [], [])
        for parameter, output, initial in zip(
            effect.parameters, effect.outputs, effect.initial, strict=True
        ):
            words.initial += self._legalise(initial)
            for leaf in self._leaf(parameter):
                self._leaf_region[leaf] = body
                words.parameters.append(leaf)
            for leaf in self._leaf(output):
                self._leaf_region[leaf] = region
                words.outputs.append(leaf)
        self._steps.append(_Step(effect, region, order, tuple(words.initial), words))
        self._gather(effect.body, body)
        for result in effect.results:
            words.results += self._legalise(result)
        end = _Step(effect, body, len(self._steps), tuple(words.results), words, ends=True)
        self._steps.append(end)

    def _reachable(self) -> tuple[list[Word], dict[Word, int]]:
        """Words that effects need, operands first, and how many users each has."""
        uses: dict[Word, int] = {}
        stack: list[Word] = []
        for step in self._steps:
            for w in step.operands:
                uses[w] = uses.get(w, 0) + 1
                if uses[w] == 1:
                    stack.append(w)
        seen = set(stack)
        while stack:
            w = stack.pop()
            for a in w.args:
                uses[a] = uses.get(a, 0) + 1
                if a not in seen:
                    seen.add(a)
                    stack.append(a)
        return sorted(seen, key=lambda w: w.serial), uses

    def region_of(self, word: Word) -> Region:
        """The outermost region in which a word can be computed."""
        found = self._region_of.get(word)
        if found is None:
            if word.op == "leaf":
                found = self._leaf_region.get(word, self.root)
            else:
                found = self.root
                for a in word.args:
                    region = self.region_of(a)
                    if region.depth > found.depth:
                        found = region
            self._region_of[word] = found
        return found

    def _frequency(self, depth: int) -> float:
        return self._frequencies.get(depth, 1.0)

    # Emission.

    def _emit_step(self, step: _Step) -> None:
        effect = step.effect
        for word in step.operands:
            self._check_scope(word, step.region)
        if step.fill is not None:
            self._emit_fill(step)
        elif isinstance(effect, ProductEffect | SubstitutionEffect):
            self._emit_stateful(step, effect)
        elif isinstance(effect, StoreEffect):
            self._demand(step.operands[0])
            self._store(step, effect)
        elif isinstance(effect, LoopEffect):
            assert step.loop is not None
            if step.ends:
                self._end_loop(step.loop)
            else:
                self._begin_loop(step.loop, step.region)

    def _check_scope(self, word: Word, region: Region | None) -> None:
        """Values live in the region that defines them and in the loops inside it."""
        home = self.region_of(word)
        while region is not None and region is not home:
            region = region.parent
        if region is None:
            raise KernelError(
                f"{self.describe(word)} must be used inside the loop that defines it; "
                f"carry it out as a result"
            )

    def _begin_loop(self, words: _LoopWords, region: Region) -> None:
        loop = words.loop
        for parameter, initial in zip(words.parameters, words.initial, strict=True):
            self._demand(initial)
            value = self._new_value()
            self._value[parameter] = value
            loop.carried.append(Carried(value, self._value_of(initial), -1, self._new_value()))
        region.items.append(loop)

    def _end_loop(self, words: _LoopWords) -> None:
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
            jump.instruction, {}, sources, None, jump.offset, order=len(self._steps)
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
            needs: tuple[Word, ...] = ()
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
        operation.text = self.describe(word)
        self.region_of(word).items.append(operation)
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
        step = self._loads.get(word)
        if step is not None:
            assert isinstance(step.effect, LoadEffect)
            return self._load(step, step.effect, word)
        counter = self._counters.get(word)
        if counter is not None:
            loop = self._loops[counter]
            parameter = self._new_value()
            result = self._sum(parameter, 1, loop.body, "next index")
            carried = Carried(parameter, ZERO, result, self._new_value())
            loop.carried.append(carried)
            self._passed.append((loop, ("", ()), parameter, 1))
            return parameter
        raise KernelError(f"value {word.attr} must be used inside the loop that defines it")

    # Memory.

    def _load(self, step: _Step, effect: LoadEffect, word: Word) -> int:
        loads = self.repertoire.loads
        signed = self._signed_load(effect)
        access = loads.get((effect.width, signed))
        if access is None and effect.width == self.xlen:
            access = loads.get((effect.width, not signed))
        if access is None:
            raise UnsupportedKernel(
                f"the instruction set must have a load of {effect.width} bits for this kernel"
            )
        result = self._new_value()
        base, immediate = self._address(effect.pointer, effect.offset, step, access)
        operation = self._operation(access, ((access.base, base),), result)
        operation.immediate = immediate
        operation.order = step.order
        operation.text = self._texts[str(word.attr)]
        if effect.pointer.kind != "constant":
            operation.memory = self._memory(effect.pointer, effect.offset, effect.width, False)
        step.region.items.append(operation)
        return result

    def _store(self, step: _Step, effect: StoreEffect) -> None:
        access = self.repertoire.stores.get(effect.width)
        if access is None:
            raise UnsupportedKernel(
                f"the instruction set must have a store of {effect.width} bits for this kernel"
            )
        assert access.value is not None
        base, immediate = self._address(effect.pointer, effect.offset, step, access)
        sources = ((access.base, base), (access.value, self._value_of(step.operands[0])))
        operation = self._operation(access, sources, None)
        operation.immediate = immediate
        operation.order = step.order
        operation.is_effect = True
        operation.text = f"{effect.pointer.name}[{_shown(effect.offset)}]"
        operation.memory = self._memory(effect.pointer, effect.offset, effect.width, True)
        step.region.items.append(operation)

    def _memory(self, pointer: Pointer, offset: Index, width: int, is_store: bool) -> MemoryAccess:
        low = offset.constant
        return MemoryAccess(pointer.name, offset.terms, low, low + width // 8, is_store)

    def _address(
        self, pointer: Pointer, offset: Index, step: _Step, access: Access
    ) -> tuple[int, int | Address]:
        """Base register value and immediate of an access."""
        constant = offset.constant
        base = self._moving(pointer, offset.terms)
        passed = self._latest(pointer, offset, step, access)
        if passed is not None:
            return passed
        if not offset.terms and pointer.kind == "scratch":
            return STACK, Address("frame", pointer.name, constant)
        if not offset.terms and pointer.kind == "constant":
            return base, Address("table", pointer.name, constant)
        if access.offset.solve(constant & self.words.mask) is None:
            high = (constant + 0x800) & ~0xFFF
            key = (base, high)
            if key not in self._biased:
                region = self._moving_region(offset.terms)
                self._biased[key] = self._sum(base, high, region, f"{pointer.name} + {high:#x}")
            base, constant = self._biased[key], constant - high
        return base, constant & self.words.mask

    def _latest(
        self, pointer: Pointer, offset: Index, step: _Step, access: Access
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
        loops = [self._loops[name] for name, _ in terms]
        return max((x.body for x in loops), key=lambda r: r.depth, default=self.root)

    def _moving(self, pointer: Pointer, terms: tuple[tuple[str, int], ...]) -> int:
        """Value of pointer + terms, carried around the loops whose counters occur."""
        key = (pointer.name, terms)
        if key in self._bases:
            return self._bases[key]
        if not terms:
            if pointer.kind == "scratch":
                return STACK
            self.layout.use(self.kernel.constants[pointer.name])
            return self._constant(Address("anchor", self.layout.anchors[pointer.name]))
        loop = max((self._loops[n] for n, _ in terms), key=lambda x: x.body.depth)
        rest = tuple(t for t in terms if t[0] != loop.name)
        move = dict(terms)[loop.name]
        if rest or pointer.kind == "parameter":
            initial = self._moving(pointer, rest)
        elif pointer.kind == "constant":
            self.layout.use(self.kernel.constants[pointer.name])
            initial = self._constant(Address("absolute", pointer.name))
        else:
            initial = self._frame_address(pointer)
        parameter = self._new_value()
        self._bases[key] = parameter
        result = self._sum(parameter, move, loop.body, f"next {pointer.name}")
        loop.carried.append(Carried(parameter, initial, result, self._new_value()))
        self._passed.append((loop, key, parameter, move))
        return parameter

    def _frame_address(self, pointer: Pointer) -> int:
        accumulate = self.repertoire.accumulate_immediate["add"][0]
        result = self._new_value()
        operation = self._computation(accumulate.pattern, ((accumulate.acc, STACK),), result)
        operation.solver = accumulate.pattern.immediate
        operation.immediate = Address("frame", pointer.name)
        operation.text = pointer.name
        self.root.items.append(operation)
        return result

    # Texts.

    def describe(self, word: Word, depth: int = 3) -> str:
        """A short expression for the comment column."""
        if word.op == "leaf":
            return self._texts.get(str(word.attr), str(word.attr))
        if word.op in ("const", "symbol"):
            return str(word.attr) if word.op == "symbol" else f"{word.value:#x}"
        if not depth:
            return ".."
        xs = [self.describe(a, depth - 1) for a in word.args]
        signs = {"xor": " ^ ", "and": " & ", "or": " | ", "add": " + ", "sub": " - "}
        if word.op in signs:
            return signs[word.op].join(xs if len(xs) < 5 else [*xs[:4], ".."])
        if isinstance(word.attr, Table):
            return f"{word.attr.name}[{xs[0]}]"
        if word.op == "move":
            low, length, position = word.field
            field = f"{xs[0]}[{low + length - 1}:{low}]"
            return f"{field} << {position}" if position else field
        if word.op == "mask":
            return f"{xs[0]} & {word.attr:#x}"
        if word.attr is not None:
            xs.append(str(word.attr))
        return f"{word.op}({', '.join(xs)})"


def _all_effects(effects: Iterable[Effect]) -> Iterator[Effect]:
    for effect in effects:
        yield effect
        if isinstance(effect, LoopEffect):
            yield from _all_effects(effect.body)


def _matrix(effect: Effect) -> int | None:
    """Content of a matrix bank: row 31 on top."""
    if not isinstance(effect, ProductEffect):
        return None
    return sum(row << 32 * i for i, row in enumerate(effect.matrix))


def _mask(effect: Effect) -> int | None:
    return effect.mask if isinstance(effect, SubstitutionEffect) else None


def _shown(offset: Index) -> str:
    terms = [f"{c} {name}" for name, c in offset.terms]
    if offset.constant or not terms:
        terms.append(str(offset.constant))
    return " + ".join(terms)


__all__ = ["Selection", "Selector", "table_entry_bytes"]
