"""Actions do what they say, in the order they say, and wait for what they promise."""

from __future__ import annotations

import asyncio

import msgspec
import pytest
from operations_world import RecordingEnv, World

from schedlab.api.objects import Object
from schedlab.operations.apply import Apply
from schedlab.operations.base import Action, OperationError, Scope, Unmet
from schedlab.operations.create import Create
from schedlab.operations.delete import Delete
from schedlab.operations.events import Events
from schedlab.operations.explain import Explain
from schedlab.operations.nodes import Nodes
from schedlab.operations.patch import Patch
from schedlab.operations.pods import Pods

POD: Object = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "w"}, "spec": {"containers": []}}
NOT_READY = "node.kubernetes.io/not-ready"


async def run(kind: type[Action], env: RecordingEnv, /, seconds: float = 5.0, **fields: object) -> object:
    return await msgspec.convert(fields, kind).run(env, seconds)


def env_with(files: dict[str, list[Object]] | None = None, **bindings: object) -> RecordingEnv:
    return RecordingEnv(World(), Scope("ns", bindings, files or {}))


async def test_nodes_come_from_a_profile_and_are_waited_for() -> None:
    """Ready, without the taint every node starts with, and seen by the scheduler."""
    env = env_with()
    task = asyncio.create_task(
        run(Nodes, env, profile="cpu-32", count=2, zones=["z-a", "z-b"], **{"as": "cpu"})
    )
    await asyncio.wait({task}, timeout=0.05)
    assert env.done == [("create", "Node", "cpu-0"), ("create", "Node", "cpu-1")]
    zones = [n["metadata"]["labels"]["topology.kubernetes.io/zone"] for n in env.history.current.list("Node")]
    assert zones == ["z-a", "z-b"]
    env.world.node("cpu-0")
    env.world.node("cpu-1", taints=(NOT_READY,))
    await asyncio.wait({task}, timeout=0.05)
    assert not task.done()
    env.world.node("cpu-1")
    assert await task == ["cpu-0", "cpu-1"]
    assert env.done[-1] == ("seen", "cpu-1")


async def test_nodes_that_never_become_ready_are_a_failure_that_says_which() -> None:
    """With what they lack."""
    env = env_with()
    with pytest.raises(Unmet, match="cpu-32-0 has Ready=None"):
        await run(Nodes, env, 0.02, profile="cpu-32")


async def test_a_cordoned_node_is_waited_for_until_it_has_its_taint() -> None:
    """The controller adds it a little later."""
    env = env_with()
    task = asyncio.create_task(run(Nodes, env, profile="cpu-32", name="n", unschedulable=True, seen=False))
    await asyncio.wait({task}, timeout=0.05)
    env.world.node("n")
    await asyncio.wait({task}, timeout=0.02)
    assert not task.done()
    env.world.node("n", taints=("node.kubernetes.io/unschedulable",))
    assert await task == ["n"]
    assert ("seen", "n") not in env.done


async def test_nodes_from_a_manifest_get_names_and_become_fake() -> None:
    """Allocatable is the capacity, unless it says otherwise."""
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"labels": {"slot": "(string($index))"}}}
    node["status"] = {"capacity": {"cpu": "4"}}
    env = env_with({"node.yaml": [node]})
    with pytest.raises(Unmet):
        await run(Nodes, env, 0.01, file="node.yaml", count=2, name="own")
    made = env.history.current.get("Node", "own-1")
    assert made is not None
    assert made["metadata"]["annotations"]["kwok.x-k8s.io/node"] == "fake"
    assert made["metadata"]["labels"] == {"kubernetes.io/hostname": "own-1", "slot": "1"}
    assert made["status"]["allocatable"] == {"cpu": "4"}


async def test_profile_fields_do_not_go_with_a_manifest() -> None:
    """Half of them would be lost without a word."""
    with pytest.raises(OperationError, match="go with `profile`"):
        await run(Nodes, env_with({"n.yaml": [{"kind": "Node"}]}), file="n.yaml", labels={"a": "b"})


async def test_pods_are_numbered_and_created_in_order() -> None:
    """`$index` is the pod's number."""
    template = {**POD, "metadata": {"name": "w", "labels": {"slot": "(string($index))"}}}
    env = env_with({"w.yaml": [template]})
    assert await run(Pods, env, file="w.yaml", count=2) == ["w-0", "w-1"]
    assert [pod["metadata"]["labels"]["slot"] for pod in env.history.current.list("Pod")] == ["0", "1"]


async def test_a_single_pod_keeps_its_name() -> None:
    """No number is added without `count`."""
    assert await run(Pods, env_with(), resource=POD) == ["w"]


async def test_pods_on_a_node_are_created_bound_and_seen() -> None:
    """Past the scheduler, which then knows of them."""
    env = env_with()
    await run(Pods, env, resource=POD, node="n1")
    pod = env.history.current.get("Pod", "w", "ns")
    assert pod is not None
    assert pod["spec"]["nodeName"] == "n1"
    assert env.done[-1] == ("seen", "n1")


async def test_pods_until_bound_waits_for_the_last_one() -> None:
    """Not for the first."""
    env = env_with()
    task = asyncio.create_task(run(Pods, env, resource=POD, count=2, until="bound"))
    await asyncio.wait({task}, timeout=0.02)
    env.world.pod("w-0", "n1")
    await asyncio.wait({task}, timeout=0.02)
    assert not task.done()
    env.world.pod("w-1", "n1")
    assert await task == ["w-0", "w-1"]


async def test_pods_until_pending_fails_when_one_is_bound() -> None:
    """It cannot become pending any more."""
    env = env_with()
    task = asyncio.create_task(run(Pods, env, resource=POD, until="pending"))
    await asyncio.wait({task}, timeout=0.02)
    env.world.pod("w", "n1")
    with pytest.raises(Unmet, match="w is bound to n1"):
        await task


async def test_pods_until_pending_wants_the_schedulers_word() -> None:
    """A pod that nobody has tried is not pending in that sense."""
    env = env_with()
    task = asyncio.create_task(run(Pods, env, resource=POD, until="pending"))
    await asyncio.wait({task}, timeout=0.02)
    assert not task.done()
    env.world.pod("w", reason="Unschedulable", message="no")
    assert await task == ["w"]


@pytest.mark.parametrize(
    "template",
    [{**POD, "kind": "Deployment"}, {**POD, "metadata": {}}],
    ids=["it is no pod", "it has no name"],
)
async def test_pods_need_a_pod_with_a_name(template: Object) -> None:
    """Anything else is a mistake in the test."""
    with pytest.raises(OperationError):
        await run(Pods, env_with(), resource=template)


@pytest.mark.parametrize("kind", [Apply, Create], ids=["apply", "create"])
async def test_writes_return_what_the_server_stored(kind: type[Action]) -> None:
    """One object, or a list of several."""
    env = env_with({"two.yaml": [POD, {**POD, "metadata": {"name": "($x)"}}]}, x="second")
    one = await run(kind, env, resource=POD)
    assert isinstance(one, dict)
    assert one["metadata"]["uid"]
    both = await run(kind, env, file="two.yaml")
    assert isinstance(both, list)
    assert [item["metadata"]["name"] for item in both] == ["w", "second"]
    assert {entry[0] for entry in env.done} == {kind.tag}


async def test_patch_says_how_lists_are_merged() -> None:
    """Merge by default, strategic on request; a subresource if named."""
    env = env_with()
    await run(Patch, env, resource=POD)
    await run(Patch, env, resource=POD, type="strategic", subresource="status")
    assert env.done == [
        ("patch", "w", "application/merge-patch+json", ""),
        ("patch", "w", "application/strategic-merge-patch+json", "status"),
    ]


async def test_patch_of_a_node_can_wait_for_the_scheduler() -> None:
    """Only of a node."""
    env = env_with()
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}
    await run(Patch, env, resource=node, seen=True)
    assert env.done[-1] == ("seen", "n1")
    with pytest.raises(OperationError, match="patches of nodes"):
        await run(Patch, env, resource=POD, seen=True)


async def test_delete_waits_until_the_object_is_gone() -> None:
    """And asks with the grace period that is given."""
    env = env_with()
    env.world.pod("w")
    ref = {"apiVersion": "v1", "kind": "Pod", "name": "w"}
    task = asyncio.create_task(run(Delete, env, ref=ref, gracePeriodSeconds=0))
    await asyncio.wait({task}, timeout=0.02)
    assert env.done == [("include", "Pod"), ("delete", "Pod ns/w", "v1", "0")]
    assert not task.done()
    env.world.remove("Pod", "w")
    await task


async def test_delete_fails_on_what_does_not_go_and_says_what_holds_it() -> None:
    """Finalizers and grace periods are named."""
    env = env_with()
    pod = env.world.pod("w")
    held = {"finalizers": ["example.com/hold"], "deletionGracePeriodSeconds": 30}
    env.world.put({**pod, "metadata": {**pod["metadata"], **held}})
    with pytest.raises(Unmet, match=r"Pod ns/w \(finalizer example.com/hold, grace period of 30s\)"):
        await run(Delete, env, 0.01, ref={"apiVersion": "v1", "kind": "Pod", "name": "w"})


async def test_delete_takes_labels_and_files_and_may_not_wait() -> None:
    """What does not exist is gone already."""
    env = env_with({"w.yaml": [POD]})
    env.world.pod("w", labels={"app": "x"})
    env.world.pod("v", labels={"app": "y"})
    await run(Delete, env, ref={"apiVersion": "v1", "kind": "Pod", "labels": {"app": "x"}}, wait=False)
    await run(Delete, env, file="w.yaml", wait=False)
    await run(Delete, env, ref={"apiVersion": "v1", "kind": "Pod", "name": "never"})
    assert [entry for entry in env.done if entry[0] == "delete"] == [("delete", "Pod ns/w", "v1", "None")] * 2


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"ref": {"apiVersion": "v1", "kind": "Pod"}},
        {"ref": {"apiVersion": "v1", "kind": "Pod", "name": "a", "labels": {"a": "b"}}},
    ],
    ids=["nothing", "neither name nor labels", "both"],
)
async def test_delete_wants_to_know_what(fields: dict[str, object]) -> None:
    """Deleting everything of a kind must not happen by leaving something out."""
    with pytest.raises(OperationError, match="either"):
        await run(Delete, env_with(), **fields)


async def test_events_are_shown() -> None:
    """All of the namespace, or those about one object."""
    env = env_with()
    env.world.event("a", "Scheduled", "on n1")
    env.world.event("b", "FailedScheduling", "no")
    await run(Events, env)
    await run(Events, env, name="b")
    assert env.notes == [
        "events:\n  Normal Scheduled Pod a: on n1\n  Normal FailedScheduling Pod b: no",
        "events:\n  Normal FailedScheduling Pod b: no",
    ]


async def test_explain_shows_the_pod_its_events_the_nodes_and_the_schedulers_own_answer() -> None:
    """Whatever there is."""
    env = env_with()
    env.answer = "the scheduler's own table"
    env.world.node("n1", taints=("gpu",))
    env.world.pod("other", "n1")
    env.world.pod("a", reason="Unschedulable", message="0/1 nodes are available: 1 no.")
    env.world.event("a", "FailedScheduling", "0/1")
    await run(Explain, env, pod="a")
    assert env.notes[0].split("\n") == [
        "pod a: pending, Unschedulable: 0/1 nodes are available: 1 no.",
        "  Normal FailedScheduling Pod a: 0/1",
        "  node n1: 1 pods, taints gpu:NoSchedule",
        "the scheduler's own table",
    ]


async def test_explain_shows_how_much_of_what_the_pod_wants_is_taken() -> None:
    """And no other resource; pods that have ended take nothing."""
    env = env_with()
    room = {"cpu": "4", "memory": "8Gi", "nvidia.com/gpu": "8", "pods": "110"}
    node = env.world.node("n1")
    node["status"] = {"allocatable": room}
    asks = {"cpu": "500m", "memory": "1536Mi", "nvidia.com/gpu": "2"}
    for name, phase in (("runs", "Running"), ("ended", "Succeeded"), ("a", "Pending")):
        pod = env.world.pod(name, "" if name == "a" else "n1", phase=phase)
        pod["spec"]["containers"] = [{"name": "c", "resources": {"requests": asks}}]
    await run(Explain, env, pod="a")
    used = "cpu 0.5 of 4, memory 1.5Gi of 8Gi, nvidia.com/gpu 2 of 8"
    assert env.notes[0].split("\n")[-1].startswith(f"  node n1: 1 pods, {used}, taints ")


async def test_explain_of_a_pod_that_does_not_exist_says_so() -> None:
    """It is called in `catch`, where anything may be missing."""
    env = env_with()
    await run(Explain, env, pod="a")
    assert env.notes == ["pod a does not exist"]
