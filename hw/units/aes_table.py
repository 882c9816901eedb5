"""AES S-boxes as tables: what a synthesiser makes of 256 constants."""

from __future__ import annotations

import pyrtl

from hw.rom import read_table
from hw.units import register
from isa.aes import inverse_sbox, sbox

SOURCE = "FIPS 197 sections 5.1.1 and 5.3.2, as 256 constants"


@register(table="aes_sbox", name="table", source=SOURCE)
def forward(x: pyrtl.WireVector) -> pyrtl.WireVector:
    """Return the S-box of an 8-bit value."""
    return read_table(sbox(), x)


@register(table="aes_inv_sbox", name="table", source=SOURCE)
def inverse(x: pyrtl.WireVector) -> pyrtl.WireVector:
    """Return the inverse S-box of an 8-bit value."""
    return read_table(inverse_sbox(), x)
