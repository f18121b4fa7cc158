"""Runs of kubectl belong to a test and its control plane."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from schedlab.cluster import processes
from schedlab.cluster.processes import Process
from schedlab.operations.base import OperationError
from schedlab.runner.kubectl import Kubectl

SCRIPT = "import sys, time; print(sys.argv[-1]); time.sleep(float(sys.argv[-1])); sys.exit(3)"


class FakeControlPlane:
    """Whose kubectl is a Python that waits for the seconds of its last argument and exits with 3."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.tools = SimpleNamespace(path=lambda name: Path("/bin") / name)
        self.argv: list[str] = []

    def kubeconfig(self) -> Path:
        return self.directory / "admin.yaml"

    def spawn(self, name: str, argv: Sequence[str], log: Path) -> Process:
        self.argv = list(argv)
        return processes.start(name, [sys.executable, "-c", SCRIPT, argv[-1]], log=log, env={})


@pytest.fixture
def plane(tmp_path: Path) -> Any:
    return FakeControlPlane(tmp_path)


async def test_it_runs_as_the_administrator_in_the_tests_namespace(plane: Any, tmp_path: Path) -> None:
    """And keeps what it looks up about the server with the credentials, not in a home directory."""
    kubectl = Kubectl(plane, "ns", tmp_path / "logs")
    name = kubectl.start(["get", "pods", "0"])
    assert await kubectl.finished(name, 10) == (3, "0\n")
    assert plane.argv[1:] == [
        f"--kubeconfig={tmp_path}/admin.yaml",
        f"--cache-dir={tmp_path}/kubectl-cache",
        "--namespace=ns",
        "get",
        "pods",
        "0",
    ]
    assert (tmp_path / "logs/kubectl-1.log").read_text() == "0\n"


async def test_one_that_still_runs_has_no_exit_code_and_ends_with_the_test(
    plane: Any, tmp_path: Path
) -> None:
    """Nothing outlives the test."""
    kubectl = Kubectl(plane, "ns", tmp_path / "logs")
    name = kubectl.start(["60"])
    code, _ = await kubectl.finished(name, 0.05)
    assert code is None
    await kubectl.close()
    code, _ = await kubectl.finished(name, 10)
    assert code is not None
    assert code < 0


async def test_a_run_that_was_not_started_is_told(plane: Any, tmp_path: Path) -> None:
    """With those that were."""
    kubectl = Kubectl(plane, "ns", tmp_path / "logs")
    with pytest.raises(OperationError, match="there is no kubectl 'kubectl-2'"):
        await kubectl.finished("kubectl-2", 1)
