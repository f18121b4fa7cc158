"""Kubelets of fake machines stop and start as they are told, and the operation waits for what follows."""

from __future__ import annotations

import asyncio

import msgspec
import pytest
from operations_world import RecordingEnv, World

from schedlab.api.objects import Json, Object
from schedlab.operations.base import OperationError, Unmet
from schedlab.operations.kubelet import NOT_READY, UNREACHABLE, Kubelet


class PatchingEnv(RecordingEnv):
    """An environment whose patches are kept, body and all."""

    def __init__(self, *nodes: str) -> None:
        super().__init__(World())
        self.bodies: list[Object] = []
        for name in nodes:
            self.world.node(name)

    async def patch(self, item: Object, content_type: str, subresource: str = "") -> Object:
        self.bodies.append(item)
        return await super().patch(item, content_type, subresource)

    async def apply(self, item: Object) -> Object:
        self.bodies.append(item)
        return await super().apply(item)

    def stopped(self, name: str, how: str) -> None:
        """The node carries the annotation of a kubelet that was stopped."""
        node = self.world.node(name)
        node["metadata"]["annotations"] = {"schedlab/kubelet": how}


async def run(env: RecordingEnv, seconds: float = 5.0, **fields: object) -> Json:
    return await msgspec.convert(fields, Kubelet).run(env, seconds)


async def test_a_kubelet_that_stops_lets_go_of_its_lease() -> None:
    """Whoever holds it never renews it, and kwok leaves what others hold alone."""
    env = PatchingEnv("n")
    assert await run(env, stop=["n"]) == ["n"]
    mark, lease = env.bodies
    assert mark["metadata"] == {"name": "n", "annotations": {"schedlab/kubelet": "silent"}}
    assert (lease["kind"], lease["metadata"]["namespace"]) == ("Lease", "kube-node-lease")
    assert lease["spec"]["holderIdentity"] == "schedlab-stopped-kubelet"
    assert lease["spec"]["leaseDurationSeconds"] > 10 * 365 * 86400
    assert "renewTime" not in lease["spec"]


@pytest.mark.parametrize(
    ("reports", "status", "taint"), [("NotReady", "False", NOT_READY), ("Unknown", "Unknown", UNREACHABLE)]
)
async def test_a_reported_trouble_is_waited_for_until_the_controller_taints(
    reports: str, status: str, taint: str
) -> None:
    """Both forms, and then the scheduler has seen it."""
    env = PatchingEnv("n")
    task = asyncio.create_task(run(env, stop=["n"], reports=reports))
    await asyncio.wait({task}, timeout=0.02)
    assert not task.done()
    assert env.bodies[0]["metadata"]["annotations"] == {"schedlab/kubelet": "stopped"}
    assert env.bodies[1]["status"]["conditions"][0]["status"] == status
    env.world.node("n", ready=status, taints=(taint,))
    assert await task == ["n"]
    assert env.done[-1] == ("seen", "n")


async def test_a_node_that_nobody_taints_is_a_failure() -> None:
    """The node lifecycle controller has not done its part."""
    with pytest.raises(Unmet, match="n has the taints none"):
        await run(PatchingEnv("n"), 0.01, stop=["n"], reports="NotReady")


async def test_a_silent_kubelet_that_starts_gives_its_lease_back_as_just_renewed() -> None:
    """The controller hears of it at once, and kwok takes the lease that nobody holds."""
    env = PatchingEnv()
    env.stopped("n", "silent")
    task = asyncio.create_task(run(env, start=["n"]))
    await asyncio.wait({task}, timeout=0.02)
    mark, lease = env.bodies
    assert mark["metadata"]["annotations"] == {"schedlab/kubelet": None}
    assert lease["spec"]["holderIdentity"] is None
    assert lease["spec"]["renewTime"].endswith("Z")
    assert await task == ["n"]
    assert env.done[-1] == ("seen", "n")


async def test_a_kubelet_that_only_reported_trouble_has_its_lease_still() -> None:
    """Taking it away would make the node wait for kwok."""
    env = PatchingEnv()
    env.stopped("n", "stopped")
    await run(env, start=["n"], seen=False)
    assert [body["kind"] for body in env.bodies] == ["Node"]
    assert ("seen", "n") not in env.done


@pytest.mark.parametrize(("ready", "taint"), [("Unknown", ""), ("True", NOT_READY), ("True", UNREACHABLE)])
async def test_a_start_waits_for_ready_and_for_both_taints_to_go(ready: str, taint: str) -> None:
    """The NoExecute taint goes later than the condition changes."""
    env = PatchingEnv()
    node = env.world.node("n", ready=ready, taints=(taint,) if taint else ())
    node["metadata"]["annotations"] = {"schedlab/kubelet": "stopped"}
    with pytest.raises(Unmet, match=f"n has Ready={ready} and the taints {taint or 'none'}"):
        await run(env, 0.01, start=["n"])


async def test_a_kubelet_that_runs_cannot_be_started() -> None:
    """A test that thinks otherwise has not stopped what it meant to."""
    with pytest.raises(OperationError, match="the kubelet of n runs"):
        await run(PatchingEnv("n"), start=["n"])


async def test_a_node_that_does_not_exist_has_no_kubelet() -> None:
    """The error names those that there are."""
    with pytest.raises(OperationError, match="there is no node 'm'") as error:
        await run(PatchingEnv("n"), stop=["m"])
    assert "nodes are n" in str(error.value.hint)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "either `stop` or `start`"),
        ({"stop": ["n"], "start": ["n"]}, "either `stop` or `start`"),
        ({"start": ["n"], "reports": "NotReady"}, "`reports` goes with `stop`"),
    ],
)
async def test_contradictions_are_told(fields: dict[str, object], message: str) -> None:
    """One thing at a time."""
    with pytest.raises(OperationError, match=message):
        await run(PatchingEnv("n"), **fields)
