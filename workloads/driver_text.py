"""Driver text: assembly by which a host gives commands to a co-processor and moves data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from isa.coprocessor import (
    GET_OFFSET,
    PUT_OFFSET,
    SET_OFFSET,
    START_OFFSET,
    WAIT_OFFSET,
    WINDOW_BASE,
)

WORD_BYTES = 8
"""Bytes that one `put` passes."""
MOST_REPEATED = 16
"""Words moved in one iteration of a loop at most, whatever the compiler may unroll."""

_TEMPORARIES = ("t0", "t1", "t2", "t3")
_WINDOW, _END = "t5", "t6"


@dataclass(frozen=True)
class Link:
    """How a program reaches a co-processor and who moves the data.

    Attributes:
        mover: "cpu" or "dma".
        attachment: "commands" (instructions of `isa.extensions.xcop`) or "mapped" (the window).
        is_ahead: The next block may be put before the output of the last has been got, as a double
            buffer allows.
    """

    mover: str = "cpu"
    attachment: str = "commands"
    is_ahead: bool = False

    def __post_init__(self) -> None:
        for name, accepted in (("mover", ("cpu", "dma")), ("attachment", ("commands", "mapped"))):
            if getattr(self, name) not in accepted:
                raise ValueError(
                    f"{name} must be {' or '.join(accepted)}, not {getattr(self, name)!r}"
                )


class DriverText:
    """Collects the lines of a driver; t0 to t6 are its own.

    Attributes:
        lines: Assembly, in order.
    """

    def __init__(self, xlen: int, link: Link, unroll: int | str = 1) -> None:
        """Begin a driver.

        Args:
            xlen: Register width of the host.
            link: How it reaches the co-processor.
            unroll: Words moved in one iteration of a loop, or "full"; at most `MOST_REPEATED`.
        """
        self.xlen = xlen
        self.link = link
        self.lines: list[str] = []
        self._repeat = MOST_REPEATED if unroll == "full" else min(int(unroll), MOST_REPEATED)
        self._load, self._store = ("lw", "sw") if xlen == 32 else ("ld", "sd")
        self._step = xlen // 8
        self._labels = 0
        if link.attachment == "mapped":
            self.lines.append(f"lui {_WINDOW}, {WINDOW_BASE >> 12:#x}")

    # --- Commands --------------------------------------------------------------------------------

    def set(self, setting: int, register: str) -> None:
        """Change a setting to the value of a register."""
        if self.link.attachment == "mapped":
            self._to_window(register, SET_OFFSET + 8 * setting)
        else:
            self.lines.append(f"cp.set {register}, {setting}")

    def set_value(self, setting: int, value: int) -> None:
        """Change a setting to a constant below 2^31."""
        if value:
            self.lines.append(f"li t0, {value}")
        self.set(setting, "t0" if value else "zero")

    def start(self) -> None:
        """Begin with the message."""
        if self.link.attachment == "mapped":
            self._to_window("zero", START_OFFSET)
        else:
            self.lines.append("cp.start")

    def wait(self, register: str) -> None:
        """Wait; the register takes 0 or an error code."""
        if self.link.attachment == "mapped":
            self.lines.append(f"{self._load} {register}, {WAIT_OFFSET}({_WINDOW})")
        else:
            self.lines.append(f"cp.wait {register}")

    def _put(self, registers: Sequence[str]) -> None:
        if self.link.attachment == "mapped":
            for i, register in enumerate(registers):
                self._to_window(register, PUT_OFFSET + self._step * i)
        else:
            self.lines.append(f"cp.put {', '.join(registers)}")

    def _get(self, register: str) -> None:
        if self.link.attachment == "mapped":
            self.lines.append(f"{self._load} {register}, {GET_OFFSET}({_WINDOW})")
        else:
            self.lines.append(f"cp.get {register}")

    def _to_window(self, register: str, offset: int) -> None:
        self.lines.append(f"{self._store} {register}, {offset}({_WINDOW})")

    # --- Data ------------------------------------------------------------------------------------

    def put_words(self, pointer: str, count: int, offset: int = 0) -> None:
        """Put words of 64 bits that stand behind a pointer, which may move."""
        for start, repeated in self._iterations(count, self._repeat, {pointer: WORD_BYTES}):
            self._copy_in(pointer, repeated, offset + WORD_BYTES * start)

    def get_words(self, pointer: str, count: int) -> None:
        """Get words of 64 bits and store them behind a pointer, which may move."""
        for start, repeated in self._iterations(count, self._repeat, {pointer: WORD_BYTES}):
            self._copy_out(pointer, repeated, WORD_BYTES * start)

    def exchange(self, source: str, target: str, blocks: int, words: tuple[int, int]) -> None:
        """Put blocks and get what becomes of each.

        Args:
            source: Pointer to the blocks; it may move.
            target: Pointer to the outputs; it may move.
            blocks: How many.
            words: Words of 64 bits of a block and of its output.
        """
        taken, given = words
        if self.link.is_ahead:
            self._copy_in(source, taken, 0)
            first, ahead = 1, WORD_BYTES * taken
        else:
            first, ahead = 0, 0
        moved = {source: WORD_BYTES * taken, target: WORD_BYTES * given}
        repeat = max(1, self._repeat // max(words))
        for start, repeated in self._iterations(blocks - first, repeat, moved):
            for i in range(start, start + repeated):
                self._copy_in(source, taken, ahead + moved[source] * i)
                self._copy_out(target, given, moved[target] * i)
        if self.link.is_ahead:
            rest = (blocks - 1) % repeat if blocks - 1 > repeat else blocks - 1
            self._copy_out(target, given, moved[target] * rest)

    def _iterations(
        self, count: int, repeat: int, moved: dict[str, int]
    ) -> Iterator[tuple[int, int]]:
        """Write a loop over `count` things and yield where its body is to be written.

        Args:
            count: How many there are.
            repeat: How many the body does.
            moved: Bytes by which each pointer moves for one thing.

        Yields:
            The number of the first thing of a body, counted from where the pointers are, and how
            many things it does. A rest that fills no body follows the loop.
        """
        if count <= repeat:
            if count:
                yield 0, count
            return
        pointer = next(iter(moved))
        label = f"loop{self._labels}"
        self._labels += 1
        size = count // repeat * repeat * moved[pointer]
        self.lines += [f"li {_END}, {size}", f"add {_END}, {pointer}, {_END}", f"{label}:"]
        yield 0, repeat
        for name, step in moved.items():
            # right behind its last use, so that what was loaded there need not be waited for
            used = (i for i, line in enumerate(self.lines) if line.endswith(f"({name})"))
            self.lines.insert(max(used) + 1, f"addi {name}, {name}, {repeat * step}")
        self.lines.append(f"bne {pointer}, {_END}, {label}")
        if count % repeat:
            yield 0, count % repeat

    def _copy_in(self, pointer: str, count: int, offset: int) -> None:
        each = WORD_BYTES // self._step  # registers of a word
        for group in _groups(count, len(_TEMPORARIES) // each):
            for i in range(len(group) * each):
                place = offset + WORD_BYTES * group[0] + self._step * i
                self.lines.append(f"{self._load} {_TEMPORARIES[i]}, {place}({pointer})")
            for i in range(len(group)):
                self._put(_TEMPORARIES[each * i : each * (i + 1)])

    def _copy_out(self, pointer: str, count: int, offset: int) -> None:
        each = WORD_BYTES // self._step
        for group in _groups(count * each, len(_TEMPORARIES)):
            for i in range(len(group)):
                self._get(_TEMPORARIES[i])
            for i, number in enumerate(group):
                place = offset + self._step * number
                self.lines.append(f"{self._store} {_TEMPORARIES[i]}, {place}({pointer})")


def _groups(count: int, size: int) -> Iterator[range]:
    for start in range(0, count, size):
        yield range(start, min(start + size, count))
