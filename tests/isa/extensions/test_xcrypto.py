"""XCrypto's class 3 against its match and mask list, FIPS 202 and the instructions it foresaw."""

from __future__ import annotations

from tests.isa.extensions.execute import Execute
from tests.isa.extensions.operands import operands

DO = Execute(32, "xcrypto")


def test_encodings() -> None:
    """The list in scarv/xcrypto@9ff3426 src/toolchain/binutils.patch."""
    published = {
        "xc.aessub.enc": (0x1A007003, 0xFE00707F),
        "xc.aessub.encrot": (0x1C007003, 0xFE00707F),
        "xc.aessub.dec": (0x1E007003, 0xFE00707F),
        "xc.aessub.decrot": (0x20007003, 0xFE00707F),
        "xc.aesmix.enc": (0x22007003, 0xFE00707F),
        "xc.aesmix.dec": (0x24007003, 0xFE00707F),
        "xc.sha3.xy": (0x10007003, 0x3E00707F),
        "xc.sha3.x1": (0x12007003, 0x3E00707F),
        "xc.sha3.x2": (0x14007003, 0x3E00707F),
        "xc.sha3.x4": (0x16007003, 0x3E00707F),
        "xc.sha3.yx": (0x18007003, 0x3E00707F),
        "xc.sha256.s0": (0x0E007003, 0xFFF0707F),
        "xc.sha256.s1": (0x0E107003, 0xFFF0707F),
        "xc.sha256.s2": (0x0E207003, 0xFFF0707F),
        "xc.sha256.s3": (0x0E307003, 0xFFF0707F),
    }
    ours = {n: (i.encoding.match, i.encoding.mask) for n, i in DO.by_name.items()}
    assert ours == published


def test_places_of_lanes() -> None:
    """All inputs; beyond three bits they are ignored. FIPS 202, 3.2: lane (x, y) is 5y + x."""
    for x in range(8):
        for y in range(8):
            for shamt in range(4):
                high = 0xABCDEF00
                for name, step in (("xy", 0), ("x1", 1), ("x2", 2), ("x4", 4)):
                    expected = ((x + step) % 5 + 5 * (y % 5)) << shamt
                    assert DO(f"xc.sha3.{name}", high | x, high | y, shamt) == expected
                expected = (y % 5 + 5 * ((2 * x + 3 * y) % 5)) << shamt
                assert DO("xc.sha3.yx", x, y, shamt) == expected


def test_the_ratified_and_published_twins() -> None:
    zknh, v2 = Execute(32, "zknh"), Execute(32, "xaesv2")
    names = ("sha256sig0", "sha256sig1", "sha256sum0", "sha256sum1")
    for a, b, _ in operands(32, "twins", 50):
        for number, name in enumerate(names):
            assert DO(f"xc.sha256.s{number}", a) == zknh(name, a)
        for way in ("enc", "dec"):
            substituted = v2(f"saes.v2.sub.{way}", a, b)
            assert DO(f"xc.aessub.{way}", a, b) == substituted
            rotated = (substituted << 8 | substituted >> 24) % 2**32
            assert DO(f"xc.aessub.{way}rot", a, b) == rotated
            assert DO(f"xc.aesmix.{way}", a, b) == v2(f"saes.v2.mix.{way}", a, b)
