"""Decisions per second of the pure core: no API server, one process, CPU time.

    python -m tests.bench.core
    python -m tests.bench.core --nodes 100,1000,5000,15000 --existing 0,10000,50000 --workload basic,spread

Each row is measured in a process of its own, the best of several rounds counts, and the growth of the cost
per node and per existing pod follows below the table. On an idle machine CPU time is wall time: the core is
one thread and waits for nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from itertools import pairwise, product
from multiprocessing import get_context
from pathlib import Path
from time import process_time

from tests.bench.driver import Driver
from tests.bench.workloads import WORKLOADS

_ROUNDS = 5


@dataclass(frozen=True)
class Figure:
    """One measured row. `micros` is CPU time per decision; `rss_mb` is what the process holds at the end."""

    workload: str
    nodes: int
    existing: int
    all_nodes: bool
    decisions: int
    micros: float
    rss_mb: float

    @property
    def per_second(self) -> float:
        """Decisions per second of CPU time."""
        return 1e6 / self.micros


def measure(workload: str, nodes: int, existing: int, all_nodes: bool, seconds: float) -> Figure:
    """Measure one row; the best of a few rounds, since noise only ever adds."""
    driver = Driver(workload, nodes, existing, all_nodes=all_nodes)
    return asyncio.run(_measured(driver, (workload, nodes, existing, all_nodes), seconds))


async def _measured(driver: Driver, row: tuple[str, int, int, bool], seconds: float) -> Figure:
    driver.prepare()
    await driver.decide()
    driver.clear()
    gc.collect()
    gc.freeze()
    decisions, best = 0, float("inf")
    for _ in range(_ROUNDS):
        spent, done = 0.0, 0
        while spent < seconds / _ROUNDS:
            count = driver.prepare()
            begin = process_time()
            await driver.decide()
            spent += process_time() - begin
            done += count
            driver.clear()
        decisions += done
        best = min(best, spent / done)
    return Figure(*row, decisions, best * 1e6, _rss_mb())


def _rss_mb() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("/proc/self/status has no VmRSS")


def growth(figures: Sequence[Figure]) -> Iterable[str]:
    """How the cost grows from each size to the next: with nodes, and with existing pods."""
    for axis, other in (("nodes", "existing"), ("existing", "nodes")):
        for key in dict.fromkeys((item.workload, getattr(item, other)) for item in figures):
            line = sorted(
                (item for item in figures if (item.workload, getattr(item, other)) == key),
                key=lambda item: int(getattr(item, axis)),
            )
            for small, large in pairwise(line):
                before, after = getattr(small, axis), getattr(large, axis)
                nanos = (large.micros - small.micros) * 1e3 / (after - before)
                yield (
                    f"{key[0]}, {other} {key[1]}: {axis} {before} to {after} costs {nanos:+.1f} ns each, "
                    f"{large.micros / small.micros:.2f} x in all"
                )


def _numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def _workloads(text: str) -> list[str]:
    names = text.split(",")
    if unknown := [name for name in names if name not in WORKLOADS]:
        raise argparse.ArgumentTypeError(f"no workload {unknown[0]!r}; there are {', '.join(WORKLOADS)}")
    return names


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.core", description=__doc__.split("\n")[0])
    parser.add_argument("--nodes", type=_numbers, default=[1000, 5000], metavar="N,N")
    parser.add_argument("--existing", type=_numbers, default=[0], metavar="N,N", help="pods there already")
    parser.add_argument("--workload", type=_workloads, default=list(WORKLOADS), metavar="NAME,NAME")
    parser.add_argument("--sampled", action="store_true", help="score the default share of nodes, not all")
    parser.add_argument("--seconds", type=float, default=2.0, help="CPU seconds per row")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the figures here, too")
    return parser.parse_args()


def main() -> None:
    """Measure every combination and print a line for each."""
    wanted = _arguments()
    figures: list[Figure] = []
    print(f"{'workload':16}{'nodes':>7}{'existing':>10}{'decisions/s':>13}{'µs each':>9}{'RSS MB':>8}")
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1) as pool:
        for row in product(wanted.workload, wanted.nodes, wanted.existing):
            found = pool.submit(measure, *row, not wanted.sampled, wanted.seconds).result()
            figures.append(found)
            print(
                f"{found.workload:16}{found.nodes:7}{found.existing:10}{found.per_second:13.0f}"
                f"{found.micros:9.1f}{found.rss_mb:8.1f}",
                flush=True,
            )
    print(*growth(figures), sep="\n")
    if wanted.json:
        rows = [{**asdict(item), "per_second": item.per_second} for item in figures]
        wanted.json.write_text(json.dumps({"python": sys.version, "figures": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
