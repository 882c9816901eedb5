"""Automaton: a frame that skips the cycles in which only counters count."""

from __future__ import annotations

from hw.coprocessors.frame import Frame

__all__ = ["Automaton"]

FOREVER = 1 << 60


class Automaton(Frame):
    """A frame with a clock: it equals the netlist in every cycle and makes few of them."""

    def advance(self, cycle: int) -> None:
        """Let time pass, without a command, up to the cycle that comes next."""
        while self.now < cycle:
            quiet = min(self.quiet(), cycle - self.now)
            if quiet:
                self.skip(quiet)
            else:
                self.step()

    def settle(self) -> None:
        """Let time pass until no message is under way; only where none waits for the host."""
        while self.active:
            quiet = self.quiet()
            if quiet:
                self.skip(quiet)
            else:
                self.step()

    def finish(self, name: str, a: int = 0, b: int = 0) -> int:
        """Make cycles with a command at the port up to the one in which it is not held.

        Returns:
            What `wait` answers.
        """
        held, result = self.step(name, a, b)
        while held:
            # A host that waits for output closes the buffer that is being filled.
            closes = self._filling and not self._double and not self._dma
            if self._holds(name) and not closes:
                self.skip(self.quiet())
            held, result = self.step(name, a, b)
        return result

    def quiet(self) -> int:
        """Cycles from now on in which counters count and nothing else happens."""
        if self._takes_effect():
            return 0
        if not self._works and not self._queue:
            return FOREVER
        if self._busy == 1 or (self.out and self._queue < self._queue_depth):
            return 0
        available = self._available()
        if not self._busy:
            if self._runs(available):
                return 0
            if self._filling and not self._double and (self._loaded() or self._full()):
                return 0
            if self._starved(available) and not self._filling and not self._double:
                return 0
            if self.out and not self._dma and self._gathered < self._gather - 1:
                return 0
        engine = self._busy - 1 if self._busy else FOREVER
        return min(engine, self._quiet_bus(available)) if self._dma else engine

    def _quiet_bus(self, available: bool) -> int:
        if self._wait:
            return self._wait
        if self._storing or (self._arriving and not self._loading):
            return 0
        if self._loading:
            watched = not self._busy and self.go and not available
            return 0 if watched else self._beats - 1
        if self.out or self._queue or (self._loading_key and not self.coming):
            return 0
        fills = self._double or self._filling
        begins = fills and self.coming and self._space >= self._wanted_units()
        return 0 if begins else FOREVER

    def skip(self, cycles: int) -> None:
        """Make quiet cycles, at most as many as `quiet` says."""
        self.now += cycles
        self.active_cycles += cycles * self.active
        if self._busy:
            self._busy -= cycles
            self.busy_cycles += cycles
        if self._wait:
            self._wait -= cycles
        elif self._loading and cycles:
            self._level += self._transfer_units * (cycles - 1 + self._arriving)
            self._arriving = True
            self._beats -= cycles
            self.beats += cycles

    def _takes_effect(self) -> bool:
        """Whether there is a command in the slot that takes effect in the cycle that comes next."""
        fills = self._works and (self._double or self._filling)
        return self._slot is not None and not self._stays(self._runs(self._available()), fills)

    def _holds(self, name: str) -> bool:
        """Whether a command would be held in the cycle that comes next."""
        return self._port(name, self._starved(self._available()), self._takes_effect())[0]
