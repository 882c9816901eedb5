from __future__ import annotations

from pathlib import Path

import pytest

from dse.cache import Cache
from dse.evaluation import Evaluation
from dse.measure.evaluate import evaluate
from dse.metrics import METRICS
from dse.space import parse_space

TEXT = """
name: {technology}
workloads: [hight-encrypt]
technology: {technology}
instructions: {{base: rv32i, choose: [zbkb]}}
objectives: [time_ns, {area}]
search: {{trials: 2}}
"""


def evaluated(technology: str, area: str, *, zbkb: bool) -> Evaluation:
    space = parse_space(TEXT.format(technology=technology, area=area), Path("x.yaml"))
    design = space.neutral.replace({"zbkb": zbkb})
    found = evaluate(space=space, design=design, cache=Cache(None))
    assert found.feasible, found.reason
    return found


@pytest.fixture(scope="module")
def gates() -> Evaluation:
    return evaluated("ge", "area_ge", zbkb=True)


@pytest.fixture(scope="module")
def part() -> Evaluation:
    return evaluated("xc7", "luts", zbkb=True)


@pytest.mark.parametrize("metric", ["area_ge", "luts", "ffs", "brams", "dsps"])
def test_the_whole_is_core_and_extension(part: Evaluation, metric: str) -> None:
    whole, core, extension = (
        part.metrics[name].value for name in (metric, f"core_{metric}", f"extension_{metric}")
    )
    assert whole == pytest.approx(core + extension)
    assert part.metrics[metric].unit == METRICS[metric].unit


def test_luts_are_those_of_either_technology_and_the_clock_is_not(
    gates: Evaluation, part: Evaluation
) -> None:
    # An instruction that takes another number of cycles has another hold logic.
    assert part.metrics["core_luts"] == gates.metrics["core_luts"]
    assert part.metrics["luts"].value == pytest.approx(gates.metrics["luts"].value, rel=0.15)
    assert part.metrics["extension_luts"].value > 100
    # Vivado and yosys make plain RV32I cores of 700 to 1,400 LUTs; 48 are the register file's.
    assert 700 < part.metrics["core_luts"].value < 1400
    # 5 stages on a 7-series part run at 100 to 250 MHz in practice.
    assert 4 < part.metrics["period_ns"].value < 10
    assert part.metrics["period_ns"].value > 2 * gates.metrics["period_ns"].value


def test_products_are_of_one_technology(gates: Evaluation, part: Evaluation) -> None:
    product = part.metrics["tap_silicon_luts"]
    assert product.value == part.metrics["time_ns"].value * part.metrics["luts"].value
    assert product.error == pytest.approx(
        part.metrics["time_ns"].error + part.metrics["luts"].error  # type: ignore[operator]
    )
    assert "tap_silicon_ge" not in part.metrics
    assert "critical_path_fo4" not in part.metrics
    assert "tap_silicon_luts" not in gates.metrics
    assert part.metrics["luts"].error == 0.30


def test_what_takes_a_netlist_is_measured_on_request_only(part: Evaluation) -> None:
    assert "switched" not in part.metrics
