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
from isa.compiler.operations import FIRST_VALUE, STACK, ZERO, Loop, Operation, Region
from isa.compiler.pools import ARGUMENTS, SAVED, STACK_POINTER, TEMPORARY
from isa.compiler.schedule import max_pressure
from isa.compiler.select import Selection
from isa.compiler.short import LOW, Shortness
from isa.instruction_set import InstructionSet

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
        slots: Number of stack slots; values never alive at once share one.
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


def _slot(number: int) -> int:
    """Place of a stack slot, below all registers; its own inverse."""
    return -2 - number


class Allocator:
    """Allocates one kernel."""

    def __init__(
        self, selection: Selection, constants: Constants, instructions: InstructionSet
    ) -> None:
        self._selection = selection
        self._short = Shortness(instructions, selection.root)
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
        return Allocation(lines, self._saved, _share_slots(lines), spills)

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

    def _life(self, value: int) -> int:
        """Positions from the definition of a value to its last use."""
        uses = self._uses.get(value)
        return uses[-1] - self._defined.get(value, 0) if uses else 0

    # Registers.

    def _put(self, value: int, register: int) -> None:
        self._state.register_of[value] = register
        self._state.value_in[register] = value

    def _drop(self, value: int) -> None:
        register = self._state.register_of.pop(value, None)
        if register is not None:
            del self._state.value_in[register]

    def _take(
        self, position: int, keep: Iterable[int], value: int, hints: Iterable[int] = ()
    ) -> int:
        """A free register for a value; puts another aside if there is none."""
        life = self._life(value)
        busy = self._state.value_in
        for hint in hints:
            if hint not in busy:
                return hint
        reserved = set(self._head_register.values())
        for pool in (TEMPORARY, tuple(self._saved), SAVED):
            for register in self._short.order(pool, value, life):
                if register not in busy and register not in reserved:
                    return self._claim(register)
        for register in (*self._short.order(TEMPORARY, value, life), *SAVED):
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

    def _set_aside(self, value: int, *, keep_register: bool = False) -> None:
        """Take a value out of its register; it can be had again."""
        if not keep_register:
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
            register = self._take(position, keep, value)
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
            line.result = self._take(position, (), item.result, self._wanted(item, registers))
            if self._next_use(item.result, position) is not None:
                self._put(item.result, line.result)
            line.defines = ((item.result, line.result),)
        self._lines.append(line)

    def _wanted(self, item: Operation, registers: tuple[tuple[str, int], ...]) -> list[int]:
        """Registers that the result of an operation should have, the best first."""
        hint = self._hints.get(item.result) if item.result is not None else None
        wanted = [] if hint is None else [hint]
        by_name = dict(registers)
        reserved = set(self._head_register.values())
        for operand, low in self._short.ties(item):
            register = by_name[operand]
            if register not in reserved and (register in LOW or not low):
                wanted.append(register)
        return wanted

    def _loop(self, loop: Loop) -> None:
        outside = self._hints, self._head_register
        before, length, saved = self._state.copy(), len(self._lines), list(self._saved)
        in_memory: set[int] = set()
        for attempt in range(ATTEMPTS):
            self._state, self._saved = before.copy(), list(saved)
            del self._lines[length:]
            self._hints, self._head_register = outside
            missing = self._try_loop(loop, in_memory, final=attempt == ATTEMPTS - 1)
            if not missing:
                break
            in_memory |= missing
        self._hints, self._head_register = outside

    def _try_loop(self, loop: Loop, in_memory: set[int], *, final: bool) -> set[int]:
        """Emit a loop; returns values that left the register they had at the head."""
        start, end = self._interval[loop]
        self._loops.append(loop)  # so that what the loop reads is seen as live
        in_memory = in_memory | self._overflow(loop, in_memory)
        head = self._enter(loop, in_memory, start)
        parameters = tuple(
            (c.parameter, head[c.parameter]) for c in loop.carried if c.parameter in head
        )
        self._lines.append(Line("label", loop=loop, defines=parameters))
        self._head_register = dict(parameters)
        self._hints = {c.result: head[c.parameter] for c in loop.carried if c.parameter in head}
        for value in list(head):  # what is not used any more, such as unused parameters
            if self._next_use(value, start) is None:
                self._drop(value)
        self._region(loop.body)
        missing = self._leave(loop, head, end, final=final)
        self._loops.pop()
        if not missing:
            self._after(loop, head, end)
        return missing

    def _overflow(self, loop: Loop, in_memory: set[int]) -> set[int]:
        """Values to keep in memory at the head because the body needs the registers."""
        start, end = self._interval[loop]
        room = self._room(loop, in_memory)
        used = {v for v in loop.values_read() if self._inside(v, loop)}
        parameters = {c.parameter for c in loop.carried}
        there = (used | parameters) - in_memory
        excess = max(max_pressure(loop.body) - len(used | parameters), 0) + len(there) - room
        if excess <= 0:
            return set()

        def first(value: int) -> int:
            uses = self._uses.get(value, [])
            i = bisect_right(uses, start)
            return uses[i] if i < len(uses) and uses[i] <= end else self._end

        compared = self._compared(loop)
        order = sorted((used & there) - compared, key=lambda v: (-first(v), v))
        order += sorted((parameters & there) - compared, key=lambda v: (-first(v), v))
        return set(order[:excess])

    def _compared(self, loop: Loop) -> set[int]:
        """Values whose places at the head the closing branch compares."""
        assert loop.branch is not None
        by_result = {c.result: c.parameter for c in loop.carried}
        return {by_result.get(v, v) for _, v in loop.branch.sources}

    def _room(self, loop: Loop, in_memory: set[int]) -> int:
        """Registers for values at the head; the branch needs some for what is in memory."""
        return len(TEMPORARY) + len(SAVED) - len(self._compared(loop) & in_memory)

    def _enter(self, loop: Loop, in_memory: set[int], position: int) -> dict[int, int]:
        """Bring values to their places at the head of a loop; returns those in registers."""
        state = self._state
        used = {v for v in loop.values_read() if self._inside(v, loop)} - in_memory
        initial = {c.initial for c in loop.carried}
        parameters = [c for c in loop.carried if c.parameter not in in_memory]
        # Through values stay as long as there is room, the soonest used first.
        others = [v for v in state.register_of if v not in used and v not in initial]
        others += [v for v in initial - used if v in state.register_of and self._lives(v, position)]
        others.sort(key=lambda v: (self._next_use(v, position) or 0, v))
        inside = max(len(used) + len(parameters), max_pressure(loop.body) - len(in_memory))
        room = self._room(loop, in_memory) - inside
        kept = [v for v in others if v not in in_memory][: max(0, room)]
        head: dict[int, int] = {
            v: state.register_of[v] for v in [*sorted(used), *kept] if v in state.register_of
        }
        targets: list[tuple[int, int]] = []
        taken = set(head.values())
        for c in parameters:  # the place of the initial value, where it dies here
            register = state.register_of.get(c.initial, -1)
            if register >= 0 and register not in taken:
                taken.add(register)
                head[c.parameter] = register
        for c in parameters:
            if c.parameter not in head:
                head[c.parameter] = self._fresh(taken, c.parameter)
            targets.append((head[c.parameter], c.initial))
        for v in sorted(used - set(head)):
            head[v] = self._fresh(taken, v)
            targets.append((head[v], v))
        for value in sorted(state.register_of):
            if value not in head and self._lives(value, position):
                self._set_aside(value, keep_register=True)
        for c in loop.carried:
            if c.parameter in in_memory:
                slot = state.slots
                state.slots += 1
                state.slot_of[c.parameter] = slot
                targets.append((_slot(slot), c.initial))
        self._parallel(targets, taken)
        state.register_of, state.value_in = {}, {}
        for value, register in head.items():
            self._put(value, register)
        return head

    def _lives(self, value: int, position: int) -> bool:
        return self._next_use(value, position) is not None

    def _inside(self, value: int, loop: Loop) -> bool:
        """Whether a value of outside is read inside the loop, its entry left out."""
        start, end = self._interval[loop]
        uses = self._uses.get(value, [])
        i = bisect_right(uses, start)
        return i < len(uses) and uses[i] <= end

    def _fresh(self, taken: set[int], value: int) -> int:
        """A register for a value at the head that is not yet promised to another."""
        temporary = self._short.order(TEMPORARY, value, self._life(value))
        for pool in ((r for r in temporary if r not in self._state.value_in), temporary):
            for register in pool:
                if register not in taken:
                    taken.add(register)
                    return register
        for register in (*self._saved, *SAVED):
            if register not in taken:
                taken.add(register)
                return self._claim(register)
        raise AssertionError("more values at the head of a loop than registers")

    def _parallel(self, moves: list[tuple[int, int]], taken: set[int]) -> None:
        """Move values to registers and slots at once: sources are read before they change.

        Args:
            moves: (place, value); a place is a register or `_slot(number)`.
            taken: Registers that hold something else of value.
        """
        pending = {d: v for d, v in moves if self._place(v) != d}
        source = {d: self._place(v) for d, v in pending.items()}
        while pending:
            read = set(source.values())
            free = [d for d in pending if d not in read]
            place = free[0] if free else next(iter(pending))
            if not free:  # a cycle: what the place holds goes elsewhere first
                busy = taken | set(pending) | read
                spare = next((r for r in TEMPORARY if r not in busy), None)
                if spare is None:
                    spare = _slot(self._state.slots)
                    self._state.slots += 1
                self._copy(spare, place, -1, taken | set(pending) | read)
                source = {d: spare if s == place else s for d, s in source.items()}
            value, origin = pending.pop(place), source.pop(place)
            self._copy(place, origin, value, taken | set(pending) | set(source.values()))

    def _place(self, value: int) -> int:
        """Where a value is: a register, a slot, or -1 for a constant."""
        if value < FIRST_VALUE:
            return STACK_POINTER if value == STACK else 0
        register = self._state.register_of.get(value)
        if register is not None:
            return register
        return -1 if value in self._constant else _slot(self._state.slot_of[value])

    def _copy(self, place: int, origin: int, value: int, busy: set[int]) -> None:
        """Copy between places; `value` names a constant whose origin is -1."""
        if place >= 0:
            if origin >= 0:
                self._lines.append(Line("move", registers=(("rs1", origin),), result=place))
            elif origin == -1:
                operation = self._constant[value]
                self._lines.append(Line("constant", operation, result=place))
            else:
                self._lines.append(Line("reload", slot=_slot(origin), result=place))
        elif origin >= 0:
            self._lines.append(Line("spill", registers=(("rs2", origin),), slot=_slot(place)))
        else:
            used = busy | set(self._state.value_in)
            spare = next((r for r in (*TEMPORARY, *self._saved) if r not in used), None)
            if spare is not None:
                self._copy(spare, origin, value, busy)
                self._copy(place, spare, value, busy)
                return
            spare, rescue = TEMPORARY[-1], _slot(self._state.slots)
            self._state.slots += 1
            self._copy(rescue, spare, -1, busy)
            self._copy(spare, origin, value, busy)
            self._copy(place, spare, value, busy)
            self._copy(spare, rescue, -1, busy)

    def _leave(self, loop: Loop, head: dict[int, int], end: int, *, final: bool) -> set[int]:
        """Bring values back to where the head has them, count, and branch."""
        state = self._state
        parameters = {c.parameter for c in loop.carried}
        through = {v: r for v, r in head.items() if v not in parameters}
        missing = {v for v in through if v not in state.register_of}
        if missing and not final:
            return missing
        targets = [(head[c.parameter], c.result) for c in loop.carried if c.parameter in head]
        targets += [(r, v) for v, r in through.items()]
        targets += [
            (_slot(state.slot_of[c.parameter]), c.result)
            for c in loop.carried
            if c.parameter not in head and c.parameter in state.slot_of
        ]
        self._parallel(targets, set(head.values()))
        assert loop.branch is not None
        self._lines.append(
            Line("branch", loop.branch, self._branch_registers(loop, head), loop=loop)
        )
        return set()

    def _branch_registers(self, loop: Loop, head: dict[int, int]) -> tuple[tuple[str, int], ...]:
        """Registers that the closing branch compares, everything being back in its place."""
        assert loop.branch is not None
        by_result = {c.result: c.parameter for c in loop.carried}
        busy = set(head.values())
        registers = []
        for hole, value in loop.branch.sources:
            name = by_result.get(value, value)
            if name in head:
                register = head[name]
            else:
                register = next(r for r in (*TEMPORARY, *self._saved, *SAVED) if r not in busy)
                busy.add(self._claim(register))
                slot = self._state.slot_of.get(name)
                origin = -1 if slot is None else _slot(slot)
                self._copy(register, origin, value, busy)
            registers.append((hole, register))
        return tuple(registers)

    def _after(self, loop: Loop, head: dict[int, int], end: int) -> None:
        """State behind a loop: as at its head, the results in the parameters' places."""
        state = self._state
        state.register_of, state.value_in = {}, {}
        output = {c.parameter: c.output for c in loop.carried}
        defines = []
        for parameter, register in head.items():
            value = output.get(parameter, parameter)
            if self._lives(value, end):
                self._put(value, register)
                if parameter in output:
                    defines.append((value, register))
        for c in loop.carried:
            if c.parameter not in head and c.parameter in state.slot_of:
                state.slot_of[c.output] = state.slot_of[c.parameter]
        self._lines.append(Line("entry", defines=tuple(defines)))

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


def _share_slots(lines: Sequence[Line]) -> int:
    """Renumber stack slots so that those never in use at once share a place; returns how many.

    A slot is in use from its first mention to its last; one that is in use where a loop begins and
    is mentioned in the loop stays in use to the loop's end.
    """
    heads: dict[Loop, int] = {}
    loops: list[tuple[int, int]] = []
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for i, line in enumerate(lines):
        if line.kind == "label" and line.loop:
            heads[line.loop] = i
        elif line.kind == "branch" and line.loop:
            loops.append((heads[line.loop], i))
        if line.slot >= 0:
            first.setdefault(line.slot, i)
            last[line.slot] = i
    for start, end in loops:  # inner loops end first, so ends grow outward
        for slot, begins in first.items():
            if begins < start <= last[slot] <= end:
                last[slot] = end
    place: dict[int, int] = {}
    in_use: list[tuple[int, int]] = []  # (end, place)
    count = 0
    for slot in sorted(first, key=lambda s: (first[s], s)):
        free = sorted(p for end, p in in_use if end < first[slot])
        in_use = [u for u in in_use if u[0] >= first[slot] or u[1] != (free or [-1])[0]]
        if free:
            place[slot] = free[0]
        else:
            place[slot] = count
            count += 1
        in_use.append((last[slot], place[slot]))
    for line in lines:
        if line.slot >= 0:
            line.slot = place[line.slot]
    return count
