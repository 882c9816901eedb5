"""Place: the address of every instruction, and with it its size and the distance of branches.

A branch that does not reach becomes a branch over a jump. With compressed instructions all begin
short and grow where they must, until nothing changes. The head of a loop is reached by a taken
branch, which costs a cycle more where a long instruction there stands in two aligned words (see
isa.timing); something before it then stays long, or a `nop` is put in.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

from isa.compiler.operations import Loop
from isa.compiler.repertoire import Jump, Repertoire
from isa.instruction import Instruction
from isa.instruction_set import InstructionSet
from isa.kernel import KernelError, UnsupportedKernel

WORTH_ALIGNING = 3
"""Iterations from which a loop gains more by an aligned head than a `nop` before it costs."""


@dataclass(eq=False, slots=True)
class Word:
    """One instruction whose operands are known, except the distance of a jump.

    Attributes:
        instruction: What it is.
        values: Its operand fields.
        text: What it computes, for people.
        target: The loop to whose head it jumps.
        jump: How it jumps; without a target, over the next instruction.
        stays_long: It is not compressed even if it could be.
        size: Its bytes, as far as known.
        bits: Its encoding in that size.
    """

    instruction: Instruction
    values: dict[str, int]
    text: str
    target: Loop | None = None
    jump: Jump | None = None
    stays_long: bool = False
    size: int = 4
    bits: int = 0


class Placement:
    """Code of one kernel.

    Attributes:
        words: In order.
        places: Address of each, and at last that behind them.
        labels: Loops by the index of the first word of their body.
    """

    def __init__(
        self,
        words: list[Word],
        labels: dict[Loop, int],
        start: int,
        repertoire: Repertoire,
        instructions: InstructionSet,
    ) -> None:
        """Place `words` from address `start`."""
        self.words = words
        self.labels = labels
        self.places: list[int] = []
        self._start = start
        self._repertoire = repertoire
        self._instructions = instructions
        self._mask = (1 << repertoire.xlen) - 1
        self._padded: set[Loop] = set()
        for word in words:
            word.size = instructions.alignment
            if word.jump is None:
                self._encode(word, word.values)
        self._settle()
        while self._align():
            self._settle()

    def executed(self) -> int:
        """Instructions from entry to return."""
        times = self._times()
        total = sum(times)
        for i, word in enumerate(self.words):  # the last time the jump is jumped over
            if word.target is not None and word.jump is self._repertoire.call:
                total -= times[i] // word.target.count
        return total

    def waits(self) -> int:
        """How often an instruction reads what the load before it brings."""
        loads = {access.instruction for access in self._repertoire.loads.values()}
        total = 0
        for word, reader, times in zip(self.words, self.words[1:], self._times(), strict=False):
            if word.instruction in loads:
                read = {reader.values[source] for source in reader.instruction.sources}
                total += times * (word.values["rd"] in read)
        return total

    def _times(self) -> list[int]:
        """How often each word is executed."""
        times = [1] * len(self.words)
        for loop, head in self.labels.items():
            end = next(i for i, word in enumerate(self.words) if word.target is loop)
            for i in range(head, end + 1):
                times[i] *= loop.count
        return times

    def _encode(self, word: Word, values: dict[str, int]) -> bool:
        """Set the encoding of a word; returns whether its size changed."""
        size = word.size
        word.bits, word.size = word.instruction.encode(**values), 4
        if size == 2 and not word.stays_long:
            short = self._instructions.compress(word.instruction, values)
            if short is not None:
                word.bits, word.size = short, 2
        return word.size != size

    def _settle(self) -> None:
        """Bring jumps and what they jump over to a state where everything reaches."""
        changed = True
        while changed:
            changed = False
            sizes = [word.size for word in self.words]
            self.places = list(accumulate(sizes, initial=self._start))
            for i, word in enumerate(self.words):
                if word.jump is None:
                    continue
                end = i + 2 if word.target is None else self.labels[word.target]
                distance = self.places[end] - self.places[i]
                field = word.jump.offset.solve(distance & self._mask)
                if field is None:
                    self._lengthen(i, distance)
                    changed = True
                    break
                changed |= self._encode(word, {**word.values, word.jump.offset.name: field})

    def _lengthen(self, i: int, distance: int) -> None:
        """Turn a branch that does not reach into a branch over a jump."""
        word, call = self.words[i], self._repertoire.call
        far = self._repertoire.branch_equal
        if call is None or far is None:
            raise UnsupportedKernel("the instruction set must have a branch if equal and a call")
        if word.jump is call:
            raise KernelError(
                f"a loop must be short enough for its branch, not {-distance} bytes; unroll less"
            )
        least = self._instructions.alignment
        self.words[i : i + 1] = [
            Word(far.instruction, word.values, word.text, None, far, size=least),
            Word(call.instruction, {"rd": 0}, "", word.target, call, size=least),
        ]
        self._shift(i)

    def _shift(self, i: int) -> None:
        """Move the labels behind a word that became two."""
        for loop, index in self.labels.items():
            if index > i:
                self.labels[loop] = index + 1

    def _align(self) -> bool:
        """Deal with one head of a loop that stands in two words; false if there is none."""
        if self._instructions.alignment == 4:
            return False
        starts = {0, *self.labels.values()}
        for loop, head in sorted(self.labels.items(), key=lambda x: x[1]):
            astride = self.words[head].size == 4 and self.places[head] % 4
            if not astride or loop.count < WORTH_ALIGNING or loop in self._padded:
                continue
            before = max((s for s in starts if s < head), default=head)
            for word in self.words[before:head][::-1]:
                if word.size == 2:
                    word.stays_long = True
                    if word.jump is None:
                        self._encode(word, word.values)
                    return True
            self._pad(loop, head)
            return True
        return False

    def _pad(self, loop: Loop, head: int) -> None:
        """Put a `nop` before the head of a loop."""
        self._padded.add(loop)
        for accumulate_ in self._repertoire.accumulate_immediate["add"]:
            pattern = accumulate_.pattern
            assert pattern.immediate is not None
            values = dict.fromkeys(pattern.instruction.encoding.registers, 0)
            values.update(pattern.fixed)
            values[pattern.immediate.name] = 0
            word = Word(pattern.instruction, values, "", size=2)
            self._encode(word, values)
            if word.size == 2:
                self.words.insert(head, word)
                for other, index in self.labels.items():
                    if index >= head:
                        self.labels[other] = index + 1
                return
