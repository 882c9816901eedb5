"""Point sets whose fronts and volumes are known in closed form."""

from __future__ import annotations

import itertools
import random

import pytest

from dse.pareto import Archive, Frame, front_indices, knee_index, ties


def test_front_of_a_staircase() -> None:
    points = [(1.0, 5.0), (2.0, 5.0), (2.0, 3.0), (3.0, 3.0), (4.0, 1.0), (4.0, 1.0)]
    assert front_indices(points) == [0, 2, 4]


@pytest.mark.parametrize("dimensions", [2, 3])
def test_archive_is_the_front_by_definition(dimensions: int) -> None:
    generator = random.Random(5)
    points = [tuple(float(generator.randrange(8)) for _ in range(dimensions)) for _ in range(200)]
    archive = Archive()
    for point in points:
        archive.add(point)
    dominated = {
        p
        for p, q in itertools.product(points, repeat=2)
        if p != q and all(a >= b for a, b in zip(p, q, strict=True))
    }
    assert sorted(archive.points) == sorted(set(points) - dominated)
    assert sorted(points[i] for i in front_indices(points)) == sorted(set(points) - dominated)


def test_hypervolume_of_boxes() -> None:
    # ideal (0, 0), reference 1.1 x the nadir (10, 10): two boxes of an 11 x 11 square overlap
    frame = Frame.around([(0.0, 10.0), (10.0, 0.0)])
    assert frame.reference == (11.0, 11.0)
    assert frame.hypervolume([(0.0, 0.0)]) == pytest.approx(1.0)
    assert frame.hypervolume([(5.0, 8.0)]) == pytest.approx(6 * 3 / 121)
    assert frame.hypervolume([(5.0, 8.0), (8.0, 5.0)]) == pytest.approx((2 * 6 * 3 - 3 * 3) / 121)
    assert frame.hypervolume([(11.0, 0.0)]) == 0.0
    assert frame.hypervolume([]) == 0.0


def test_hypervolume_in_three_dimensions() -> None:
    frame = Frame((0.0, 0.0, 0.0), (10.0, 10.0, 10.0))
    assert frame.hypervolume([(5.0, 5.0, 5.0)]) == pytest.approx(0.125)
    assert frame.hypervolume([(5.0, 5.0, 5.0), (0.0, 9.0, 9.0)]) == pytest.approx(
        0.125 + 0.01 - 0.005
    )


def test_frame_of_losses_that_are_not_positive() -> None:
    frame = Frame.around([(-3.0, 0.0), (-1.0, 0.0)])
    assert frame.reference == pytest.approx((-0.8, 0.1))


def test_knee_is_farthest_from_the_chord() -> None:
    # on a log-log plot: (0, 2), (1/2, 1/2), (2, 0) in decades; the middle one is nearest the ideal
    points = [(1.0, 100.0), (10**0.5, 10**0.5), (10.0, 3.0), (100.0, 1.0)]
    assert knee_index(points) == 1
    assert knee_index([(5.0, 5.0)]) == 0


def test_ties_are_within_both_stated_errors() -> None:
    losses = [(100.0, 50.0), (109.0, 50.0), (130.0, 20.0)]
    errors = [[0.05, 0.0], [0.05, 0.0], [0.05, 0.0]]
    assert ties(losses, errors) == [(1,), (0,), ()]
    assert ties(losses, [[0.0, 0.0]] * 3) == [(), (), ()]
