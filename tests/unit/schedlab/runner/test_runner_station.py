"""What a test needs of the control plane is what its programs are started with."""

from __future__ import annotations

from typing import Any

import pytest

from schedlab.cluster.backend import ClusterSpec
from schedlab.errors import EnvironmentStartError
from schedlab.runner.station import Station
from schedlab.schedulers.declaration import SchedulerSpec, Spec
from schedlab.suite.types import ControlPlaneNeeds


class NoBackend:
    """Remembers what it was asked to boot."""

    def __init__(self) -> None:
        self.asked: list[ClusterSpec] = []

    async def up(self, spec: ClusterSpec) -> Any:
        self.asked.append(spec)
        raise EnvironmentStartError("not here")


async def test_flags_reach_the_programs_as_a_command_line_has_them(tmp_path: Any) -> None:
    """Numbers and truth values as text, each program its own."""
    backend = NoBackend()
    needs = ControlPlaneNeeds(
        kube_apiserver={"profiling": True},
        kube_controller_manager={"node-eviction-rate": 0.5, "node-monitor-period": "1s"},
        kwok={"node-lease-duration-seconds": 4},
    )
    spec = SchedulerSpec(name="s", spec=Spec(command=["x"]))
    with pytest.raises(EnvironmentStartError):
        await Station.open(backend, spec, "s-1", tmp_path, needs)  # type: ignore[arg-type]
    (asked,) = backend.asked
    assert asked.apiserver_flags == {"profiling": "true"}
    assert asked.controller_flags == {"node-eviction-rate": "0.5", "node-monitor-period": "1s"}
    assert asked.kwok_flags == {"node-lease-duration-seconds": "4"}
