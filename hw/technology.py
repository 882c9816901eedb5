"""Technology: the numbers that turn gates, flip-flops and LUTs into area and delay."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Rung", "Technology", "technology", "technology_names"]


@dataclass(frozen=True)
class Rung:
    """Relative errors of one way of estimating, as fractions (0.12 = 12 %).

    Each is the 90th percentile over the 31 modules of benchmarks/area_calibration.py (122 to 69,000
    GE: adders, multipliers, S-boxes, hash and cipher rounds, units) against synthesis by yosys 0.70
    with `&dch -f; &nf; buffer; upsize; dnsize` on the same liberty, 30 November 2026. Worst: area
    23 % and delay 25 % for the estimate, 14 % and 24 % for the mapped rung, mostly sums of many
    operands, which yosys merges into carry-save form. LUTs: 20 modules against yosys `-lut 6`.
    """

    name: str
    area_error: float
    delay_error: float
    luts_error: float | None = None


@dataclass(frozen=True)
class Technology:
    """A calibrated technology. Areas in gate equivalents (1 = NAND2), delays in FO4.

    One FO4 is the delay of an inverter that drives four copies of itself; `fo4_ps` gives it a
    length (50 ps: a 130 nm class process, 0.36 ps per nm of gate length). Wires, clock tree and
    placement are in none of the figures, so delays compare designs and do not promise megahertz.

    The gate areas are a least-squares fit of the relative error of AND, XOR, MUX and fan-out
    counts to the mapped rung on 22 modules (leave-one-out error: median 4.9 %, 90th percentile
    9.1 %, worst 12 %). Inverters cost nothing: the fit spreads them. `buffer_ge` is paid for every
    tenth fan-out of a signal. The delays are fitted to the mapped delays of the same modules;
    `load_fo4` is paid per doubling of the fan-out. Against the mapped rung on the modules of
    benchmarks/area_calibration.py, half of them not in the fit: area 3.6 % median, 12 % worst;
    delay 6.0 % median, 18 % worst. yosys-abc of pyosys 0.70, 30 November 2026.
    """

    name: str
    fo4_ps: float = 50.0
    and_ge: float = 1.05
    xor_ge: float = 2.03
    mux_ge: float = 2.38
    buffer_ge: float = 0.9
    ff_ge: float = 5.67
    and_fo4: float = 0.35
    xor_fo4: float = 1.2
    mux_fo4: float = 1.3
    load_fo4: float = 0.3
    # Clock-to-output plus set-up of a flip-flop, about 4 FO4 in standard-cell practice.
    sequential_fo4: float = 4.0
    # Delay of one 6-input LUT with its local routing, ns; None where the target has no LUTs.
    lut_level_ns: float | None = None
    estimate: Rung = Rung("estimate", area_error=0.12, delay_error=0.18)
    mapped: Rung = Rung("mapped", area_error=0.10, delay_error=0.10, luts_error=0.16)
    synthesised: Rung = Rung("synthesised", area_error=0.05, delay_error=0.05, luts_error=0.05)

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

    `ge` counts gate equivalents. `xc7` (Xilinx 7 series) adds a LUT level delay; its LUT counts
    are 6-input LUTs without carry chains, DSP slices and wide-multiplexer cells (against
    synth_xilinx on the 15 modules that use neither: 11 % median error, 63 % at the 90th
    percentile, because MUXF7/F8 halve table look-ups). The level delay is one measurement, yosys
    0.70 abc9 on aes32esmi: 5.07 ns over 8 levels.
    """
    if name == "ge":
        return Technology("ge", fo4_ps)
    if name == "xc7":
        return Technology(
            "xc7",
            fo4_ps,
            lut_level_ns=0.63,
            mapped=Rung("mapped", area_error=0.10, delay_error=0.10, luts_error=0.63),
        )
    raise ValueError(f"technology must be one of {', '.join(technology_names())}, not {name!r}")
