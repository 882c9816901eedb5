"""Allocate: values to registers in one pass over the ordered code, spilling by furthest next use.

Where a register is wanted and none is free, the value used last is put aside: a constant is made
again, anything else is stored once, right after its definition, and loaded when it is needed. At
the head of a loop it is decided which values stay in registers; the end of the body brings them
back to the same places. If one of them did not stay, the loop is done again with it in memory.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from isa.compiler.constants import Constants
from isa.compiler.operations import FIRST_VALUE, STACK, ZERO, Carried, Loop, Operation, Region
from isa.compiler.schedule import max_pressure
from isa.compiler.select import Selection
from isa.registers import NUMBERS

ARGUMENTS = tuple(NUMBERS[f"a{i}"] for i in range(8))
TEMPORARY = tuple(NUMBERS[n] for n in ("a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7")) + tuple(
    NUMBERS[f"t{i}"] for i in range(7)
)
"""Registers a kernel may change."""
SAVED = (*(NUMBERS[f"s{i}"] for i in range(12)), NUMBERS["ra"])
"""Registers that are free for use once their content is saved."""
STACK_POINTER = NUMBERS["sp"]

ATTEMPTS = 4
"""Times a loop is done until its head and end agree, the last one with loads at the end."""

MEMORY_DISCOUNT = 1.5
"""Preference for putting aside what costs no store."""


@dataclass(eq=False, slots=True)
class Line:
    """One piece of the final code, with registers.

    Attributes:
        kind: "operation", "constant", "reload", "spill", "move", "label", "branch" or "entry".
        operation: What is executed; of a constant, its definition.
        registers: Register operands; of a move and a spill, "rs1".
        result: Register written.
        slot: Stack slot of a reload or spill.
        loop: Of a label or branch.
        defines: (value, register) that come to life here, to be stored if they are spilled.
    """

    kind: str
    operation: Operation | None = None
    registers: tuple[tuple[str, int], ...] = ()
    result: int = 0
    slot: int = -1
    loop: Loop | None = None
    defines: tuple[tuple[int, int], ...] = ()
    text: str = ""


@dataclass(eq=False)
class Allocation:
    """Code over registers.

    Attributes:
        lines: In order, spill stores included.
        saved: Callee-saved registers that are used.
        slots: Number of stack slots.
        spills: Stores and loads of values put aside, as they stand in the code.
    """

    lines: list[Line]
    saved: list[int]
    slots: int
    spills: int


@dataclass
class _State:
    """Where values are at a point of the code."""

    register_of: dict[int, int] = field(default_factory=dict)
    value_in: dict[int, int] = field(default_factory=dict)
    slot_of: dict[int, int] = field(default_factory=dict)
    slots: int = 0

    def copy(self) -> _State:
        return _State(dict(self.register_of), dict(self.value_in), dict(self.slot_of), self.slots)


class Allocator:
    """Allocates one kernel."""

    def __init__(self, selection: Selection, constants: Constants) -> None:
        self._selection = selection
        self._costs = constants
        self._state = _State()
        self._lines: list[Line] = []
        self._constant: dict[int, Operation] = {}
        self._uses: dict[int, list[int]] = {}
        self._defined: dict[int, int] = {}
        self._interval: dict[Loop, tuple[int, int]] = {}
        self._position: dict[Operation, int] = {}
        self._loops: list[Loop] = []  # around the current point, outermost first
        self._head_register: dict[int, int] = {}  # parameters of the innermost loop
        self._hints: dict[int, int] = {}
        self._saved: list[int] = []
        self._places: dict[int, int] = {}  # registers promised to parameters at a head
        self._number(selection.root)

    def run(self) -> Allocation:
        """Allocate everything."""
        entry = Line("entry")
        defines = []
        for register, value in zip(ARGUMENTS, self._selection.parameters, strict=False):
            if self._uses.get(value):
                self._put(value, register)
                defines.append((value, register))
        entry.defines = tuple(defines)
        self._lines.append(entry)
        self._region(self._selection.root)
        lines, spills = self._with_spills()
        return Allocation(lines, self._saved, self._state.slots, spills)

    # Positions and next uses.

    def _number(self, root: Region) -> None:
        position = 0

        def visit(region: Region) -> None:
            nonlocal position
            for item in region.items:
                position += 1
                if isinstance(item, Loop):
                    start = position
                    for c in item.carried:
                        self._use(c.initial, position)
                        self._defined[c.parameter] = position
                    visit(item.body)
                    position += 1
                    for c in item.carried:
                        self._use(c.result, position)
                        self._defined[c.output] = position
                    if item.branch:
                        for _, v in item.branch.sources:
                            self._use(v, position)
                    self._interval[item] = (start, position)
                else:
                    self._position[item] = position
                    for _, v in item.sources:
                        self._use(v, position)
                    if item.result is not None:
                        self._defined[item.result] = position
                        if item.is_constant:
                            self._constant[item.result] = item

        visit(root)
        self._end = position + 1

    def _use(self, value: int, position: int) -> None:
        if value >= FIRST_VALUE:
            uses = self._uses.setdefault(value, [])
            if not uses or uses[-1] != position:
                uses.append(position)

    def _next_use(self, value: int, position: int) -> int | None:
        """Distance to the next use after `position`, around loops; None when it is dead."""
        uses = self._uses.get(value)
        if not uses:
            return None
        i = bisect_right(uses, position)
        following = uses[i] if i < len(uses) else None
        defined = self._defined.get(value, 0)
        penalty = 0
        for loop in reversed(self._loops):
            start, end = self._interval[loop]
            if defined >= start:
                break
            if following is not None and following <= end:
                return following - position + penalty
            first = bisect_right(uses, start)
            if first < len(uses) and uses[first] <= end:  # in the next iteration
                return end - position + uses[first] - start + penalty
            penalty += (end - start) * loop.count
        return None if following is None else following - position + penalty

    # Registers.

    def _put(self, value: int, register: int) -> None:
        self._state.register_of[value] = register
        self._state.value_in[register] = value

    def _drop(self, value: int) -> None:
        register = self._state.register_of.pop(value, None)
        if register is not None:
            del self._state.value_in[register]

    def _take(self, position: int, keep: Iterable[int], hint: int | None = None) -> int:
        """A free register; puts a value aside if there is none."""
        busy = self._state.value_in
        if hint is not None and hint not in busy:
            return hint
        reserved = set(self._head_register.values())
        for pool in (TEMPORARY, tuple(self._saved), SAVED):
            for register in pool:
                if register not in busy and register not in reserved:
                    return self._claim(register)
        for register in (*TEMPORARY, *SAVED):
            if register not in busy:
                return self._claim(register)
        return self._evict(position, set(keep))

    def _claim(self, register: int) -> int:
        if register in SAVED and register not in self._saved:
            self._saved.append(register)
        return register

    def _evict(self, position: int, keep: set[int]) -> int:
        best, best_score = -1, -1.0
        for value in sorted(self._state.register_of):
            if value in keep:
                continue
            distance = self._next_use(value, position)
            score = float("inf") if distance is None else float(distance)
            if value in self._constant or value in self._state.slot_of:
                score *= MEMORY_DISCOUNT
            if score > best_score:
                best, best_score = value, score
        register = self._state.register_of[best]
        self._set_aside(best)
        return register

    def _set_aside(self, value: int) -> None:
        """Take a value out of its register; it can be had again."""
        self._drop(value)
        if value not in self._constant and value not in self._state.slot_of:
            self._state.slot_of[value] = self._state.slots
            self._state.slots += 1

    def _ensure(self, value: int, position: int, keep: Sequence[int]) -> int:
        """Register of a value, loaded or made if it is in none."""
        if value == ZERO:
            return 0
        if value == STACK:
            return STACK_POINTER
        register = self._state.register_of.get(value)
        if register is None:
            register = self._take(position, keep)
            self._fetch(value, register)
            self._put(value, register)
        return register

    def _fetch(self, value: int, register: int) -> None:
        if value in self._constant:
            operation = self._constant[value]
            self._lines.append(Line("constant", operation, result=register))
        else:
            slot = self._state.slot_of[value]
            self._lines.append(Line("reload", slot=slot, result=register))

    # Code.

    def _region(self, region: Region) -> None:
        for item in region.items:
            if isinstance(item, Loop):
                self._loop(item)
            else:
                self._operation(item)

    def _operation(self, item: Operation) -> None:
        if item.is_constant:
            return  # made where it is used, or at the head of a loop
        position = self._position[item]
        values = [v for _, v in item.sources]
        registers = tuple((h, self._ensure(v, position, values)) for h, v in item.sources)
        for v in dict.fromkeys(values):
            if v >= FIRST_VALUE and self._next_use(v, position) is None:
                self._drop(v)
        line = Line("operation", item, registers)
        if item.result is not None:
            line.result = self._take(position, (), self._hints.get(item.result))
            if self._next_use(item.result, position) is not None:
                self._put(item.result, line.result)
            line.defines = ((item.result, line.result),)
        self._lines.append(line)

    def _loop(self, loop: Loop) -> None:
        outside_hints, outside_heads = self._hints, self._head_register
        before, length = self._state.copy(), len(self._lines)
        in_memory: set[int] = set()
        for attempt in range(ATTEMPTS):
            self._state = before.copy()
            del self._lines[length:]
            self._hints, self._head_register = outside_hints, outside_heads
            missing = self._try_loop(loop, in_memory, final=attempt == ATTEMPTS - 1)
            if not missing:
                break
            in_memory |= missing
        self._hints, self._head_register = outside_hints, outside_heads

    def _try_loop(self, loop: Loop, in_memory: set[int], *, final: bool) -> set[int]:
        """Emit a loop; returns values that left the register they had at the head."""
        start, end = self._interval[loop]
        in_memory = in_memory | self._overflow(loop, in_memory)
        self._enter(loop, in_memory, start)
        head = dict(self._state.register_of)
        label = Line("label", loop=loop)
        label.defines = tuple(
            (c.parameter, head[c.parameter]) for c in loop.carried if c.parameter in head
        )
        self._lines.append(label)
        self._head_register = {
            c.parameter: head[c.parameter] for c in loop.carried if c.parameter in head
        }
        self._hints = {c.result: head[c.parameter] for c in loop.carried if c.parameter in head}
        self._loops.append(loop)
        for value in list(head):  # what is not used any more, such as unused parameters
            if self._next_use(value, start) is None:
                self._drop(value)
        self._region(loop.body)
        missing = self._leave(loop, head, end, final=final)
        self._loops.pop()
        if missing and not final:
            return missing
        self._after(loop, head, end)
        return set()

    def _overflow(self, loop: Loop, in_memory: set[int]) -> set[int]:
        """Values to keep in memory at the head because the body needs the registers."""
        start, end = self._interval[loop]
        room = len(TEMPORARY) + len(SAVED)
        used = loop.values_read()
        inside = max_pressure(loop.body)
        through = [
            v
            for v in self._state.register_of
            if v not in used and self._next_use_after(v, end) is not None
        ]
        through.sort(key=lambda v: (-(self._next_use_after(v, end) or 0), v))
        found = set(through[: max(0, inside + len(through) - room)])
        excess = inside - room - len(in_memory)
        if excess > 0:
            first = {v: self._first_inside(v, start) for v in used}
            invariant = sorted(used - in_memory, key=lambda v: (-first[v], v))
            initial = {c.initial for c in loop.carried}
            candidates = [v for v in invariant if v not in initial or v in self._constant]
            parameters = [c.parameter for c in loop.carried if c.parameter not in in_memory]
            parameters.sort(key=lambda v: (-self._first_inside(v, start), v))
            found |= set([*candidates, *parameters][:excess])
        return found

    def _first_inside(self, value: int, start: int) -> int:
        uses = self._uses.get(value, [])
        i = bisect_right(uses, start)
        return uses[i] if i < len(uses) else self._end

    def _next_use_after(self, value: int, position: int) -> int | None:
        return self._next_use(value, position)

    def _enter(self, loop: Loop, in_memory: set[int], position: int) -> None:
        """Bring values to their places at the head of a loop."""
        self._loops.append(loop)  # so that what the loop reads is seen as live
        used = loop.values_read()
        for value in sorted(self._state.register_of):
            if value in in_memory:
                self._set_aside(value)
        initial = {c.initial for c in loop.carried}
        hoisted = [v for v in sorted(used) if v not in in_memory and v not in initial]
        hoisted += [v for v in sorted(used & initial) if self._needed_inside(v, loop)]
        fetch = [
            v
            for v in dict.fromkeys(hoisted)
            if v not in self._state.register_of and v not in in_memory
        ]
        parameters = [c for c in loop.carried if c.parameter not in in_memory]
        moves: dict[int, int] = {}  # register <- value
        stores: list[tuple[Carried, int]] = []
        taken: set[int] = set()
        for c in loop.carried:
            if c.parameter in in_memory:
                slot = self._state.slots
                self._state.slots += 1
                stores.append((c, slot))
        pinned = {c.initial for c in loop.carried}
        for c, slot in stores:
            register = self._ensure(c.initial, position, sorted(pinned))
            self._lines.append(Line("spill", registers=(("rs2", register),), slot=slot))
        for value in fetch:
            self._ensure(value, position, [*hoisted, *sorted(pinned)])
        for c in parameters:
            register = self._state.register_of.get(c.initial, -1)
            if (
                c.initial >= FIRST_VALUE
                and register >= 0
                and register not in taken
                and self._next_use(c.initial, position) is None
            ):
                taken.add(register)
                moves[register] = c.initial
                self._head_of(c, register)
        placed = {c.parameter for c in parameters if c.parameter in self._places}
        for c in parameters:
            if c.parameter in placed:
                continue
            register = self._take_beside(position, taken, [*hoisted, *sorted(pinned)])
            taken.add(register)
            moves[register] = c.initial
            self._head_of(c, register)
        self._parallel(
            [(r, v) for r, v in moves.items() if self._state.register_of.get(v) != r], taken
        )
        for value in sorted(initial):
            if value in self._state.register_of and self._next_use(value, position) is None:
                self._drop(value)
        for c in parameters:
            self._put(c.parameter, self._places.pop(c.parameter))
        for c, slot in stores:
            self._state.slot_of[c.parameter] = slot
        self._loops.pop()

    def _head_of(self, carried: Carried, register: int) -> None:
        self._places[carried.parameter] = register

    def _needed_inside(self, value: int, loop: Loop) -> bool:
        start, end = self._interval[loop]
        uses = self._uses.get(value, [])
        i = bisect_right(uses, start)
        return i < len(uses) and uses[i] <= end

    def _take_beside(self, position: int, taken: set[int], keep: Sequence[int]) -> int:
        """A register that is neither busy nor promised to a parameter."""
        busy = self._state.value_in
        for register in (*TEMPORARY, *self._saved, *SAVED):
            if register not in busy and register not in taken:
                return self._claim(register)
        return self._evict(position, set(keep))

    def _parallel(self, moves: list[tuple[int, int]], taken: set[int]) -> None:
        """Move values into registers at once; sources in registers are read before they change.

        Args:
            moves: (register, value).
            taken: Registers that must not serve as an intermediate place.
        """
        source = {r: self._state.register_of.get(v, -1) for r, v in moves}
        pending = dict(moves)
        while pending:
            read = {s: r for r, s in source.items() if s != r}
            free = [r for r in pending if r not in read]
            register = free[0] if free else next(iter(pending))
            if not free:  # a cycle: what the register holds goes elsewhere first
                busy = {*taken, *pending, *self._state.value_in}
                spare = next((r for r in (*TEMPORARY, *self._saved) if r not in busy), -1)
                if spare >= 0:
                    move = Line("move", registers=(("rs1", register),), result=spare)
                else:
                    spare = -2 - self._state.slots
                    self._state.slots += 1
                    move = Line("spill", registers=(("rs2", register),), slot=-2 - spare)
                self._lines.append(move)
                source = {r: spare if s == register else s for r, s in source.items()}
            self._move(register, pending.pop(register), source.pop(register))

    def _move(self, register: int, value: int, source: int) -> None:
        """Put a value into a register from `source`: a register, -1 by name, else a slot."""
        if value < FIRST_VALUE:
            source = STACK_POINTER if value == STACK else 0
        if source >= 0:
            if source != register:
                self._lines.append(Line("move", registers=(("rs1", source),), result=register))
        elif source < -1:
            self._lines.append(Line("reload", slot=-2 - source, result=register))
        else:
            self._fetch(value, register)

    def _leave(self, loop: Loop, head: dict[int, int], end: int, *, final: bool) -> set[int]:
        """Bring values back to where the head has them, count, and branch."""
        state = self._state
        carried_head = {c.parameter for c in loop.carried}
        through = {v: r for v, r in head.items() if v not in carried_head}
        used_after = {v: r for v, r in through.items() if self._next_use(v, end - 1) is not None}
        missing = {v for v in used_after if v not in state.register_of}
        if missing and not final:
            return missing
        # Parameters in memory first: their stores read registers that the moves may change.
        targets: list[tuple[int, int]] = []
        held = [c.result for c in loop.carried]
        stores = []
        for c in loop.carried:
            if c.parameter in head:
                targets.append((head[c.parameter], c.result))
            elif c.parameter in state.slot_of:
                stores.append(c)
        self._store_parameters(stores, held, end)
        targets += [(r, v) for v, r in used_after.items() if state.register_of.get(v) != r]
        goal = set(head.values())
        self._parallel_leave(targets, goal)
        branch = loop.branch
        assert branch is not None
        place = dict(head)
        for c in loop.carried:
            if c.parameter in head:
                place[c.result] = head[c.parameter]
        registers = []
        spare = goal | set(state.value_in)
        for hole, v in branch.sources:
            register = place.get(v)
            if v < FIRST_VALUE:
                register = 0
            elif register is None:
                register = next(r for r in (*TEMPORARY, *self._saved, *SAVED) if r not in spare)
                self._claim(register)
                spare.add(register)
                source = next((c for c in loop.carried if c.result == v), None)
                slot = state.slot_of[source.parameter] if source else -1
                if slot >= 0:
                    self._lines.append(Line("reload", slot=slot, result=register))
                else:
                    self._fetch(v, register)
            registers.append((hole, register))
        self._lines.append(Line("branch", branch, tuple(registers), loop=loop))
        return set()

    def _store_parameters(self, stores: list[Carried], held: list[int], end: int) -> None:
        """Store results whose parameters are in memory; none may be read after it is replaced."""
        state = self._state
        replaced = {state.slot_of[c.parameter] for c in stores}
        for c in stores:  # what another parameter's old slot holds must be fetched before
            slot = state.slot_of.get(c.result)
            if slot in replaced and c.result not in state.register_of and c.result != c.parameter:
                self._ensure(c.result, end, held)
        for c in stores:
            slot = state.slot_of[c.parameter]
            if c.result == c.parameter or state.slot_of.get(c.result) == slot:
                continue
            register = self._ensure(c.result, end, held)
            self._lines.append(Line("spill", registers=(("rs2", register),), slot=slot))

    def _parallel_leave(self, targets: list[tuple[int, int]], goal: set[int]) -> None:
        self._parallel([t for t in targets if self._state.register_of.get(t[1]) != t[0]], goal)

    def _after(self, loop: Loop, head: dict[int, int], end: int) -> None:
        """State behind a loop: as at its head, the results in the parameters' places."""
        slots = self._state.slot_of
        self._state.register_of = {}
        self._state.value_in = {}
        by_parameter = {c.parameter: c for c in loop.carried}
        for value, register in head.items():
            carried = by_parameter.get(value)
            if carried is not None:
                value = carried.output
            if self._next_use(value, end) is not None:
                self._put(value, register)
        for c in loop.carried:
            if c.parameter not in head and c.parameter in slots:
                slots[c.output] = slots[c.parameter]

    def _with_spills(self) -> tuple[list[Line], int]:
        """Lines with a store after each definition of a value that was put aside."""
        lines: list[Line] = []
        spills = 0
        for line in self._lines:
            lines.append(line)
            spills += line.kind in ("reload", "spill")
            for value, register in line.defines:
                if value in self._state.slot_of:
                    slot = self._state.slot_of[value]
                    lines.append(Line("spill", registers=(("rs2", register),), slot=slot))
                    spills += 1
        return lines, spills
