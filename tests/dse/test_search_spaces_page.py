"""docs/search-spaces.md: its example is a valid space, and it names every key and sampler."""

from __future__ import annotations

import re
from pathlib import Path

from dse.sampler import SAMPLERS
from dse.space import parse_space
from dse.space_file import SpaceFile

PAGE = (Path(__file__).parent.parent.parent / "docs" / "search-spaces.md").read_text()


def test_example_parses_with_the_real_names() -> None:
    (example,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.S)
    space = parse_space(example, Path("example.yaml"))
    assert [use.workload for use in space.workloads] == [
        "aes128-encrypt", "aes128-ctr", "aes128-decrypt",
    ]  # fmt: skip
    assert set(SpaceFile.model_fields) == set(re.findall(r"^(\w+):", example, re.M))
    assert "units.aes_inv_sbox.latency" in space.by_name


def test_every_sampler_is_named() -> None:
    rows = re.findall(r"^\| (`[a-z0-9`, ]+) \|", PAGE, re.M)
    named = {name for row in rows for name in re.findall(r"`([a-z0-9]+)`", row)}
    assert set(SAMPLERS) <= named
