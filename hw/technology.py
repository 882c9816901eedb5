"""Technology: the numbers that turn gates, flip-flops and LUTs into area and delay."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Rung", "Technology", "technology", "technology_names"]

REGISTER_PS = 630.0
"""Clock-to-output and set-up of a flip-flop of a 7-series part, with its routing."""


@dataclass(frozen=True)
class Rung:
    """Relative errors of one way of estimating, as fractions (0.12 = 12 %).

    Each is the 90th percentile over the modules of benchmarks/data/area.json against the
    `synthesised` rung; docs/models.md has medians, maxima and families, and a test holds these
    figures to the data. The errors of the `synthesised` rung itself are what renaming wires and
    reordering lines does to its result: 14 modules five times, 90th percentile of the distance
    from the median 4 % of area and of delay, at most 10 %; for LUTs an assumption.
    """

    name: str
    area_error: float
    delay_error: float
    luts_error: float | None = None
    lut_delay_error: float | None = None


@dataclass(frozen=True)
class Technology:
    """A calibrated technology. Areas in gate equivalents (1 = NAND2), delays in FO4.

    One FO4 is the delay of an inverter that drives four copies of itself; `fo4_ps` gives it a
    length (50 ps: a 130 nm class process, 0.36 ps per nm of gate length). Wires, clock tree and
    placement are in none of the figures, so delays compare designs and do not promise megahertz.

    The gate areas are a least-squares fit of the relative error of AND, XOR and MUX counts to the
    synthesised area; inverters and buffers cost nothing, the fit spreads them. The delays are
    fitted to the synthesised delays of the same modules; `load_fo4` is paid per doubling of the
    fan-out. benchmarks/area_calibration.py, yosys 0.70, 30 November 2026.
    """

    name: str
    fo4_ps: float = 50.0
    and_ge: float = 1.00
    xor_ge: float = 1.96
    mux_ge: float = 2.43
    ff_ge: float = 5.67
    and_fo4: float = 0.4
    xor_fo4: float = 1.1
    mux_fo4: float = 1.3
    load_fo4: float = 0.3
    # Clock-to-output plus set-up of a flip-flop, about 4 FO4 in standard-cell practice.
    sequential_fo4: float = 4.0
    # Whether delays are those of LUTs and carry chains, an FO4 being but a unit of time.
    has_luts: bool = False
    estimate: Rung = Rung("estimate", area_error=0.13, delay_error=0.16)
    mapped: Rung = Rung(
        "mapped", area_error=0.10, delay_error=0.11, luts_error=0.30, lut_delay_error=0.24
    )
    synthesised: Rung = Rung("synthesised", area_error=0.04, delay_error=0.04, luts_error=0.05)

    def __post_init__(self) -> None:
        if not self.fo4_ps > 0:
            raise ValueError(f"fo4_ps must be positive, not {self.fo4_ps!r}")

    def rung(self, name: str) -> Rung:
        """Return the errors of the rung called `name`."""
        for rung in (self.estimate, self.mapped, self.synthesised):
            if rung.name == name:
                return rung
        raise ValueError(f"rung must be 'estimate', 'mapped' or 'synthesised', not {name!r}")


def technology_names() -> tuple[str, ...]:
    """Return the names that `technology` knows."""
    return ("ge", "xc7")


def technology(name: str, fo4_ps: float = 50.0) -> Technology:
    """Return the technology called `name`, one of `technology_names()`.

    `ge` counts gate equivalents, LUTs beside them, and delays in FO4. `xc7` (Xilinx 7 series) takes
    its delays from LUTs, carry chains and block RAM instead; `fo4_ps` is but its unit of time then.
    A register takes 630 ps: one measurement, yosys 0.70 abc9 on aes32esmi, 5.07 ns over 8 levels
    and as much for one level more.
    """
    if name == "ge":
        return Technology("ge", fo4_ps)
    if name == "xc7":
        return Technology("xc7", fo4_ps, sequential_fo4=REGISTER_PS / fo4_ps, has_luts=True)
    raise ValueError(f"technology must be one of {', '.join(technology_names())}, not {name!r}")
