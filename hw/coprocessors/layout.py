"""Layout: the sizes in which buffer, control, bus and model count the bytes of a message."""

from __future__ import annotations

from dataclasses import dataclass

from hw.coprocessors.engines.engine import Algorithm
from hw.coprocessors.parameters import WORD_BYTES, Coprocessor

__all__ = ["Layout"]


@dataclass(frozen=True)
class Layout:
    """Sizes that follow from the parameters and the host's register width.

    A transfer is what enters the buffer at once. Buffer space is counted in units. Output leaves
    an engine in steps; as many steps as fill the port are one transfer out.

    Attributes:
        p: Parameters.
        xlen: Register width of the host in bits.
    """

    p: Coprocessor
    xlen: int = 32

    @property
    def has_dma(self) -> bool:
        """Whether the co-processor moves the data itself."""
        return self.p.mover == "dma"

    @property
    def transfer_bytes(self) -> int:
        """Bytes of a transfer into the buffer."""
        return self.p.transfer_bits // 8

    @property
    def transfer_units(self) -> int:
        """Units of buffer space that a transfer takes."""
        return self.transfer_bytes // self.p.unit_bytes

    @property
    def capacity(self) -> int:
        """Units of buffer space."""
        return self.p.buffer_words * WORD_BYTES // self.p.unit_bytes

    @property
    def row_bits(self) -> int:
        """Bits of a row of the buffer: a transfer or an engine's word, the longer."""
        return max(self.p.transfer_bits, self.p.width)

    @property
    def rows(self) -> int:
        """Rows of the buffer."""
        return self.p.buffer_words * 8 * WORD_BYTES // self.row_bits

    @property
    def index_bits(self) -> int:
        """Bits of the number of a word, of the engine's width, in the buffer."""
        return (8 * WORD_BYTES * self.p.buffer_words // self.p.width - 1).bit_length()

    @property
    def word_bytes(self) -> int:
        """Bytes of a word between buffer and engine."""
        return self.p.width // 8

    @property
    def port_bits(self) -> int:
        """Bits of a transfer out: a register of the host, or a beat of the bus."""
        return self.p.bus_width if self.has_dma else self.xlen

    @property
    def step_bytes(self) -> int:
        """Bytes that leave an engine in one cycle."""
        return min(self.port_bits, self.p.width) // 8

    @property
    def gather(self) -> int:
        """Steps of a transfer out."""
        return self.port_bits // (8 * self.step_bytes)

    @property
    def queue_depth(self) -> int:
        """Transfers of output that can wait for the bus; 0 where none can.

        With DMA and a double buffer the output of a block leaves the engine at once, so that the
        next block can begin.
        """
        sizes = [a.output_bytes for a in self.p.held() if a.per_block]
        if not (self.has_dma and self.p.double_buffer and sizes):
            return 0
        return max(2, -(-8 * max(sizes) // self.port_bits))

    def block_units(self, algorithm: Algorithm) -> int:
        """Units of a block."""
        return algorithm.block_bytes // self.p.unit_bytes

    def key_units(self, algorithm: Algorithm) -> int:
        """Units of a key, 0 without one."""
        return algorithm.key_bytes // self.p.unit_bytes

    def output_steps(self, algorithm: Algorithm) -> int:
        """Steps of the output after one operation."""
        return algorithm.output_bytes // self.step_bytes

    def transfers(self, size: int) -> int:
        """Transfers that bring `size` bytes."""
        return -(-size // self.transfer_bytes)
