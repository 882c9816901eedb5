"""AES-192 and AES-256 (FIPS 197): blocks, key schedules and modes; AES-128 in CBC, XTS and GCM.

Blocks, round keys and kernels are those of `workloads.aes`, with two and four rounds more.
"""

from __future__ import annotations

from isa.aes_block import decrypt_block, encrypt_block, expand_key, inverse_keys
from workloads import aes
from workloads.block_cipher import BlockCipher, Example, ScheduleVariant, Variant
from workloads.gcm import Sealed
from workloads.xts import Sector

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
    return {**made, "bitsliced": Variant(aes.bitsliced(rounds), aes.BITSLICED, blocks=2)}


_MESSAGE = bytes.fromhex(
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
    "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"
)


def _sealed(bits: int, case: int, ciphertext: str, tag: str) -> Sealed:
    """A test case of McGrew and Viega, with a key of that many bits."""
    return Sealed(
        (bytes.fromhex("feffe9928665731c6d6a8f9467308308") * 2)[: bits // 8],
        bytes.fromhex("cafebabefacedbaddecaf888"),
        bytes.fromhex("feedfacedeadbeeffeedfacedeadbeefabaddad2"),
        _MESSAGE,
        bytes.fromhex(ciphertext),
        bytes.fromhex(tag),
        f"McGrew and Viega, The Galois/Counter Mode of Operation, test case {case}",
    )


def _cipher(
    bits: int,
    example: Example,
    schedule: tuple[bytes, bytes, str],
    sealed: Sealed,
    *sectors: Sector,
) -> BlockCipher:
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
        sectors=sectors,
        sealed=(sealed,),
    )


_SECTOR_128 = bytes.fromhex(
    "27a7479befa1d476489f308cd4cfa6e2a96e4bbe3208ff25287dd3819616e89c"
    "c78cf7f5e543445f8333d8fa7f56000005279fa5d8b5e4ad40e736ddb4d35412"
    "328063fd2aab53e5ea1e0a9f332500a5df9487d07a5c92cc512c8866c7e860ce"
    "93fdf166a24912b422976146ae20ce846bb7dc9ba94a767aaef20c0d61ad0265"
    "5ea92dc4c4e41a8952c651d33174be51a10c421110e6d81588ede82103a252d8"
    "a750e8768defffed9122810aaeb99f9172af82b604dc4b8e51bcb08235a6f434"
    "1332e4ca60482a4ba1a03b3e65008fc5da76b70bf1690db4eae29c5f1badd03c"
    "5ccf2a55d705ddcd86d449511ceb7ec30bf12b1fa35b913f9f747a8afd1b130e"
    "94bff94effd01a91735ca1726acd0b197c4e5b03393697e126826fb6bbde8ecc"
    "1e08298516e2c9ed03ff3c1b7860f6de76d4cecd94c8119855ef5297ca67e9f3"
    "e7ff72b1e99785ca0a7e7720c5b36dc6d72cac9574c8cbbc2f801e23e56fd344"
    "b07f22154beba0f08ce8891e643ed995c94d9a69c9f1b5f499027a78572aeebd"
    "74d20cc39881c213ee770b1010e4bea718846977ae119f7a023ab58cca0ad752"
    "afe656bb3c17256a9f6e9bf19fdd5a38fc82bbe872c5539edb609ef4f79c203e"
    "bb140f2e583cb2ad15b4aa5b655016a8449277dbd477ef2c8d6c017db738b18d"
    "eb4a427d1923ce3ff262735779a418f20a282df920147beabe421ee5319d0568"
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
    _sealed(
        128,
        4,
        "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
        "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091",
        "5bc94fbc3221a5db94fae95ae7121a47",
    ),
    Sector(
        bytes.fromhex("27182818284590452353602874713526"),
        bytes.fromhex("31415926535897932384626433832795"),
        bytes(16),
        bytes(range(256)) * 2,
        _SECTOR_128,
        "IEEE 1619-2007 appendix B, vector 4",
    ),
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
    _sealed(
        192,
        10,
        "3980ca0b3c00e841eb06fac4872a2757859e1ceaa6efd984628593b40ca1e19c"
        "7d773d00c144c525ac619d18c84a3f4718e2448b2fe324d9ccda2710",
        "2519498e80f1478f37ba55bd6d27618c",
    ),
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
    _sealed(
        256,
        16,
        "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
        "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662",
        "76fc6ece0f4e1768cddf8853bb2d551b",
    ),
    Sector(
        bytes.fromhex("2718281828459045235360287471352662497757247093699959574966967627"),
        bytes.fromhex("3141592653589793238462643383279502884197169399375105820974944592"),
        bytes([255, *bytes(15)]),
        bytes(range(64)),
        bytes.fromhex(
            "1c3b3a102f770386e4836c99e370cf9bea00803f5e482357a4ae12d414a3e63b"
            "5d31e276f8fe4a8d66b317f9ac683f44680a86ac35adfc3345befecb4bb188fd"
        ),
        "IEEE 1619-2007 appendix B, vector 10, its first four blocks",
    ),
)
AES128.register_both_ways(64)
AES192.register()
AES256.register()
