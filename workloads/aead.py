"""Authenticated encryption: what sealing and opening have in common, whatever the algorithm.

Sealing writes a ciphertext and its tag. Opening takes both, and writes the plaintext and whether
the tag is right: 1 or 0 in four bytes. It writes the plaintext in either case; who calls it must
not use that of a message which is not authentic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from isa.bits import Bits
from isa.kernel import Builder, Pointer
from workloads.words import equal, load_words, store_words
from workloads.workload import Buffer, Values, Vector

LARGEST = 65_536
"""Largest message in bytes; one that does not fit data memory can only be extrapolated."""


def check_size(name: str, message_bytes: int) -> None:
    """Refuse a message that does not fit, naming the workload.

    Raises:
        ValueError: It is empty or too long.
    """
    if not 1 <= message_bytes <= LARGEST:
        raise ValueError(f"message of {name} must have 1 to {LARGEST} bytes, not {message_bytes}")


def buffers(before: Sequence[Buffer], message_bytes: int, *, inverse: bool) -> tuple[Buffer, ...]:
    """Arguments: keys and what else stands `before`, message, tag or verdict."""
    if inverse:
        after = [
            Buffer("input", message_bytes, "in"),
            Buffer("tag", 16, "in"),
            Buffer("output", message_bytes, "out"),
            Buffer("authentic", 4, "out", declassified=True),
        ]
    else:
        after = [
            Buffer("input", message_bytes, "in", secret=True),
            Buffer("output", message_bytes, "out", declassified=True),
            Buffer("tag", 16, "out", declassified=True),
        ]
    return (*before, *after)


def outcome(values: Values, output: bytes, tag: bytes, *, inverse: bool) -> dict[str, bytes]:
    """Golden results, from the tag as computed."""
    if inverse:
        return {"output": output, "authentic": bytes([tag == values["tag"], 0, 0, 0])}
    return {"output": output, "tag": tag}


def pointers(k: Builder, *, inverse: bool) -> tuple[Pointer, Pointer | None, Pointer, Pointer]:
    """Input, tag to compare with, output, and where tag or verdict goes."""
    source = k.pointer("input")
    given = k.pointer("tag") if inverse else None
    return source, given, k.pointer("output"), k.pointer("authentic" if inverse else "tag")


def conclude(k: Builder, tag: Sequence[Bits], given: Pointer | None, last: Pointer) -> None:
    """Store the tag, four words, or whether it is the given one."""
    if given is None:
        store_words(k, last, tag)
    else:
        k.store(last, 0, equal(tag, load_words(k, given, 4)))


def vectors(
    before: Mapping[str, bytes],
    plaintext: bytes,
    ciphertext: bytes,
    tag: bytes,
    source: str,
    *,
    inverse: bool,
) -> list[Vector]:
    """A published message; opened too with the last bit of its tag flipped."""
    if not inverse:
        outputs = {"output": ciphertext, "tag": tag}
        return [Vector({**before, "input": plaintext}, outputs, source)]
    made = []
    for flip, note in ((0, ""), (1, ", last bit of the tag flipped")):
        inputs = {**before, "input": ciphertext, "tag": tag[:-1] + bytes([tag[-1] ^ flip])}
        outputs = {"output": plaintext, "authentic": bytes([1 - flip, 0, 0, 0])}
        made.append(Vector(inputs, outputs, source + note))
    return made
