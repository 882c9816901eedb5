"""AES on bytes (FIPS 197): key expansion, encryption and decryption of a block.

Round keys are the bytes of all of them, one after the other.
"""

from __future__ import annotations

from isa.aes import INVERSE_MIX, MIX, inverse_sbox, multiply, sbox


def expand_key(key: bytes) -> bytes:
    """Round keys of a key of 16, 24 or 32 bytes: 176, 208 or 240 bytes (FIPS 197 section 5.2)."""
    words = [key[i : i + 4] for i in range(0, len(key), 4)]
    count = len(words)
    rcon = 1
    while len(words) < 4 * (count + 7):
        last = words[-1]
        if len(words) % count == 0:
            last = bytes(sbox().entries[b] for b in last[1:] + last[:1])
            last = bytes([last[0] ^ rcon]) + last[1:]
            rcon = multiply(rcon, 2)
        elif count == 8 and len(words) % 8 == 4:
            last = bytes(sbox().entries[b] for b in last)
        words.append(add(words[-count], last))
    return b"".join(words)


def add(a: bytes, b: bytes) -> bytes:
    """Sum in GF(2^8) of each pair of bytes."""
    return bytes(x ^ y for x, y in zip(a, b, strict=True))


def mix(state: bytes, column: tuple[int, ...]) -> bytes:
    """Multiply each column of the state by the circulant matrix that starts with `column`."""
    return bytes(
        multiply(column[r], state[c])
        ^ multiply(column[(r - 1) % 4], state[c + 1])
        ^ multiply(column[(r - 2) % 4], state[c + 2])
        ^ multiply(column[(r - 3) % 4], state[c + 3])
        for c in range(0, 16, 4)
        for r in range(4)
    )


def substitute_and_shift(state: bytes) -> bytes:
    """SubBytes and ShiftRows."""
    substituted = [sbox().entries[b] for b in state]
    return bytes(substituted[(i + 4 * (i % 4)) % 16] for i in range(16))


def encrypt_block(block: bytes, keys: bytes) -> bytes:
    """Encrypt 16 bytes with the round keys of a key of any size (FIPS 197 section 5.1)."""
    rounds = len(keys) // 16 - 1
    state = add(block, keys[:16])
    for r in range(1, rounds + 1):
        state = substitute_and_shift(state)
        if r < rounds:
            state = mix(state, MIX)
        state = add(state, keys[16 * r : 16 * r + 16])
    return state


def inverse_keys(keys: bytes) -> bytes:
    """Round keys of the equivalent inverse cipher, in the order of `keys`."""
    middle = (mix(keys[16 * r : 16 * r + 16], INVERSE_MIX) for r in range(1, len(keys) // 16 - 1))
    return keys[:16] + b"".join(middle) + keys[-16:]


def decrypt_block(block: bytes, keys: bytes) -> bytes:
    """Decrypt 16 bytes with the round keys of `inverse_keys` (FIPS 197 section 5.3.5)."""
    state = add(block, keys[-16:])
    for r in reversed(range(len(keys) // 16 - 1)):
        state = bytes(inverse_sbox().entries[b] for b in state)
        state = bytes(state[(i - 4 * (i % 4)) % 16] for i in range(16))
        if r:
            state = mix(state, INVERSE_MIX)
        state = add(state, keys[16 * r : 16 * r + 16])
    return state
