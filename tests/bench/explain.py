"""States explained per second by `kubesched explain --input-format jsonl`: one process, CPU time.

    python -m tests.bench.explain [--nodes 10] [--pods 40] [--seconds 5]

Every state is a line of its own, with all workloads of the core's benchmark mixed, and objects as the API
server stores them. The command runs in this process, from its lines to the JSON it writes.
"""

from __future__ import annotations

import argparse
import json
from itertools import cycle, islice
from time import process_time
from typing import Any

import msgspec

from kubesched.config.defaults import default_configuration
from kubesched.config.gates import FeatureGates
from kubesched.explain.jsonl import answers
from kubesched.explain.session import Answerer
from tests.bench import workloads


def lines(nodes: int, pods: int, count: int) -> list[bytes]:
    """So many states, no two alike."""
    return [_line(nodes, pods, number) for number in range(count)]


def _line(nodes: int, pods: int, number: int) -> bytes:
    kinds = cycle(workloads.WORKLOADS)
    objects: list[dict[str, Any]] = list(workloads.node_content(nodes))
    for index, kind in enumerate(islice(kinds, number, number + pods)):
        name = f"pod-{number}-{index}"
        objects.append(
            workloads.pod_content(kind, name, app=f"app-{index % 5}", node=f"node-{index % nodes}")
        )
    asked = workloads.pod_content(next(islice(kinds, number % 7, None)), f"asked-{number}")
    return json.dumps({"objects": objects, "pod": asked}).encode() + b"\n"


def main() -> None:
    """Explain fresh states for a while and print how many a second."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.explain", description=__doc__.split("\n")[0])
    parser.add_argument("--nodes", type=int, default=10)
    parser.add_argument("--pods", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=5.0, help="CPU seconds in all")
    wanted = parser.parse_args()
    gates = FeatureGates()
    config = default_configuration(gates)
    answerers = Answerer(config, gates), Answerer(config, gates)
    best, done, spent = float("inf"), 0, 0.0
    while spent < wanted.seconds:
        batch = lines(wanted.nodes, wanted.pods, 20)
        begin = process_time()
        for answer in answers(batch, *answerers):
            msgspec.json.encode(answer)
        took = process_time() - begin
        best = min(best, took / len(batch))
        done, spent = done + len(batch), spent + took
    print(
        f"{wanted.nodes} nodes, {wanted.pods} pods: {done} states, {done / spent:.0f} states/s "
        f"({1 / best:.0f} in the best batch)"
    )


if __name__ == "__main__":
    main()
