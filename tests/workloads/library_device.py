"""A co-processor whose answers come from `hashlib` and `cryptography`, and that takes no time."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from isa.coprocessor import (
    ALGORITHM,
    ALGORITHMS,
    DESTINATION,
    KEY,
    LENGTH,
    OUTPUT_LENGTH,
    SOURCE,
)
from isa.device import DataMemory, DeviceError
from workloads import haraka


def _aes(key: bytes, data: bytes, *, encrypt: bool) -> bytes:
    cipher = Cipher(algorithms.AES(key), modes.ECB())
    step = cipher.encryptor() if encrypt else cipher.decryptor()
    return step.update(data) + step.finalize()


HASHES: dict[str, Callable[[bytes], bytes]] = {
    "sha256": lambda m: hashlib.sha256(m).digest(),
    "sha512": lambda m: hashlib.sha512(m).digest(),
    "sm3": lambda m: hashlib.new("sm3", m).digest(),
    "sha3-256": lambda m: hashlib.sha3_256(m).digest(),
    "haraka256": haraka.digest,
    "haraka512": haraka.digest,
}
XOFS = {"shake128": hashlib.shake_128, "shake256": hashlib.shake_256}


class LibraryDevice:
    """Follows the protocol of `isa.coprocessor` to the letter, and refuses whatever does not."""

    def __init__(self, mover: str, is_mapped: bool, xlen: int, block_bytes: int = 0) -> None:
        self.mover = mover
        self.is_mapped = is_mapped
        self.xlen = xlen
        self.block_bytes = block_bytes
        self.reset()

    def reset(self) -> None:
        self.settings: dict[int, int] = {}
        self.is_started = False

    @property
    def name(self) -> str:
        return ALGORITHMS[self.settings.get(ALGORITHM, 0)]

    def answer(self, message: bytes, key: bytes) -> bytes:
        if self.name in XOFS:
            return XOFS[self.name](message).digest(self.settings[OUTPUT_LENGTH])
        if self.name in HASHES:
            return HASHES[self.name](message)
        return _aes(key, message, encrypt=self.name == "aes128-encrypt")

    def command(
        self, now: int, name: str, a: int, b: int, memory: DataMemory | None
    ) -> tuple[int, int]:
        if name == "set":
            self.settings[b] = a
            return 0, 0
        if name == "low":
            return 0, 0
        if name == "start":
            assert memory is not None
            self.start(memory)
            return 0, 0
        if not self.is_started:
            raise DeviceError(f"start must come before {name}")
        if name == "wait":
            return 0, 0
        if self.mover == "dma":
            raise DeviceError(f"{name} is for the CPU as mover")
        if name == "put":
            word = a if self.xlen == 64 else a | b << 32
            self.put += word.to_bytes(8, "little")
            return 0, 0
        return 0, self.get()

    def start(self, memory: DataMemory) -> None:
        self.is_started = True
        self.put, self.got = b"", 0
        if self.mover == "dma":
            message = memory.read(self.settings[SOURCE], self.settings[LENGTH])
            key = memory.read(self.settings[KEY], 16) if self.name.startswith("aes") else b""
            memory.write(self.settings[DESTINATION], self.answer(message, key))

    def get(self) -> int:
        has_key = self.name.startswith("aes")
        key, message = (self.put[:16], self.put[16:]) if has_key else (b"", self.put)
        length = self.settings[LENGTH]
        expected = -(-length // 8) * 8
        if self.block_bytes:
            blocks = len(message) // self.block_bytes
            output = b"".join(
                self.answer(message[i : i + self.block_bytes], key)
                for i in range(0, blocks * self.block_bytes, self.block_bytes)
            )
        elif len(message) != expected:
            raise DeviceError(f"message must have {expected} bytes, not {len(message)}")
        else:
            output = self.answer(message[:length], key)
        step = self.xlen // 8
        if self.got + step > len(output):
            raise DeviceError("output must be there before it is got")
        self.got += step
        return int.from_bytes(output[self.got - step : self.got], "little")
