"""AES-192 and AES-256 (FIPS 197): blocks, key schedules and modes; AES-128 in CBC mode.

Blocks, round keys and kernels are those of `workloads.aes`, with two and four rounds more.
"""

from __future__ import annotations

from isa.aes_block import decrypt_block, encrypt_block, expand_key, inverse_keys
from workloads import aes, register
from workloads.block_cipher import BlockCipher, Example, ScheduleVariant, Variant

_PLAINTEXT = bytes.fromhex("00112233445566778899aabbccddeeff")
_SCHEDULE_192 = bytes.fromhex(
    "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7bfe0c91f72402f5a5"
    "ec12068e6c827f6b0e7a95b95c56fec24db7b4bd69b5411885a74796e92538fd"
    "e75fad44bb095386485af05721efb14fa448f6d94d6dce24aa326360113b30e6"
    "a25e7ed583b1cf9a27f939436a94f767c0a69407d19da4e1ec1786eb6fa64971"
    "485f703222cb8755e26d135233f0b7b340beeb282f18a2596747d26b458c553e"
    "a7e1466c9411f1df821f750aad07d753ca4005388fcc5006282d166abc3ce7b5"
    "e98ba06f448c773c8ecc720401002202"
)
_SCHEDULE_256 = bytes.fromhex(
    "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"
    "9ba354118e6925afa51a8b5f2067fcdea8b09c1a93d194cdbe49846eb75d5b9a"
    "d59aecb85bf3c917fee94248de8ebe96b5a9328a2678a647983122292f6c79b3"
    "812c81addadf48ba24360af2fab8b46498c5bfc9bebd198e268c3ba709e04214"
    "68007bacb2df331696e939e46c518d80c814e20476a9fb8a5025c02d59c58239"
    "de1369676ccc5a71fa2563959674ee155886ca5d2e2f31d77e0af1fa27cf73c3"
    "749c47ab18501ddae2757e4f7401905acafaaae3e4d59b349adf6acebd10190d"
    "fe4890d1e6188d0b046df344706c631e"
)


def _encryption(rounds: int) -> dict[str, Variant]:
    made = {name: Variant(*parts) for name, parts in aes.ciphers(rounds).items()}
    return {**made, "bitsliced": Variant(aes.bitsliced(rounds), aes.BITSLICED)}


def _cipher(bits: int, example: Example, schedule: tuple[bytes, bytes, str]) -> BlockCipher:
    """AES with a key of that many bits."""
    rounds = bits // 32 + 6
    return BlockCipher(
        f"aes{bits}",
        "FIPS 197 (2001, updated 2023)",
        16,
        bits // 8,
        16 * (rounds + 1),
        expand_key,
        encrypt_block,
        decrypt_block,
        _encryption(rounds),
        {name: Variant(*parts) for name, parts in aes.ciphers(rounds, inverse=True).items()},
        {
            "sbox": ScheduleVariant(
                aes.schedule(bits // 32, aes.substitute_bytes), "256-byte S-box table (FIPS 197)"
            ),
            "nluv": ScheduleVariant(
                aes.schedule(bits // 32, aes.substitute_word),
                "SubWord by the S-box unit of NLU-V",
                frozenset({"nnlaese"}),
            ),
        },
        (example,),
        (schedule,),
        decrypt_keys=inverse_keys,
    )


AES128 = _cipher(
    128,
    Example(
        bytes(range(16)),
        _PLAINTEXT,
        bytes.fromhex("69c4e0d86a7b0430d8cdb78070b4c55a"),
        "FIPS 197 appendix C.1",
    ),
    (aes.KEY_B, aes.SCHEDULE_B, "FIPS 197 appendix A.1"),
)
AES192 = _cipher(
    192,
    Example(
        bytes(range(24)),
        _PLAINTEXT,
        bytes.fromhex("dda97ca4864cdfe06eaf70a0ec0d7191"),
        "FIPS 197 appendix C.2",
    ),
    (_SCHEDULE_192[:24], _SCHEDULE_192, "FIPS 197 appendix A.2"),
)
AES256 = _cipher(
    256,
    Example(
        bytes(range(32)),
        _PLAINTEXT,
        bytes.fromhex("8ea2b7ca516745bfeafc49904b496089"),
        "FIPS 197 appendix C.3",
    ),
    (_SCHEDULE_256[:32], _SCHEDULE_256, "FIPS 197 appendix A.3"),
)
register("aes128-cbc", default_bytes=64)(AES128.cbc)
AES192.register()
AES256.register()
