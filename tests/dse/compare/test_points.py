"""Published points on plots."""

from __future__ import annotations

import pytest

from dse.compare.points import published_points


def test_marshall_on_cycles_and_area() -> None:
    points = published_points("ge", ("cycles", "area_ge"))
    by_label = {point.label: point for point in points}
    v3 = by_label["marshall2021aes V3"]
    assert v3.values == {"cycles": 291.0, "area_ge": 38301.0}
    assert (v3.core, v3.technology) == ("scarv", "nand2_cmos")
    assert "github:scarv/aes-risc-pipeline@c7d190c" in v3.source
    assert by_label["marshall2021aes T-table"].values == {"cycles": 1016.0, "area_ge": 37325.0}


def test_published_cycles_have_no_time_of_their_own() -> None:
    assert published_points("ge", ("time_ns", "area_ge")) == []
    points = published_points("ge", ("time_ns", "area_ge"), period_ns=2.0)
    v3 = next(point for point in points if point.label == "marshall2021aes V3")
    assert v3.values == {"time_ns": 582.0, "area_ge": 38301.0}
    assert v3.note == "published cycles at a period of 2 ns, not a published time"


@pytest.mark.parametrize(
    ("technology", "metrics"),
    [
        ("ge", ("cycles", "leaks")),
        ("ge", ("cycles", "luts")),
        ("xc7", ("cycles", "area_ge")),
        ("ge", ("cycles", "instructions")),
    ],
)
def test_no_point_without_hardware_in_the_units_of_the_technology(
    technology: str, metrics: tuple[str, ...]
) -> None:
    assert published_points(technology, metrics) == []


def test_re_measured_figures_are_no_published_points() -> None:
    points = published_points("ge", ("tap_code", "area_ge"), algorithm="aes128-encrypt")
    assert points == []
