"""An operation sees the test's names, and may ask the scheduler under test about the state as it is."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from schedlab import timing
from schedlab.api import Ref
from schedlab.history import History, Revision
from schedlab.operations.base import OperationError
from schedlab.runner.environment import Environment


def environment(directory: Path, scheduler: Any) -> Environment:
    history = History()
    for kind, api_version in (("Node", "v1"), ("Event", "events.k8s.io/v1"), ("Pod", "v1")):
        metadata = {"name": kind.lower(), "uid": kind, "resourceVersion": "1"}
        item = {"apiVersion": api_version, "kind": kind, "metadata": metadata}
        history.append(Revision(at=timing.now(), type="ADDED", object=item))
    spec = SimpleNamespace(name="mine")
    station = SimpleNamespace(
        spec=spec, scheduler=scheduler, client=None, recorder=None, control_plane=None, front=None
    )
    test = SimpleNamespace(name="a-test", files={"f": []}, path=directory / "test.yaml")
    return Environment(station, test, history, "ns", directory, replicas=None)  # type: ignore[arg-type]


def test_the_built_in_bindings_are_there(tmp_path: Path) -> None:
    """And later ones reach the next scope, not the one that was handed out."""
    env = environment(tmp_path, None)
    before = env.scope
    assert before.bindings == {"namespace": "ns", "test": "a-test", "scheduler": "mine"}
    env.bindings["x"] = 1
    assert "x" not in before.bindings
    assert env.scope.bindings["x"] == 1


async def test_the_scheduler_gets_the_state_without_events(tmp_path: Path) -> None:
    """As a List in JSON, in the order in which the objects were seen."""
    asked = []

    async def explain(pod: str, state: Path) -> str:
        asked.append((pod, state))
        return "a table"

    scheduler = SimpleNamespace(spec=SimpleNamespace(spec=SimpleNamespace(explain=["x"])), explain=explain)
    env = environment(tmp_path, scheduler)
    assert await env.explain(Ref("Pod", "w", "ns")) == "a table"
    assert asked == [("ns/w", tmp_path / "state.json")]
    written = json.loads((tmp_path / "state.json").read_text())
    assert [item["kind"] for item in written["items"]] == ["Node", "Pod"]


async def test_a_scheduler_that_cannot_be_asked_is_not(tmp_path: Path) -> None:
    """Nor one that has ended."""
    dumb = SimpleNamespace(spec=SimpleNamespace(spec=SimpleNamespace(explain=[])))
    assert await environment(tmp_path, dumb).explain(Ref("Pod", "w", "ns")) == ""
    assert await environment(tmp_path, None).explain(Ref("Pod", "w", "ns")) == ""
    assert not (tmp_path / "state.json").exists()


def test_without_kubelets_nobody_looks_at_usage(tmp_path: Path) -> None:
    """The error says how to get them."""
    with pytest.raises(OperationError, match="nobody looks at usage") as error:
        _ = environment(tmp_path, None).usage
    assert error.value.hint == "give the test a spec.kubelet"


def test_without_a_proxy_there_is_nowhere_to_put_a_fault(tmp_path: Path) -> None:
    """The error says how to get one."""
    env = environment(tmp_path, None)
    env._station.front = None
    with pytest.raises(OperationError, match="reaches the API server directly") as error:
        _ = env.faults
    assert error.value.hint == "set spec.scheduler.proxy to true"
