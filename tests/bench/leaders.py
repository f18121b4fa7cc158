"""Pods arrive while the leader of three replicas is killed again and again: all are bound once, none is lost.

`python -m tests.bench.leaders --scheduler kubesched --scheduler kube-scheduler`. The lease is
shortened to 5, 3 and 1 s, since with the default timing a kill every 20 s can leave no leader at all.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from collections import defaultdict
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from signal import SIGKILL

from schedlab import timing
from schedlab.api.objects import Object
from schedlab.cluster import nodes as machines
from schedlab.cluster.local import LocalBackend
from schedlab.history.audit import AuditLog
from schedlab.history.directory import RunDirectory
from schedlab.history.leases import identities, terms
from schedlab.judge.values import quantity
from schedlab.report.handovers import handovers
from schedlab.runner.journal import Journal
from schedlab.runner.replicas import Replicas
from schedlab.runner.station import Setup, Station
from schedlab.schedulers.declaration import declared

LEASE = ("kube-system", "kube-scheduler")
ELECTION = {"leaderElect": True, "leaseDuration": "5s", "renewDeadline": "3s", "retryPeriod": "1s"}
NAMESPACE = "default"


@dataclass
class Outcome:
    """What came of one run; times are in seconds."""

    scheduler: str
    pods: int
    unbound: int
    kills: int
    gave_up: int
    """Replicas that ended without having been killed, since they could not renew in time."""

    handovers: int
    without_leader_median: float
    without_leader_longest: float
    bound_late: int
    bound_twice: int
    nodes_over_committed: int
    seconds: float

    @property
    def clean(self) -> bool:
        """True if every pod was bound, once, by a leader, to a node with room."""
        return not (self.unbound or self.bound_late or self.bound_twice or self.nodes_over_committed)


def pod(index: int) -> Object:
    """A small pod."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"p-{index}", "namespace": NAMESPACE},
        "spec": {
            "containers": [
                {"name": "main", "image": "main", "resources": {"requests": {"cpu": "500m", "memory": "1Gi"}}}
            ]
        },
    }


class Run:
    """One scheduler under the churn."""

    def __init__(self, station: Station, replicas: Replicas, arguments: argparse.Namespace) -> None:
        self.station = station
        self.replicas = replicas
        self.arguments = arguments
        self.history = station.recorder.history
        self.kills = 0

    async def arrive(self) -> None:
        """Create the pods evenly over the time."""
        journal = Journal(self.station.client, self.station.recorder, NAMESPACE)
        begin = timing.monotonic()
        for index in range(self.arguments.pods):
            due = begin + self.arguments.seconds * index / self.arguments.pods
            if (wait := due - timing.monotonic()) > 0:
                await timing.sleep(wait)
            await journal.create(pod(index))

    async def murder(self) -> None:
        """Kill the leader every so often."""
        begin = timing.monotonic()
        while timing.monotonic() - begin < self.arguments.seconds:
            await timing.sleep(self.arguments.every)
            holder = terms(self.history, *LEASE)[-1].holder
            process = identities(self.history).get(holder)
            if process in self.replicas.names:
                self.replicas.signal(process, SIGKILL)
                self.kills += 1

    async def keep(self) -> None:
        """Put a new replica in the place of each that has ended, as a Deployment would."""
        while True:
            await timing.sleep(0.5)
            missing = self.arguments.replicas - len(self.replicas.names)
            if missing:
                await self.replicas.scale(self.arguments.replicas, None)

    def gave_up(self) -> int:
        """Replicas that have ended without having been killed."""
        return sum(event.event == "exited" and event.code != -SIGKILL for event in self.history.processes)

    def unbound(self) -> int:
        """Pods without a node."""
        pods = self.history.current.list("Pod", NAMESPACE)
        wanted: int = self.arguments.pods
        return wanted - sum(bool(p["spec"].get("nodeName")) for p in pods)

    def over_committed(self) -> int:
        """Nodes whose pods ask for more than there is."""
        used: defaultdict[tuple[str, str], Fraction] = defaultdict(Fraction)
        for item in self.history.current.list("Pod", NAMESPACE):
            node = item["spec"].get("nodeName")
            used[node, "pods"] += 1
            for container in item["spec"]["containers"]:
                for name, amount in container["resources"]["requests"].items():
                    used[node, name] += quantity(amount)
        return sum(
            any(
                used[node["metadata"]["name"], name] > quantity(there)
                for name, there in node["status"]["allocatable"].items()
            )
            for node in self.history.current.list("Node")
        )


async def run(name: str, arguments: argparse.Namespace, directory: Path) -> Outcome:
    """Boot a control plane, let it happen, and read the record."""
    station = await Station.open(LocalBackend(), declared(name), f"leaders-{name}", directory / "plane")
    try:
        setup = Setup(config={"leaderElection": ELECTION})
        first = await station.prepare(setup)
        record = RunDirectory(directory / "record", {"test": "bench/leaders", "scheduler": name})
        history = station.recorder.begin(record, AuditLog(station.control_plane.audit_log))
        replicas = Replicas(station, setup, first, history, kept=lambda _replica: None)
        churn = Run(station, replicas, arguments)
        journal = Journal(station.client, station.recorder, NAMESPACE)
        for index in range(arguments.nodes):
            await journal.create(machines.render("cpu-32", f"n-{index}"))
        await replicas.scale(arguments.replicas, None)
        begin = timing.monotonic()
        async with asyncio.TaskGroup() as group:
            keeper = group.create_task(churn.keep())
            await asyncio.gather(churn.arrive(), churn.murder())
            end = timing.Deadline.after(120)
            while churn.unbound() and not end.expired:
                await timing.sleep(0.5)
            took = timing.monotonic() - begin
            keeper.cancel()
        gave_up = churn.gave_up()
        await replicas.close()
        record.close()
        return _outcome(churn, name, took, gave_up)
    finally:
        await station.close()


def _outcome(churn: Run, name: str, took: float, gave_up: int) -> Outcome:
    story = handovers(churn.history, *LEASE)
    gaps = sorted(change.without_leader for change in story.changes) or [0.0]
    return Outcome(
        scheduler=name,
        pods=churn.arguments.pods,
        unbound=churn.unbound(),
        kills=churn.kills,
        gave_up=gave_up,
        handovers=len(story.changes),
        without_leader_median=gaps[len(gaps) // 2],
        without_leader_longest=gaps[-1],
        bound_late=story.late,
        bound_twice=story.bound_twice,
        nodes_over_committed=churn.over_committed(),
        seconds=round(took, 1),
    )


def main() -> None:
    """Run each scheduler in turn; exit 1 unless all of them were clean."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scheduler", action="append", default=None, help="name or file; may be repeated")
    parser.add_argument("--pods", type=int, default=5000)
    parser.add_argument("--nodes", type=int, default=100)
    parser.add_argument("--replicas", type=int, default=3)
    parser.add_argument("--every", type=float, default=20.0, help="seconds between kills")
    parser.add_argument("--seconds", type=float, default=300.0, help="how long pods arrive")
    arguments = parser.parse_args()
    outcomes = []
    for name in arguments.scheduler or ["kubesched", "kube-scheduler"]:
        with tempfile.TemporaryDirectory() as directory:
            outcomes.append(asyncio.run(run(name, arguments, Path(directory))))
        print(json.dumps(asdict(outcomes[-1])), flush=True)
    sys.exit(not all(outcome.clean for outcome in outcomes))


if __name__ == "__main__":
    main()
