"""One node's kubelet at work: what it writes when, in virtual time."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest
from kubelet_pods import pod

from schedlab import timing
from schedlab.api.client import ApiError
from schedlab.errors import EnvironmentStartError
from schedlab.history import History, Revision
from schedlab.kubelet.admission import NAMESPACE_LABELS, mark_new_pods
from schedlab.kubelet.configuration import configure
from schedlab.kubelet.kubelet import AWAITED, Kubelet
from schedlab.kubelet.kubelets import Kubelets
from schedlab.kubelet.node_client import NodeClient, give_rights
from schedlab.kubelet.usage import Declared, NodeUsage, PodUsage
from schedlab.suite.types import KubeletNeeds

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def node(name="n", **annotations):
    capacity = {"memory": "8Gi", "ephemeral-storage": "100Gi"}
    return {
        "kind": "Node",
        "apiVersion": "v1",
        "metadata": {"name": name, "uid": f"uid-{name}", "annotations": annotations},
        "spec": {},
        "status": {
            "capacity": capacity,
            "allocatable": capacity,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def bound(name, *, phase="Pending", marked=True, node="n", **more):
    one = pod(name, nodeName=node, **more)
    one["metadata"] |= {"annotations": dict(AWAITED) if marked else {}, "resourceVersion": "1"}
    one["status"] |= {"phase": phase, "containerStatuses": [{"name": "main", "state": {"running": {}}}]}
    return one


class World:
    """A history, a clock that moves only while somebody sleeps, and a server that notes what is written."""

    def __init__(self, monkeypatch, **needs) -> None:
        self.history = History()
        self.now = 100.0
        self.until = 0.0
        self.written: list[tuple[float, str, dict]] = []
        self.declared = Declared()
        self.needs = {"eviction_hard": {"memory.available": "1Gi"}, "synchronize_period": "2s", **needs}
        self.over = asyncio.Event()
        monkeypatch.setattr(timing, "monotonic", lambda: self.now)
        monkeypatch.setattr(timing, "sleep", self.sleep)
        monkeypatch.setattr(timing, "now", lambda: NOW)

    async def sleep(self, seconds: float) -> None:
        if self.now + seconds > self.until:
            self.over.set()
            await asyncio.Event().wait()
        self.now += seconds
        await asyncio.sleep(0)  # noqa: TID251 - lets the other tasks run

    def put(self, item, change="MODIFIED"):
        self.history.append(Revision(at=NOW, type=change, object=item))
        return item

    async def patch_pod(self, item, change) -> bool:
        self.written.append((self.now - 100, f"pod {item['metadata']['name']}", change))
        if "annotations" in change["metadata"]:
            self.put(bound(item["metadata"]["name"], phase="Running", marked=False))
        return True

    async def patch_node(self, name, change) -> None:
        self.written.append((self.now - 100, f"node {name}", change))

    async def create_event(self, event) -> None:
        self.written.append((self.now - 100, f"event {event['reason']}", event))

    async def live(self, seconds: float) -> list[tuple[float, str]]:
        """Let a kubelet work for so long; when it wrote what."""
        self.until = self.now + seconds
        kubelet = Kubelet(self, self.history, configure(KubeletNeeds(**self.needs)), self.declared, "n")
        unsubscribe = self.history.subscribe(lambda entry: kubelet.heard(entry.object))
        for item in (*self.history.current.list("Node"), *self.history.current.list("Pod")):
            kubelet.heard(item)
        task = asyncio.create_task(kubelet.run())
        waiting = asyncio.create_task(self.over.wait())
        await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED, timeout=5)
        unsubscribe()
        for one in (task, waiting):
            one.cancel()
        await asyncio.gather(task, waiting, return_exceptions=True)
        return [(when, what) for when, what, _ in self.written]

    def uses(self, name: str, **amounts) -> None:
        self.declared.pods.append(PodUsage("ns", 0, pod=name, amounts=amounts))

    def said(self, what: str) -> dict:
        return next(change for _, about, change in self.written if about == what)


async def test_a_pod_is_admitted_then_evicted_when_memory_runs_out(monkeypatch):
    """Reported first, then told, then Failed after a second."""
    world = World(monkeypatch)
    world.put(node())
    world.put(bound("hog"))
    world.uses("hog", memory="7500Mi")
    assert await world.live(5) == [
        (0, "pod hog"),
        (0, "node n"),
        (0, "event NodeHasInsufficientMemory"),
        (0, "event EvictionThresholdMet"),
        (0, "event Evicted"),
        (1, "pod hog"),
    ]
    assert world.said("pod hog") == {"metadata": {"uid": "uid-hog", "annotations": dict.fromkeys(AWAITED)}}


async def test_an_evicted_pods_status_says_all(monkeypatch):
    """Phase, reason, message, conditions, containers; and the Event carries the annotations."""
    world = World(monkeypatch)
    world.put(node())
    world.put(bound("hog"))
    world.uses("hog", memory="7500Mi")
    await world.live(4)
    status = world.written[-1][2]["status"]
    assert (status["phase"], status["reason"]) == ("Failed", "Evicted")
    assert status["message"] == world.said("event Evicted")["message"]
    assert {entry["type"]: entry["status"] for entry in status["conditions"]} == {
        "Ready": "False",
        "ContainersReady": "False",
        "DisruptionTarget": "True",
    }
    assert status["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 137
    assert world.said("event Evicted")["metadata"]["annotations"]["starved_resource"] == "memory"
    (condition,) = world.said("node n")["status"]["conditions"]
    assert (condition["reason"], condition["status"]) == ("KubeletHasInsufficientMemory", "True")


async def test_a_pod_that_ends_early_is_failed_early(monkeypatch):
    """Containers that heed the signal do not use up their grace."""
    world = World(monkeypatch)
    world.put(node())
    one = bound("hog")
    one["metadata"]["annotations"]["schedlab/terminates-in-seconds"] = "0.5"
    world.put(one)
    monkeypatch.setattr(world, "patch_pod", patching(world, one["metadata"]["annotations"]))
    world.uses("hog", memory="7500Mi")
    assert (0.5, "pod hog") in await world.live(4)


def patching(world, annotations):
    async def patch(item, change):
        world.written.append((world.now - 100, f"pod {item['metadata']['name']}", change))
        if "annotations" in change["metadata"]:
            admitted = bound(item["metadata"]["name"], phase="Running", marked=False)
            rest = {key: value for key, value in annotations.items() if key not in AWAITED}
            admitted["metadata"]["annotations"] = rest
            world.put(admitted)
        return True

    return patch


async def test_a_pod_is_rejected_under_pressure(monkeypatch):
    """It never starts; the message has the kubelet's prefix, its Event has not."""
    world = World(monkeypatch)
    world.put(node())
    world.declared.nodes.append(NodeUsage("n", 0, {"memory": "7500Mi"}))
    sleep = world.sleep

    async def and_a_pod_comes(seconds):
        if world.now == 100:
            world.put(bound("late"))
        await sleep(seconds)

    monkeypatch.setattr(timing, "sleep", and_a_pod_comes)
    await world.live(2)
    assert world.said("pod late")["status"] == {
        "phase": "Failed",
        "reason": "Evicted",
        "message": "Pod was rejected: The node had condition: [MemoryPressure]. ",
    }
    assert world.said("event Evicted")["message"] == "The node had condition: [MemoryPressure]. "


async def test_pods_that_were_never_admitted_are_nobodys_victims(monkeypatch):
    """Such as the harness's own probes."""
    world = World(monkeypatch)
    world.put(node())
    world.put(bound("probe", phase="Running", marked=False))
    world.declared.nodes.append(NodeUsage("n", 0, {"memory": "7500Mi"}))
    assert "event Evicted" not in [what for _, what in await world.live(4)]


@pytest.mark.parametrize("state", ["stopped", "silent"])
async def test_a_kubelet_that_is_stopped_does_nothing(monkeypatch, state):
    """No condition, no eviction, no admission."""
    world = World(monkeypatch)
    world.put(node(**{"schedlab/kubelet": state}))
    world.put(bound("late"))
    world.declared.nodes.append(NodeUsage("n", 0, {"memory": "7500Mi"}))
    assert await world.live(6) == []


class Server:
    """An API server that knows requests by their path."""

    def __init__(self, marks: bool = True, refusal: ApiError | None = None) -> None:
        self.requests: list[tuple[str, str, dict]] = []
        self.marks = marks
        self.refusal = refusal

    async def request(self, method, path, **more):
        self.requests.append((method, path, more))
        if self.refusal is not None:
            raise self.refusal
        return {"metadata": {"annotations": dict(AWAITED) if self.marks else {}}}


async def test_a_node_writes_under_its_own_name():
    """Impersonated, so that its rights are those of a kubelet."""
    server = Server()
    await NodeClient(server, "n").patch_node("n", {"status": {}})
    (method, path, more) = server.requests[0]
    assert (method, path) == ("PATCH", "/api/v1/nodes/n/status")
    assert more["headers"] == {"Impersonate-User": "system:node:n", "Impersonate-Group": "system:nodes"}


@pytest.mark.parametrize(("status", "gone"), [(404, True), (409, True), (403, False)])
async def test_what_is_gone_is_no_error(status, gone):
    """What is forbidden is one."""
    client = NodeClient(Server(refusal=ApiError("PATCH", status, "", "no")), "n")
    if gone:
        assert await client.patch_pod(bound("a"), {}) is False
        assert await client.patch_node("n", {}) is False
    else:
        with pytest.raises(ApiError):
            await client.patch_pod(bound("a"), {})


async def test_rights_are_given_once():
    """What is there already is as good; another refusal is an error."""
    await give_rights(Server(refusal=ApiError("POST", 409, "AlreadyExists", "there")))
    with pytest.raises(ApiError):
        await give_rights(Server(refusal=ApiError("POST", 403, "Forbidden", "no")))


async def test_pods_are_marked_before_the_test_goes_on(monkeypatch):
    """A policy that takes no effect is an error of the environment, with the policy's name."""
    server = Server()
    await mark_new_pods(server, "ns")
    assert [path.rpartition("/")[2] for _, path, _ in server.requests] == [
        "mutatingadmissionpolicies",
        "mutatingadmissionpolicybindings",
        "pods",
    ]
    assert server.requests[-1][2]["query"] == {"dryRun": "All"}
    policy = server.requests[0][2]["body"]["spec"]
    assert policy["matchConstraints"]["namespaceSelector"]["matchLabels"] == NAMESPACE_LABELS

    async def never(probe, deadline):
        return await probe()

    monkeypatch.setattr(timing, "poll", never)
    with pytest.raises(EnvironmentStartError, match="does not mark the pods"):
        await mark_new_pods(Server(marks=False), "ns")


async def test_kubelets_come_and_go_with_their_nodes():
    """Each node that joins gets one; one that breaks down is told at the end."""
    history = History()
    kubelets = Kubelets(Server(), history, configure(KubeletNeeds()))
    await kubelets.start("ns")
    for name in ("a", "b"):
        history.append(Revision(at=NOW, type="ADDED", object=node(name)))
    names = {task.get_name() for task in asyncio.all_tasks()}
    assert {"kubelet a", "kubelet b"} <= names
    history.append(Revision(at=NOW, type="DELETED", object=node("a")))
    await asyncio.sleep(0)  # noqa: TID251 - lets the cancelled task end
    await asyncio.sleep(0)  # noqa: TID251 - and its subtasks
    assert await kubelets.close() is None
    assert not any(task.get_name().startswith("kubelet") for task in asyncio.all_tasks() if not task.done())


async def test_a_kubelet_that_breaks_down_is_told():
    """A refused write is no reason to go on as if nothing had happened."""
    history = History()
    server = Server()
    kubelets = Kubelets(server, history, configure(KubeletNeeds()))
    await kubelets.start("ns")
    history.append(Revision(at=NOW, type="ADDED", object=node("n")))
    server.refusal = ApiError("PATCH", 403, "Forbidden", "a kubelet may not do that")
    history.append(Revision(at=NOW, type="ADDED", object=bound("one")))
    for _ in range(10):
        await asyncio.sleep(0)  # noqa: TID251 - lets the tasks run
    assert "a kubelet may not do that" in str(await kubelets.close())


async def test_kubelets_that_cannot_start_are_an_error_of_the_environment():
    """With what the server said."""
    server = Server(refusal=ApiError("POST", 403, "Forbidden", "no such rights"))
    with pytest.raises(EnvironmentStartError, match="no such rights"):
        await Kubelets(server, History(), configure(KubeletNeeds())).start("ns")
