"""How many random inputs a golden function is held to."""

from __future__ import annotations

import pytest


@pytest.fixture(params=[200, pytest.param(1000, marks=pytest.mark.full)])
def random_cases(request: pytest.FixtureRequest) -> int:
    """200, or the thousand that a release is held to."""
    return int(request.param)
