"""pytest fixtures that give tests a real control plane; import them in a `conftest.py`.

    from schedlab.cluster.fixtures import boot, control_plane

Control planes are booted and ended outside any event loop of the tests, so they may outlive one.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from typing import Any, Protocol

import pytest

from schedlab.cluster.backend import ClusterSpec
from schedlab.cluster.local import LocalBackend, LocalControlPlane


class Boot(Protocol):
    """Boots a control plane; the keywords are the fields of `ClusterSpec`."""

    def __call__(self, **spec: Any) -> LocalControlPlane:  # noqa: ANN401 - the fields have several types
        """A control plane that ends with the test."""
        ...


@pytest.fixture(scope="session")
def control_plane() -> Iterator[LocalControlPlane]:
    """One control plane without nodes for the whole run; with pytest-xdist, one per worker."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
    plane = asyncio.run(LocalBackend().up(ClusterSpec(name=f"tests-{worker}")))
    yield plane
    plane.down_now()


@pytest.fixture
def boot() -> Iterator[Boot]:
    """Boots control planes for one test and ends them after it."""
    planes: list[LocalControlPlane] = []

    def up(**spec: Any) -> LocalControlPlane:  # noqa: ANN401 - the fields have several types
        plane = asyncio.run(LocalBackend().up(ClusterSpec(**{"name": f"test-{len(planes)}", **spec})))
        planes.append(plane)
        return plane

    yield up
    for plane in reversed(planes):
        plane.down_now()
