"""Tests of the digest that decides which results may be used again."""

import json
import subprocess
import sys

from dse.fingerprint import COMPUTING

# what reads spaces, names designs and keeps results: it computes no number
READING = {
    *("cache", "constraint", "design", "parameter", "space"),
    *("suggestion", "vocabulary", "yaml_source"),
}


def test_every_module_that_computes_a_number_is_in_the_digest() -> None:
    script = "import json, sys, dse.measure.evaluate, dse.measure.segments, dse.measure.verify\n"
    script += "print(json.dumps([m for m in sys.modules if m.startswith('dse.')]))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    loaded = {name.removeprefix("dse.") for name in json.loads(done.stdout)}
    outside = {name for name in loaded if name.split(".")[0] != "measure"}
    assert outside - READING == set(COMPUTING)
