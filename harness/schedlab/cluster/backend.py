"""What a suite needs of a control plane, whichever way it was made.

A backend boots control planes; a control plane is what tests run on. Both say what they provide, so a test
that needs more is inconclusive instead of wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, Self

from schedlab.cluster import fleet as fleets
from schedlab.cluster import nodes
from schedlab.cluster.fleet import Batch
from schedlab.cluster.layout import ADMIN
from schedlab.cluster.nodes import NodeGroup
from schedlab.cluster.processes import Process
from schedlab.cluster.progress import Progress, Silent
from schedlab.cluster.tools import Tools
from schedlab.errors import UsageError


@dataclass(frozen=True, slots=True)
class ClusterSpec:
    """What to boot.

    Flags are written without dashes (`{"node-monitor-grace-period": "10s"}`) and win over schedlab's own.
    `zones` and `racks` spread `nodes` over that many failure domains; a `fleet` has its own. With
    `runtime_dir` the logs and the audit log go there and outlive the control plane; without it they go with
    it. `background` lets the control plane outlive this program.
    """

    name: str
    nodes: Sequence[NodeGroup] = ()
    zones: int = 1
    racks: int = 0
    fleet: Sequence[Batch] = ()
    controller_flags: Mapping[str, str] = field(default_factory=dict)
    apiserver_flags: Mapping[str, str] = field(default_factory=dict)
    kwok_flags: Mapping[str, str] = field(default_factory=dict)
    runtime_dir: Path | None = None
    background: bool = False
    tools: Tools | None = None
    progress: Progress = field(default_factory=Silent)

    @property
    def size(self) -> int:
        """How many nodes there are to be."""
        return sum(group.count for group in self.nodes) + fleets.size(self.fleet)

    def machines(self) -> list[dict[str, Any]]:
        """The Node objects.

        Raises:
            UsageError: two of them have one name; or a profile is malformed.
        """
        made = [*nodes.expand(self.nodes, zones=self.zones, racks=self.racks), *fleets.machines(self.fleet)]
        names = Counter(node["metadata"]["name"] for node in made)
        for name in (name for name, count in names.items() if count > 1):
            raise UsageError(
                f"two machines are called {name}", hint="give each profile in `nodes` or in `fleet`, not both"
            )
        return made

    def paced(self) -> Self:
        """It with heartbeats as slow as its size demands; flags that are given win."""
        pace = fleets.heartbeats(self.size)
        return replace(
            self,
            controller_flags={**pace.controller_flags, **self.controller_flags},
            kwok_flags={**pace.kwok_flags, **self.kwok_flags},
        )


class ControlPlane(Protocol):
    """A running control plane, without a scheduler."""

    @property
    def name(self) -> str:
        """The name from its spec."""
        ...

    @property
    def directory(self) -> Path:
        """Its run directory."""
        ...

    @property
    def server(self) -> str:
        """The URL of the API server."""
        ...

    @property
    def provides(self) -> frozenset[str]:
        """What tests may rely on beyond the API.

        `audit`, `logs`, `component-flags`, `process-faults` (its processes may be signalled),
        `own-control-plane` (nobody else uses it).
        """
        ...

    @property
    def tools(self) -> Tools:
        """The programs it was started with."""
        ...

    @property
    def audit_log(self) -> Path:
        """The API server's audit log, one JSON event per line."""
        ...

    @property
    def processes(self) -> Sequence[Process]:
        """Everything that was started for it, in that order."""
        ...

    def kubeconfig(self, user: str = ADMIN, instance: str = "") -> Path:
        """The kubeconfig of `admin` or `system:kube-scheduler`.

        With `instance` it has a certificate of its own, by which the audit log tells programs apart that act
        as one user (`pki.credential_id`).
        """
        ...

    @property
    def serving_pair(self) -> tuple[Path, Path]:
        """Certificate and key for what stands in the API server's place; its clients trust them."""
        ...

    def log(self, component: str) -> Path:
        """Where the output of a component goes."""
        ...

    def reserve_port(self) -> int:
        """A port on loopback that nobody else holds, held until `release_port` or `down`."""
        ...

    def release_port(self, port: int) -> None:
        """Give a reserved port back."""
        ...

    def spawn(
        self, name: str, argv: Sequence[str], env: Mapping[str, str] | None = None, log: Path | None = None
    ) -> Process:
        """Start a program that belongs to this control plane and ends with it at the latest."""
        ...

    async def down(self) -> None:
        """End everything in the right order and remove what must not stay; a second call does nothing."""
        ...


class Backend(Protocol):
    """A way to make control planes."""

    @property
    def provides(self) -> frozenset[str]:
        """What its control planes provide."""
        ...

    async def up(self, spec: ClusterSpec) -> ControlPlane:
        """Boot a control plane; returns once it serves and its nodes are Ready.

        Raises:
            EnvironmentStartError: a program is missing or a component does not come up; nothing is left
            running.
        """
        ...
