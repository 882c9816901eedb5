"""Block ciphers: workloads of one block, of the key schedule and of modes, from a cipher.

Round keys are given except to the key schedule. Decryption takes the same round keys as
encryption unless `BlockCipher.decrypt_keys` says otherwise.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from isa.bits import Bits
from isa.kernel import Builder, Index, Pointer
from workloads import cbc, gcm, register, xts
from workloads.batches import in_batches
from workloads.words import Words, load_words, store_words, swapped, total
from workloads.workload import Buffer, Kernel, Values, Vector, Workload

Cipher = Callable[[Builder, Words, Pointer], Words]
"""Kernel of one block: builder, its words as `lw` reads them, round keys; returns the words."""
Schedule = Callable[[Builder, Pointer, Pointer], None]
"""Kernel of a key schedule: builder, key, round keys to write."""
Block = Callable[[bytes, bytes], bytes]
"""Golden function of one block: block and round keys."""

LARGEST = 16_384
"""Largest message in bytes; buffers and tables must fit data memory."""


@dataclass(frozen=True)
class Example:
    """A published block.

    Attributes:
        key: Key.
        plaintext: One block.
        ciphertext: One block.
        source: Where it is printed.
    """

    key: bytes
    plaintext: bytes
    ciphertext: bytes
    source: str


@dataclass(frozen=True)
class Counted:
    """A published message in CTR mode.

    Attributes:
        key: Key.
        counter: First counter block.
        plaintext: Whole blocks.
        ciphertext: As long.
        source: Where it is printed.
    """

    key: bytes
    counter: bytes
    plaintext: bytes
    ciphertext: bytes
    source: str


@dataclass(frozen=True)
class Variant:
    """A kernel: its function, one line about it, and the mnemonics it cannot do without.

    Attributes:
        function: Takes the words of up to `blocks` blocks, one after the other.
        summary: One line for people.
        requires: Mnemonics.
        blocks: How many it processes in the time of one.
    """

    function: Cipher
    summary: str
    requires: frozenset[str] = frozenset()
    blocks: int = 1


@dataclass(frozen=True)
class ScheduleVariant:
    """A kernel of the key schedule, likewise."""

    function: Schedule
    summary: str
    requires: frozenset[str] = frozenset()


@dataclass(frozen=True)
class BlockCipher:
    """A block cipher.

    Attributes:
        name: Prefix of the workload names.
        source: Standard.
        block_bytes: 8 or 16.
        key_bytes: Length of the key.
        schedule_bytes: Length of the round keys.
        expand: Golden key schedule.
        encrypt: Golden encryption.
        decrypt: Golden decryption.
        encryption: Kernels.
        decryption: Kernels.
        schedule: Kernels.
        examples: Published blocks.
        schedules: Published (key, round keys, source); where the standard prints none, the
            schedules of the examples, which the ciphertexts vouch for.
        decrypt_keys: Golden map from the round keys to those of decryption.
        counted: Published messages in CTR mode.
        sectors: Published sectors in XTS mode; without one there is no workload of that mode.
        sealed: Published messages in GCM mode, likewise.
    """

    name: str
    source: str
    block_bytes: int
    key_bytes: int
    schedule_bytes: int
    expand: Callable[[bytes], bytes]
    encrypt: Block
    decrypt: Block
    encryption: Mapping[str, Variant]
    decryption: Mapping[str, Variant]
    schedule: Mapping[str, ScheduleVariant]
    examples: tuple[Example, ...]
    schedules: tuple[tuple[bytes, bytes, str], ...] = ()
    decrypt_keys: Callable[[bytes], bytes] = bytes
    counted: tuple[Counted, ...] = ()
    sectors: tuple[xts.Sector, ...] = ()
    sealed: tuple[gcm.Sealed, ...] = ()

    def register(self, **default_bytes: int) -> None:
        """Make the workloads known: one block, the key schedule, and messages in each mode.

        Args:
            default_bytes: Message size by mode where it is not four blocks; CTR, of which mostly
                one block can be vouched for, takes one block.
        """
        register(f"{self.name}-encrypt")(lambda: self.block_workload(inverse=False))
        register(f"{self.name}-decrypt")(lambda: self.block_workload(inverse=True))
        register(f"{self.name}-key-schedule")(self.schedule_workload)
        blocks = {"ecb": 4, "cbc": 4, "ctr": 1}
        size = {mode: n * self.block_bytes for mode, n in blocks.items()} | default_bytes
        register(f"{self.name}-ecb", default_bytes=size["ecb"])(self.ecb)
        register(f"{self.name}-ctr", default_bytes=size["ctr"])(self.ctr)
        self.register_both_ways(size["cbc"])

    def register_both_ways(self, cbc_bytes: int) -> None:
        """Make CBC known in both directions, and XTS and GCM where a published message is."""
        made = [("cbc", "cbc-decrypt", cbc.workload, cbc_bytes)]
        if self.sectors:
            made.append(("xts", "xts-decrypt", xts.workload, len(self.sectors[0].plaintext)))
        if self.sealed:
            made.append(("gcm", "gcm-open", gcm.workload, len(self.sealed[0].plaintext)))
        for forward, back, workload, size in made:
            for mode, inverse in ((forward, False), (back, True)):
                factory = partial(workload, self, inverse=inverse)
                register(f"{self.name}-{mode}", default_bytes=size)(factory)

    def block_workload(self, *, inverse: bool) -> Workload:
        """One block, round keys given."""
        words = self.block_bytes // 4
        golden = self.decrypt if inverse else self.encrypt

        def kernel(name: str, variant: Variant) -> Kernel:
            def build(k: Builder) -> None:
                source, keys, target = (
                    k.pointer("input"),
                    k.pointer("round_keys"),
                    k.pointer("output"),
                )
                block = load_words(k, source, words)
                store_words(k, target, variant.function(k, block, keys))

            return Kernel(name, build, variant.summary, variant.requires)

        variants = self.decryption if inverse else self.encryption
        vectors = []
        for e in self.examples:
            keys = self.expand(e.key)
            if inverse:
                inputs = {"input": e.ciphertext, "round_keys": self.decrypt_keys(keys)}
                vectors.append(Vector(inputs, {"output": e.plaintext}, e.source))
            else:
                inputs = {"input": e.plaintext, "round_keys": keys}
                vectors.append(Vector(inputs, {"output": e.ciphertext}, e.source))
        return Workload(
            f"{self.name}-{'decrypt' if inverse else 'encrypt'}",
            self.source,
            (
                Buffer("input", self.block_bytes, "in", secret=True),
                Buffer("round_keys", self.schedule_bytes, "in", secret=True),
                Buffer("output", self.block_bytes, "out", declassified=True),
            ),
            lambda v: {"output": golden(v["input"], v["round_keys"])},
            {name: kernel(name, variant) for name, variant in variants.items()},
            tuple(vectors),
            message_bytes=self.block_bytes,
        )

    def schedule_workload(self) -> Workload:
        """Expansion of a key."""

        def kernel(name: str, variant: ScheduleVariant) -> Kernel:
            def build(k: Builder) -> None:
                variant.function(k, k.pointer("key"), k.pointer("round_keys"))

            return Kernel(name, build, variant.summary, variant.requires)

        published = self.schedules or tuple(
            (e.key, self.expand(e.key), f"{e.source}, through its ciphertext")
            for e in self.examples
        )
        return Workload(
            f"{self.name}-key-schedule",
            self.source,
            (
                Buffer("key", self.key_bytes, "in", secret=True),
                Buffer("round_keys", self.schedule_bytes, "out"),
            ),
            lambda v: {"round_keys": self.expand(v["key"])},
            {name: kernel(name, variant) for name, variant in self.schedule.items()},
            tuple(Vector({"key": k}, {"round_keys": r}, source) for k, r, source in published),
        )

    def blocks(self, workload: str, message_bytes: int) -> int:
        """Blocks of a message.

        Raises:
            ValueError: It is not one of whole blocks that fit; the text names the workload.
        """
        step = self.block_bytes
        if message_bytes % step or not step <= message_bytes <= LARGEST:
            raise ValueError(
                f"message of {workload} must be a multiple of {step} bytes in {step} to {LARGEST}, "
                f"not {message_bytes}"
            )
        return message_bytes // step

    def ecb(self, message_bytes: int) -> Workload:
        """ECB encryption (NIST SP 800-38A section 6.1); vectors repeat the published blocks."""
        blocks = self.blocks(f"{self.name}-ecb", message_bytes)
        words, step = self.block_bytes // 4, self.block_bytes

        def golden(values: Values) -> dict[str, bytes]:
            data, keys = values["input"], values["round_keys"]
            parts = (data[i : i + step] for i in range(0, message_bytes, step))
            return {"output": b"".join(self.encrypt(p, keys) for p in parts)}

        def kernel(name: str, variant: Variant) -> Kernel:
            def build(k: Builder) -> None:
                source, keys = k.pointer("input"), k.pointer("round_keys")
                target = k.pointer("output")

                def some(first: Index, count: int) -> None:
                    given = load_words(k, source, words * count, step * first)
                    store_words(k, target, variant.function(k, given, keys), step * first)

                in_batches(k, blocks, variant.blocks, some)

            return Kernel(name, build, variant.summary, variant.requires)

        return Workload(
            f"{self.name}-ecb",
            "NIST SP 800-38A section 6.1",
            self._message_buffers(message_bytes),
            golden,
            {name: kernel(name, variant) for name, variant in self.encryption.items()},
            tuple(
                Vector(
                    {"input": e.plaintext * blocks, "round_keys": self.expand(e.key)},
                    {"output": e.ciphertext * blocks},
                    f"{e.source}, {blocks} times",
                )
                for e in self.examples
            ),
            units=blocks,
            message_bytes=message_bytes,
        )

    def ctr(self, message_bytes: int) -> Workload:
        """CTR encryption (NIST SP 800-38A section 6.5); the last 32 bits count."""
        blocks = self.blocks(f"{self.name}-ctr", message_bytes)
        words, step = self.block_bytes // 4, self.block_bytes

        def golden(values: Values) -> dict[str, bytes]:
            data, counter, out = values["input"], values["counter"], b""
            start = struct.unpack(">I", counter[-4:])[0]
            for i in range(blocks):
                block = counter[:-4] + struct.pack(">I", (start + i) % 2**32)
                stream = self.encrypt(block, values["round_keys"])
                out += _add(data[step * i : step * i + step], stream)
            return {"output": out}

        def kernel(name: str, variant: Variant) -> Kernel:
            def build(k: Builder) -> None:
                counter, keys = k.pointer("counter"), k.pointer("round_keys")
                source, target = k.pointer("input"), k.pointer("output")
                *nonce, last = load_words(k, counter, words)

                def some(first: Index, count: int, number: Bits) -> Words:
                    counters = [w for b in range(count) for w in (*nonce, swapped(number + b))]
                    stream = variant.function(k, counters, keys)
                    text = load_words(k, source, words * count, step * first)
                    result = [total(a, b) for a, b in zip(stream, text, strict=True)]
                    store_words(k, target, result, step * first)
                    return [number + count]

                in_batches(k, blocks, variant.blocks, some, swapped(last))

            return Kernel(name, build, variant.summary, variant.requires)

        published = [
            *self.counted,
            *(
                Counted(e.key, e.plaintext, bytes(step), e.ciphertext, f"{e.source}, zeros added")
                for e in self.examples
            ),
        ]
        vectors = [
            Vector(
                {
                    "counter": e.counter,
                    "round_keys": self.expand(e.key),
                    "input": e.plaintext[:message_bytes],
                },
                {"output": e.ciphertext[:message_bytes]},
                e.source,
            )
            for e in published
            if message_bytes <= len(e.plaintext)
        ]
        return Workload(
            f"{self.name}-ctr",
            "NIST SP 800-38A section 6.5",
            (Buffer("counter", step, "in"), *_in_order(self._message_buffers(message_bytes))),
            golden,
            {name: kernel(name, variant) for name, variant in self.encryption.items()},
            tuple(vectors),
            units=blocks,
            message_bytes=message_bytes,
        )

    def _message_buffers(self, message_bytes: int) -> tuple[Buffer, ...]:
        return (
            Buffer("input", message_bytes, "in", secret=True),
            Buffer("round_keys", self.schedule_bytes, "in", secret=True),
            Buffer("output", message_bytes, "out", declassified=True),
        )


def _add(a: bytes, b: bytes) -> bytes:
    return bytes(x ^ y for x, y in zip(a, b, strict=True))


def _in_order(buffers: tuple[Buffer, ...]) -> tuple[Buffer, ...]:
    """Round keys before the message, as the modes with a starting value take them."""
    message, keys, output = buffers
    return keys, message, output
