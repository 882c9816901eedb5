"""How long one design takes: cold, with an empty cache, and cached.

    python benchmarks/evaluation.py [SPACE] [--designs N] [--seed N]

Designs are drawn at random; each distinct canonical design counts once. Processor time of this
process and of the synthesis it starts, so that other work on the machine does not show.
"""

from __future__ import annotations

import argparse
import random
import resource
import statistics
import tempfile
import time
from pathlib import Path

from dse.cache import Cache
from dse.evaluate import evaluate
from dse.space import load_space
from dse.worker import evaluation_key


def processor_seconds() -> float:
    """Processor time of this process and its finished children."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def main() -> None:
    """Print medians and worst cases."""
    parser = argparse.ArgumentParser()
    parser.add_argument("space", nargs="?", default="spaces/aes.yaml", type=Path)
    parser.add_argument("--designs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    space = load_space(options.space)
    designs = list(space.designs())
    random.Random(options.seed).shuffle(designs)
    with tempfile.TemporaryDirectory() as folder:
        cache = Cache(Path(folder))
        cold: dict[str, float] = {}
        for design in designs:
            start = processor_seconds()
            found = evaluate(space=space, design=design, cache=cache)
            took = processor_seconds() - start
            cold.setdefault(found.canonical.digest, took)
            cache.put("evaluation", evaluation_key(space, design), found.to_json())
            if len(cold) == options.designs:
                break
        cached = []
        for design in designs[: options.designs]:
            start = time.perf_counter()
            cache.get("evaluation", evaluation_key(space, design))
            cached.append(time.perf_counter() - start)
        cache.close()
    times = sorted(cold.values())
    print(f"{space.name}: {len(times)} distinct designs of {len(designs)}")
    tenth = times[9 * len(times) // 10]
    print(
        f"cold    median {1000 * statistics.median(times):7.1f} ms  90 % {1000 * tenth:7.1f} ms  "
        f"worst {1000 * times[-1]:7.1f} ms (processor)"
    )
    print(
        f"cached  median {1000 * statistics.median(cached):7.3f} ms  worst "
        f"{1000 * max(cached):7.3f} ms (wall)"
    )


if __name__ == "__main__":
    main()
