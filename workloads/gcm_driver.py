"""GCM driver: AES-128-GCM with both AES and GHASH done by the co-processor.

The host writes a block of zeros and the counter blocks into a stack buffer and has them encrypted
in place, which gives the key of GHASH, the block that hides the tag, and the key stream. It adds
the message, puts the associated data before and the lengths behind the ciphertext, and has all of
it hashed. The prepared key of GHASH that the workload gives is not needed.
"""

from __future__ import annotations

from isa.coprocessor import ALGORITHM, ALGORITHMS, DESTINATION, KEY, LENGTH, SOURCE
from workloads.driver_text import WORD_BYTES, DriverText
from workloads.gcm import ASSOCIATED_BYTES
from workloads.workload import Workload

BLOCK = 16
AAD_BLOCKS = -(-ASSOCIATED_BYTES // BLOCK)
ALGORITHMS_USED = ("aes128-encrypt", "ghash")


def seal(text: DriverText, workload: Workload) -> None:
    """Write the driver of `aes128-gcm`; buffers are in a0, a1, ..

    From sp upward stand the key of GHASH, the block that hides the tag, and the buffer, which is
    pointed to by a7.
    """
    size = workload.message_bytes
    blocks = -(-size // BLOCK)
    first = BLOCK * AAD_BLOCKS  # of the message in the buffer
    frame = 2 * BLOCK + first + BLOCK * (blocks + 1)
    write = text.lines.append
    text.lines += [f"li t0, {frame}", "sub sp, sp, t0", f"addi a7, sp, {2 * BLOCK}"]
    _counters(text, blocks)
    _encrypt(text, blocks + 2)
    for offset in range(0, 2 * BLOCK, 4):
        text.lines += [f"lw t0, {offset}(a7)", f"sw t0, {offset}(sp)"]
    for offset in range(0, first, 4):
        value = "zero"
        if offset < ASSOCIATED_BYTES:
            write(f"lw t0, {offset}(a3)")
            value = "t0"
        write(f"sw {value}, {offset}(a7)")
    _add_message(text, size, first)
    _lengths(text, size)
    _hash(text, first + BLOCK * (blocks + 1))
    for offset in range(0, BLOCK, 4):
        text.lines += [
            f"lw t0, {offset}(sp)",
            f"lw t1, {BLOCK + offset}(sp)",
            "xor t0, t0, t1",
            f"sw t0, {offset}(a6)",
        ]
    text.lines += [f"li t0, {frame}", "add sp, sp, t0"]


def _counters(text: DriverText, blocks: int) -> None:
    """A block of zeros, then counter blocks from 1 on, one more than the message has."""
    text.lines += [f"sw zero, {offset}(a7)" for offset in range(0, BLOCK, 4)]
    text.lines += [
        *("lw t0, 0(a2)", "lw t1, 4(a2)", "lw t2, 8(a2)"),
        *(f"addi a2, a7, {BLOCK}", f"li t6, {BLOCK * (blocks + 1)}", "add t6, a2, t6"),
        *("li t3, 1", "counter:"),
        *("sw t0, 0(a2)", "sw t1, 4(a2)", "sw t2, 8(a2)", "sw zero, 12(a2)"),
        *("sb t3, 15(a2)", "srli t4, t3, 8", "sb t4, 14(a2)"),  # big-endian, below 2^16
        *("addi t3, t3, 1", f"addi a2, a2, {BLOCK}", "bne a2, t6, counter"),
    ]


def _encrypt(text: DriverText, blocks: int) -> None:
    """Blocks from a7 on, in place, with the key at a0."""
    text.set_value(ALGORITHM, ALGORITHMS.index("aes128-encrypt"))
    text.set_value(LENGTH, BLOCK * blocks)
    if text.link.mover == "dma":
        _transfer(text, source="a7", destination="a7", key="a0")
        return
    text.start()
    text.put_words("a0", BLOCK // WORD_BYTES)
    text.lines += ["mv a1, a7", "mv a2, a7"]
    words = BLOCK // WORD_BYTES
    text.exchange("a1", "a2", blocks, (words, words))


def _add_message(text: DriverText, size: int, first: int) -> None:
    """Message at a4 + key stream to a5 and into the buffer, zeros up to a whole block; a1 moves."""
    text.lines.append(f"addi a1, a7, {first}")
    if size >= 4:
        text.lines += [f"li t6, {size // 4 * 4}", "add t6, a1, t6", "message:"]
        text.lines += ["lw t0, 0(a1)", "lw t1, 0(a4)", "addi a4, a4, 4", "xor t0, t0, t1"]
        text.lines += ["sw t0, 0(a1)", "sw t0, 0(a5)", "addi a1, a1, 4", "addi a5, a5, 4"]
        text.lines.append("bne a1, t6, message")
    for i in range(size % 4):
        text.lines += [f"lbu t0, {i}(a1)", f"lbu t1, {i}(a4)", "xor t0, t0, t1"]
        text.lines += [f"sb t0, {i}(a1)", f"sb t0, {i}(a5)"]
    rest = size % 4
    padding = -size % BLOCK
    text.lines += [f"sb zero, {rest + i}(a1)" for i in range(padding)]
    text.lines.append(f"addi a1, a1, {rest + padding}")


def _lengths(text: DriverText, size: int) -> None:
    """Lengths of associated data and message in bits, big-endian, at a1."""
    for offset, length in ((0, ASSOCIATED_BYTES), (8, size)):
        swapped = int.from_bytes((8 * length).to_bytes(4, "big"), "little", signed=True)
        text.lines += [
            f"sw zero, {offset}(a1)",
            f"li t0, {swapped}",
            f"sw t0, {offset + 4}(a1)",
        ]


def _hash(text: DriverText, size: int) -> None:
    """GHASH of what stands at a7, with the key at sp, whose place the digest takes."""
    text.set_value(ALGORITHM, ALGORITHMS.index("ghash"))
    text.set_value(LENGTH, size)
    if text.link.mover == "dma":
        _transfer(text, source="a7", destination="sp", key="sp")
        return
    text.start()
    text.lines.append("mv t4, sp")  # pointers may move
    text.put_words("t4", BLOCK // WORD_BYTES)
    text.put_words("a7", size // WORD_BYTES)
    text.lines.append("mv t4, sp")
    text.get_words("t4", BLOCK // WORD_BYTES)


def _transfer(text: DriverText, *, source: str, destination: str, key: str) -> None:
    text.set(SOURCE, source)
    text.set(DESTINATION, destination)
    text.set(KEY, key)
    text.start()
    text.wait("zero")
