"""Names of the integer registers (RISC-V calling convention)."""

from __future__ import annotations

NAMES = (
    *("zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1"),
    *(f"a{i}" for i in range(8)),
    *(f"s{i}" for i in range(2, 12)),
    *(f"t{i}" for i in range(3, 7)),
)
"""ABI name of x0 to x31."""

NUMBERS: dict[str, int] = {
    **{name: i for i, name in enumerate(NAMES)},
    **{f"x{i}": i for i in range(32)},
    "fp": 8,
}
"""Register number by any of its names."""
