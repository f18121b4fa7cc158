"""Machines are cordoned, rebooted and churned as they are told, and the operation waits for what follows."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest
from operations_world import RecordingEnv, World

from schedlab.api.objects import Json, Object
from schedlab.operations.base import Action, OperationError, Unmet
from schedlab.operations.churn import Churn
from schedlab.operations.cordon import Cordon, Uncordon
from schedlab.operations.kubelet import NOT_READY
from schedlab.operations.nodes import CORDONED
from schedlab.operations.reboot import Reboot


class PatchingEnv(RecordingEnv):
    """An environment whose patches are kept, body and all."""

    def __init__(self) -> None:
        super().__init__(World())
        self.bodies: list[Object] = []

    async def patch(self, item: Object, content_type: str, subresource: str = "") -> Object:
        self.bodies.append(item)
        return await super().patch(item, content_type, subresource)

    @property
    def specs(self) -> list[Any]:
        return [body["spec"] for body in self.bodies if "spec" in body]


async def run(kind: type[Action], env: RecordingEnv, seconds: float = 5.0, **fields: object) -> Json:
    return await msgspec.convert(fields, kind).run(env, seconds)


@pytest.mark.parametrize(
    ("kind", "before", "after", "written"),
    [(Cordon, (), (CORDONED,), True), (Uncordon, (CORDONED,), (), None)],
)
async def test_a_cordon_waits_for_its_taint_to_come_or_go(
    kind: type[Action], before: tuple[str, ...], after: tuple[str, ...], written: bool | None
) -> None:
    """The controller follows the field a little later; the scheduler has seen both when it ends."""
    env = PatchingEnv()
    env.world.node("n", taints=before)
    task = asyncio.create_task(run(kind, env, nodes=["n"]))
    await asyncio.wait({task}, timeout=0.02)
    assert not task.done()
    assert env.specs == [{"unschedulable": written}]
    env.world.node("n", taints=after)
    assert await task == ["n"]
    assert env.done[-1] == ("seen", "n")


async def test_a_cordon_that_no_controller_follows_is_a_failure() -> None:
    """Both directions say what the node has."""
    env = PatchingEnv()
    env.world.node("n")
    with pytest.raises(Unmet, match="n has the taints none"):
        await run(Cordon, env, 0.01, nodes=["n"])
    env.world.node("n", taints=(CORDONED,))
    with pytest.raises(Unmet, match=f"n has the taints {CORDONED}"):
        await run(Uncordon, env, 0.01, nodes=["n"])


@pytest.mark.parametrize("kind", [Cordon, Uncordon, Reboot])
async def test_a_node_must_exist(kind: type[Action]) -> None:
    """A misspelt name is an error, not a wait."""
    with pytest.raises(OperationError, match="there is no node 'm'"):
        await run(kind, PatchingEnv(), nodes=["m"])


async def test_a_reboot_goes_down_and_comes_back_with_its_pods() -> None:
    """NotReady, another boot ID, a restart for each container that ran, then Ready."""
    env = PatchingEnv()
    env.world.node("n")
    for name, node in (("here", "n"), ("there", "m")):
        pod = env.world.pod(name, node, phase="Running")
        statuses = [{"name": "c", "restartCount": 2, "state": {"running": {}}}, {"name": "i", "state": {}}]
        pod["status"]["containerStatuses"] = statuses
    task = asyncio.create_task(run(Reboot, env, nodes=["n"]))
    await asyncio.wait({task}, timeout=0.02)
    assert not task.done()
    assert len(env.bodies) == 2
    env.world.node("n", ready="False", taints=(NOT_READY,))["metadata"]["annotations"] = {
        "schedlab/kubelet": "stopped"
    }
    env.world.event("here", "Killing")
    await asyncio.wait({task}, timeout=0.02)
    assert not task.done()
    env.world.node("n")
    assert await task == ["n"]
    booted, pod, started = env.bodies[2:]
    assert booted["status"]["nodeInfo"]["bootID"]
    assert pod["metadata"]["name"] == "here"
    assert [(entry["name"], entry["restartCount"]) for entry in pod["status"]["containerStatuses"]] == [
        ("c", 3)
    ]
    assert started["metadata"]["annotations"] == {"schedlab/kubelet": None}


async def test_a_machine_that_does_not_go_down_has_not_been_rebooted() -> None:
    """The controller has to notice."""
    env = PatchingEnv()
    env.world.node("n")
    with pytest.raises(Unmet, match=f"with the taint {NOT_READY}"):
        await run(Reboot, env, 0.01, nodes=["n"])


def churning(**fields: object) -> tuple[PatchingEnv, Json]:
    """An environment after 40 changes in a row."""
    env = PatchingEnv()
    for name in ("a", "b"):
        env.world.node(name)["status"]["allocatable"] = {"pods": "110"}
    given = {"nodes": ["a", "b"], "duration": "40ms", "rate": 1000, **fields}
    return env, asyncio.run(run(Churn, env, **given))


def test_churn_is_repeatable_by_its_seed() -> None:
    """The same changes in the same order, and others with another seed."""
    changes = ["label", "taint", "capacity", "cordon", "annotation"]
    one, number = churning(changes=changes, seed=7)
    again, _ = churning(changes=changes, seed=7)
    other, _ = churning(changes=changes, seed=8)
    assert one.bodies == again.bodies != other.bodies
    assert number == len(one.bodies) >= 20


def test_churn_leaves_nodes_as_they_were() -> None:
    """The last write of every change takes it back."""
    env, _ = churning(changes=["label", "capacity", "cordon"])
    last: dict[tuple[str, str], Object] = {}
    for body in env.bodies:
        what = next(key for key in ("spec", "status", "metadata") if body.get(key, {}).keys() - {"name"})
        last[body["metadata"]["name"], what] = body
    assert {str(body.get(what)) for (_, what), body in last.items() if what != "metadata"} == {
        "{'unschedulable': None}",
        "{'capacity': {'pods': '110'}, 'allocatable': {'pods': '110'}}",
    }
    labels = [body["metadata"]["labels"] for (_, what), body in last.items() if what == "metadata"]
    assert labels == [{"schedlab/churn": None}] * len(labels) != []


def test_a_cordoned_node_stays_cordoned_after_churn() -> None:
    """Taking a change back means writing what was there before."""
    env = PatchingEnv()
    env.world.node("a")["spec"]["unschedulable"] = True
    asyncio.run(run(Churn, env, nodes=["a"], duration="10ms", rate=1000, changes=["cordon"]))
    assert {spec["unschedulable"] for spec in env.specs} == {True}


async def test_churn_that_takes_longer_than_it_may_is_refused() -> None:
    """Before anything is changed."""
    env = PatchingEnv()
    env.world.node("a")
    with pytest.raises(OperationError, match="40s of churn do not fit"):
        await run(Churn, env, 30.0, nodes=["a"], duration="40s")
    assert not env.bodies
