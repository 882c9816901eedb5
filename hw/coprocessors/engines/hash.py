"""Hash: SHA-256, SHA-512 and SM3 on one set of registers and adders.

A word of 32 bits stands in the upper half of one of 64 and the lower half is 0. So SHA-256 takes
its constants from those of SHA-512, whose upper halves they are, and no carry need be cut off.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import pyrtl

from hw.coprocessors.engines.compression import Compression
from hw.coprocessors.engines.engine import (
    Algorithm,
    Engine,
    Inputs,
    Operation,
    Outputs,
    Padding,
    Shape,
    State,
)
from hw.coprocessors.engines.hash_constants import LATE_ROUND, GroupClock, round_constants
from hw.coprocessors.engines.wiring import (
    any_of,
    byte_swapped,
    chosen,
    equals,
    incremented,
    item,
    split,
)
from isa import sm3
from isa.sha2 import SHA256, SHA512

__all__ = ["ENGINE"]

WORDS = 16
"""Words of a block, and of the message schedule that is kept."""
AHEAD = 4
"""How many words further than its own a round of SM3 looks."""
LAST = 4
"""Rounds whose words make up either half of the state."""
_COMPRESS: dict[str, Callable[[Sequence[int], bytes], State]] = {
    "sha256": SHA256.compress,
    "sha512": SHA512.compress,
    "sm3": sm3.compress,
}
_INITIAL = {"sha256": SHA256.initial, "sha512": SHA512.initial, "sm3": sm3.INITIAL}
_ROUNDS = {"sha256": 64, "sha512": 80, "sm3": 64}
_FIPS, _GB = "FIPS 180-4 (2015)", "GB/T 32905-2016"


class Hash(Engine):
    """Merkle-Damgård hashes of 16-word blocks.

    A word is read from the schedule one group of rounds after it was loaded or computed, so the
    schedule and the rounds work side by side and the first rounds run while the block is pulled.
    The last four rounds leave the four words of either half of the state one after the other in
    the same register; each is added to the chaining value there, only the last after the rounds.
    """

    name = "hash"
    algorithms = MappingProxyType(
        {
            "sha256": Algorithm("sha256", 64, 32, _FIPS, Padding(0x80, length_bytes=8)),
            "sha512": Algorithm("sha512", 128, 64, _FIPS, Padding(0x80, length_bytes=16)),
            "sm3": Algorithm("sm3", 64, 32, _GB, Padding(0x80, length_bytes=8)),
        }
    )

    def rounds(self, p: Shape) -> int:
        """Return the rounds of one group: 1, 2 and 4 divide 16, 64 and 80."""
        return p.rounds_per_cycle

    def run_cycles(self, p: Shape, algorithm: str, operation: Operation = Operation.BLOCK) -> int:
        """Return the cycles of a block: its groups, those ahead of the first round, and one."""
        times = _Times(p, algorithm)
        rest = times.groups - times.loading
        return times.loading * times.load_cycles + rest * p.stages + 1

    def initial(self, algorithm: str) -> State:
        """Return the initial hash value, eight words."""
        return _INITIAL[algorithm]

    def step(
        self, algorithm: str, state: State, data: bytes, operation: Operation = Operation.BLOCK
    ) -> State:
        """Return the eight words after a block."""
        return _COMPRESS[algorithm](state, data)

    def output(self, algorithm: str, state: State) -> bytes:
        """Return the hash, words big-endian."""
        size = self.algorithms[algorithm].output_bytes // 8
        return b"".join(x.to_bytes(size, "big") for x in state)

    def build(self, p: Shape, inputs: Inputs) -> Outputs:
        """Build the engine."""
        return _Hash(p, self.held(p), inputs).build()


ENGINE = Hash()


@dataclass(frozen=True)
class _Times:
    """When what happens in a block of one algorithm, in groups of rounds counted from 0."""

    p: Shape
    algorithm: str

    @property
    def lag(self) -> int:
        """The group in which the first rounds run."""
        ahead = AHEAD if self.algorithm == "sm3" else 0
        return 1 + ahead // self.p.rounds_per_cycle

    @property
    def loading(self) -> int:
        """Groups that load words."""
        return WORDS // self.p.rounds_per_cycle

    @property
    def groups(self) -> int:
        """All groups; behind them comes one more cycle."""
        return self.lag + _ROUNDS[self.algorithm] // self.p.rounds_per_cycle

    @property
    def word_bits(self) -> int:
        """Bits of a word of the message."""
        return 64 if self.algorithm == "sha512" else 32

    @property
    def beats(self) -> int:
        """Pulled words that a group loads, or 1 where it loads half of one."""
        return max(1, self.p.rounds_per_cycle * self.word_bits // self.p.width)

    @property
    def halves(self) -> bool:
        """Whether two groups share a pulled word."""
        return self.p.rounds_per_cycle * self.word_bits < self.p.width

    @property
    def load_cycles(self) -> int:
        """Cycles of a group that loads words."""
        return max(self.p.stages, self.beats)


class _Hash:
    """One engine being built: its registers and what they hold next."""

    def __init__(self, p: Shape, held: Sequence[str], inputs: Inputs) -> None:
        self.p = p
        self.held = held
        self.inputs = inputs
        self.times = {name: _Times(p, name) for name in held}
        self.rounds = p.rounds_per_cycle
        self.compression = Compression(held, inputs.selected, self.rounds)
        width = self.compression.width
        self.work = [pyrtl.Register(width) for _ in range(8)]
        self.chain = [pyrtl.Register(width) for _ in range(8)]
        self.schedule = [pyrtl.Register(width) for _ in range(WORDS)]
        self.group = pyrtl.Register(max(t.groups for t in self.times.values()).bit_length())
        self.busy = pyrtl.Register(1)
        self.final = self.busy & self.at(lambda t: t.groups)
        self.ready = ~self.busy | self.final

    def build(self) -> Outputs:
        """Connect everything."""
        loading = self.group < WORDS // self.rounds
        end, loaded_beat = self._phases(loading)
        take = self._pull(loaded_beat)
        self.busy.next <<= self.inputs.run | (self.busy & ~self.final)
        following = pyrtl.select(end, incremented(self.group), self.group)
        following = pyrtl.select(self.ready, pyrtl.Const(0, len(self.group)), following)
        self.group.next <<= following
        running = self._running()
        clock = GroupClock(self.group, following, end, running)
        lag = {name: t.lag for name, t in self.times.items()}
        constants = round_constants(self.inputs.selected, self.rounds, lag, clock)
        early = self.group < lag.get("sm3", 0) + LATE_ROUND // self.rounds
        state, words = self.compression.group(
            self.work, self.schedule, constants, early, self.p.stages
        )
        new = [
            pyrtl.select(loading, one, other)
            for one, other in zip(self._loaded(), words, strict=True)
        ]
        for register, value in zip(
            self.schedule, [*self.schedule, *new][self.rounds :], strict=True
        ):
            register.next <<= pyrtl.select(end, value, register)
        for register, value, start in zip(self.work, state, self.chain, strict=True):
            kept = pyrtl.select(running, register, start)
            register.next <<= pyrtl.select(running & end, value, kept)
        self._chain_next(end)
        return Outputs(take, self.busy, self.ready, self._out())

    def at(self, group: Callable[[_Times], int]) -> Any:
        """Return whether the group counter stands where `group` says for the algorithm."""
        return self.among(lambda times: [group(times)])

    def among(self, groups: Callable[[_Times], Sequence[int]]) -> Any:
        """Return whether the group counter is one of those for the selected algorithm."""
        sets = {name: tuple(groups(times)) for name, times in self.times.items()}
        wires = {
            s: any_of(*(equals(self.group, g) for g in s)) for s in dict.fromkeys(sets.values())
        }
        return self.by_algorithm(lambda name: wires[sets[name]])

    def by_algorithm(self, value: Callable[[str], Any]) -> Any:
        """Return the wire that `value` gives for the selected algorithm."""
        return chosen({name: value(name) for name in self.held}, self.inputs.selected)

    # --- Control ---------------------------------------------------------------------------------

    def _phases(self, loading: Any) -> tuple[Any, Any]:
        """Return whether a group ends in this cycle, and whether it uses the word pulled."""
        longest = max(t.load_cycles for t in self.times.values())
        if longest == 1:
            one = pyrtl.Const(1, 1)
            return one, loading
        phase = pyrtl.Register((longest - 1).bit_length())
        numbers = [phase == i for i in range(longest)]
        load_end = self.by_algorithm(lambda name: numbers[self.times[name].load_cycles - 1])
        end = pyrtl.select(loading, load_end, numbers[self.p.stages - 1])
        zero = pyrtl.Const(0, len(phase))
        phase.next <<= pyrtl.select(self.ready | end, zero, incremented(phase))
        uses = {
            name: any_of(*numbers[t.load_cycles - t.beats : t.load_cycles])
            for name, t in self.times.items()
        }
        return end, loading & self.by_algorithm(uses.__getitem__)

    def _pull(self, uses: Any) -> Any:
        """Return the number of the word wanted next."""
        number = pyrtl.Register(ENGINE.take_bits(self.p))
        odd = self.group[0]
        one = pyrtl.Const(1, 1)
        done = uses & self.by_algorithm(lambda name: odd if self.times[name].halves else one)
        following = pyrtl.select(done, incremented(number), number)
        take = pyrtl.select(self.ready, pyrtl.Const(0, len(number)), following)
        number.next <<= take
        return take

    def _running(self) -> Any:
        """Return whether rounds run: the groups from the lag on, but for the last cycle."""
        first = self.by_algorithm(lambda name: self.group >= self.times[name].lag)
        return first & ~self.final

    # --- Data ------------------------------------------------------------------------------------

    def _loaded(self) -> list[Any]:
        """Return the words that the group loads, of which the last parts stand on `word`."""
        p = self.p
        kept = max(t.beats for t in self.times.values()) - 1
        stream = self.inputs.word
        previous = self.inputs.word
        for _ in range(kept):
            register = pyrtl.Register(p.width)
            register.next <<= previous
            previous = register
            stream = pyrtl.concat(stream, register)
        words: list[dict[str, Any]] = [{} for _ in range(self.rounds)]
        for name, t in self.times.items():
            bits = t.word_bits
            if t.halves:
                low, high = split(self.inputs.word, bits)
                parts = [pyrtl.select(self.group[0], high, low)]
            else:
                parts = split(stream[len(stream) - self.rounds * bits :], bits)
            for word, part in zip(words, parts, strict=True):
                word[name] = self.compression.aligned(byte_swapped(part))
        return [self.by_algorithm(word.__getitem__) for word in words]

    def _chain_next(self, end: Any) -> None:
        """Add the words of the last rounds to the chaining value, and take the initial one."""
        ahead = LAST // self.rounds - 1
        adding = self.final
        if ahead:
            counts = self.among(lambda t: range(t.groups - ahead, t.groups))
            adding = adding | (counts & end & self.busy)
        turned = self._turned()
        initial = self.compression.constants({name: _INITIAL[name] for name in self.held})
        for half in (0, 4):
            chain = self.chain[half : half + 4]
            fresh = [
                self.compression.joined(chain[LAST - self.rounds + i], self.work[half + i], word)
                for i, word in enumerate(turned[half : half + self.rounds])
            ]
            for i, new in enumerate([*fresh, *chain][:LAST]):
                kept = pyrtl.select(self.inputs.init, initial[half + i], chain[i])
                chain[i].next <<= pyrtl.select(adding & ~self.inputs.init, new, kept)

    def _turned(self) -> list[Any]:
        """Return the state with words rotated that SM3 would have rotated two rounds later."""
        if "sm3" not in self.held or self.rounds == LAST:
            return list(self.work)
        late = self.among(lambda t: range(t.groups + 1 - LAST // self.rounds // 2, t.groups + 1))
        turn = ~late if self.held == ("sm3",) else ~late & self.inputs.selected["sm3"]
        return [
            pyrtl.select(turn, self.compression.turned(word, 9 if i < 4 else 19), word)
            for i, word in enumerate(self.work)
        ]

    def _out(self) -> Any:
        """Return the output word selected."""
        width = self.p.width
        words: dict[int, Any] = {}
        for bits in dict.fromkeys(t.word_bits for t in self.times.values()):
            parts = [byte_swapped(self.compression.significant(c, bits)) for c in self.chain]
            joined = pyrtl.concat_list(parts)
            words[bits] = item(split(joined, width), self.inputs.select)
        return self.by_algorithm(lambda name: words[self.times[name].word_bits])
