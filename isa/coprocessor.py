"""Co-processor: what a program sees of it: commands, settings, algorithm codes and the window.

The protocol of one message: `set` the algorithm, the length and whatever else is needed, `start`,
`put` the key of a block cipher and the message where the CPU moves the data, `wait`, and `get` the
output where the CPU moves it. A co-processor that moves the data itself is told the addresses
instead. Bits 7..0 of a word are the byte with the lowest address.
"""

from __future__ import annotations

COMMANDS = ("set", "put", "start", "wait", "get", "low")
"""`set` a to setting b; `put` 64 message bits (a the lower, b the upper 32 on RV32, a alone on
RV64); `start`; `wait` for the end (0, or an error code); `get` the next xlen bits of the output.
`low` is the store of the lower half of a `put` through the window on RV32; it only takes time."""

ALGORITHM, LENGTH, SOURCE, DESTINATION, OUTPUT_LENGTH, KEY = range(6)
"""Settings: algorithm code; bytes of the message; addresses of message and output; bytes of output
of an extendable-output function; address of the key of a block cipher."""

ALGORITHMS = (
    *("sha256", "sha512", "sm3", "aes128-encrypt", "aes128-decrypt", "haraka256", "haraka512"),
    *("sha3-256", "shake128", "shake256", "sm4-encrypt", "sm4-decrypt", "ghash", "ascon-p12"),
    *("ascon-p8", "ascon-hash256"),
)
"""Algorithms by code."""

WINDOW_BASE = 0x4000_0000
"""Lowest address of the window of a memory-mapped co-processor."""
WINDOW_SIZE = 0x80
"""Bytes of the window."""
SET_OFFSET, PUT_OFFSET, START_OFFSET, WAIT_OFFSET, GET_OFFSET = 0x00, 0x40, 0x50, 0x58, 0x60
"""Offsets in the window. A store to SET_OFFSET + 8 n changes setting n, one to PUT_OFFSET puts 64
bits (RV32: the lower half there, then the upper half 4 bytes above), one to START_OFFSET starts; a
load from WAIT_OFFSET waits, one from GET_OFFSET gets. Accesses are xlen bits wide."""
