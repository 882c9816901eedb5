"""The AES S-box as few gates: the circuit of Boyar and Peralta.

J. Boyar and R. Peralta, "A new combinational logic minimization technique with applications to
cryptology", SEA 2010: 32 AND and 83 XOR or XNOR gates. A linear layer forms 21 sums of input
bits, a non-linear core multiplies them in pairs twice around an inversion in GF(2^4), and a second
linear layer adds up the 18 products. Written over any values with `^` and `&`: one-bit wires,
words of which each bit position is one S-box (bitslicing), or ints that stand for linear forms.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Signals = list[Any]
"""Values with `^` and `&`."""


def sbox(x: Sequence[Any]) -> Signals:
    """Eight output bits of the S-box from eight input bits, most significant first.

    Outputs 1, 2, 6 and 7 stand inverted: the constant 0x63 is not added.
    """
    return output_sums(products(input_sums(x)))


def input_sums(x: Sequence[Any]) -> Signals:
    """Return the 22 linear forms that the core multiplies, in the order `products` reads them.

    x[0] is the most significant bit, as in the paper; 23 XOR.
    """
    d35, d06, d03, d05, d12 = x[3] ^ x[5], x[0] ^ x[6], x[0] ^ x[3], x[0] ^ x[5], x[1] ^ x[2]
    e1 = d12 ^ x[7]
    e4, e12, e2, e5 = e1 ^ x[3], d06 ^ d35, e1 ^ x[0], e1 ^ x[6]
    e3 = e5 ^ d05
    low = x[4] ^ e12
    e15, e20 = low ^ x[5], low ^ x[1]
    e6, e10, e11 = e15 ^ x[7], e15 ^ d12, e20 ^ d03
    e7, e17, e19, e16 = x[7] ^ e11, e10 ^ e11, e10 ^ d05, d12 ^ e11
    e21, e18 = d06 ^ e16, x[0] ^ e16
    return [
        *(x[7], e1, e2, e3, e4, e5, e6, e7, d05, d03, e10, e11, e12, d06, d35),
        *(e15, e16, e17, e18, e19, e20, e21),
    ]


def products(f: Sequence[Any]) -> Signals:
    """Return the 18 products of the forms `f` with the inverse of their norm in GF(2^4)."""
    p = f[12] & f[15]
    q = f[13] & f[16]
    r = f[9] & f[11]
    even, odd = (f[14] & f[17]) ^ r, (f[8] & f[10]) ^ r
    a = (f[3] & f[6]) ^ p ^ even ^ f[20]
    b = (f[4] & f[0]) ^ p ^ odd ^ f[19]
    c = (f[5] & f[1]) ^ q ^ even ^ f[21]
    d = (f[2] & f[7]) ^ q ^ odd ^ f[18]
    # Inversion in GF(2^4) of the norm (a, b, c, d).
    ab = a ^ b
    ac = a & c
    d_ac = d ^ ac
    i2 = (ab & d_ac) ^ b
    cd = c ^ d
    b_ac = b ^ ac
    i0 = (b_ac & cd) ^ d
    c_i0 = c ^ i0
    both = d_ac ^ i0
    masked = d & both
    i1 = masked ^ c_i0
    i3 = ab ^ (i2 & (d_ac ^ masked))
    s31, s20, s23, s01 = i3 ^ i1, i2 ^ i0, i2 ^ i3, i0 ^ i1
    s = s20 ^ s31
    left = (s01, i1, i0, s23, i3, i2, s20, s, s31)
    first = (f[15], f[6], f[0], f[16], f[1], f[7], f[11], f[17], f[10])
    second = (f[12], f[3], f[4], f[13], f[5], f[2], f[9], f[14], f[8])
    return [x & y for x, y in zip(left * 2, first + second, strict=True)]


def output_sums(z: Sequence[Any]) -> Signals:
    """Return the eight sums of products, most significant first, without constants; 30 XOR."""
    a, b, c, d = z[15] ^ z[16], z[10] ^ z[11], z[5] ^ z[13], z[9] ^ z[10]
    e, g, h, i = z[2] ^ z[12], z[2] ^ z[5], z[7] ^ z[8], z[0] ^ z[3]
    j, k, m, n = z[6] ^ z[7], z[16] ^ z[17], z[12] ^ c, e ^ i
    o, p, q = z[4] ^ a, z[3] ^ j, a ^ n
    r, t, u, v = z[14] ^ n, h ^ o, d ^ o, z[4] ^ p
    w, y = r ^ t, z[1] ^ u
    s0, s6, s7 = p ^ u, m ^ t, c ^ q
    s3, s4, s5 = i ^ y, g ^ y, b ^ w
    return [s0, v ^ s3, k ^ v ^ w, s3, s4, s5, s6, s7]
