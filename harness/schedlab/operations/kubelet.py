"""`kubelet`: the kubelets of fake machines fall silent, report trouble, or come back."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from msgspec import Meta
from msgspec import field as struct_field

from schedlab import timing
from schedlab.api.objects import Json, Object
from schedlab.api.patches import MERGE, STRATEGIC
from schedlab.cluster.nodes import KUBELET
from schedlab.history.history import History
from schedlab.operations.base import Action, Env, Met, NotYet, OperationError, Outcome, TimeoutKind
from schedlab.operations.selecting import condition, refs

LEASES = "kube-node-lease"
NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"
_NOBODY = "schedlab-stopped-kubelet"
_FOR_GOOD = 10**9  # seconds: kwok takes a lease over once it has expired

Reports = Literal["NotReady", "Unknown"]

_REPORTED: dict[Reports, tuple[str, str, str, str]] = {
    "NotReady": ("False", "KubeletNotReady", "container runtime is down", NOT_READY),
    "Unknown": ("Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status.", UNREACHABLE),
}
"""For each form of `reports`: status, reason and message of Ready, and the controller's taint."""


class Kubelet(Action):
    """Stop the kubelets of fake machines, or start them again.

    `stop` ends their heartbeats: nobody renews the nodes' leases, their pods are neither started nor ended,
    and after its grace period (`--node-monitor-grace-period`, 50s) the node lifecycle controller finds them
    `Unknown`. It returns at once. With `reports` the Ready condition changes at once instead, as the kubelet
    itself or the controller would have set it, and the operation waits for the controller's NoSchedule taint;
    pods go on being served then. `start` waits until the nodes are Ready and both taints are gone; kwok takes
    a quarter of its lease duration (40s) to notice.

    ```yaml
    - kubelet: {stop: ["($gpu[0])"]}
    - kubelet: {stop: ($gpu), reports: NotReady}
    - kubelet: {start: ($gpu)}
    ```
    """

    tag: ClassVar[str] = "kubelet"
    timeout_kind: ClassVar[TimeoutKind] = "nodes"

    stop: Annotated[list[str], Meta(description="Names of nodes. This or `start`.")] = struct_field(
        default_factory=list
    )
    start: Annotated[list[str], Meta(description="Names of nodes. This or `stop`.")] = struct_field(
        default_factory=list
    )
    reports: Annotated[
        Reports | None,
        Meta(description="With `stop`: the Ready condition that appears at once, instead of silence."),
    ] = None
    seen: Annotated[
        bool,
        Meta(
            description="With `reports` or `start`: wait until the scheduler under test has seen it. A probe "
            "pod comes and goes for that, which may wake pending pods."
        ),
    ] = True

    async def run(self, env: Env, seconds: float) -> Json:
        """Stop or start them all, then wait for what the controller makes of it."""
        names = self.stop or self.start
        if bool(self.stop) == bool(self.start):
            raise OperationError("give either `stop` or `start`", hint="one of the two, with names of nodes")
        if self.start and self.reports:
            raise OperationError("`reports` goes with `stop`", hint="a kubelet that starts reports Ready")
        for name in names:
            await (self._stop(env, name) if self.stop else start(env, name))
        if self.start:
            await env.until(lambda history: serving(history, names), seconds)
        elif self.reports is not None:
            _, _, _, taint = _REPORTED[self.reports]
            await env.until(lambda history: tainted(history, names, taint), seconds)
        else:
            return names
        if self.seen:
            await env.scheduler_has_seen(names[-1], seconds)
        return names

    async def _stop(self, env: Env, name: str) -> None:
        known(env, name)
        await mark(env, name, "silent" if self.reports is None else "stopped")
        if self.reports is None:
            await env.writer.apply(
                _lease(name, {"holderIdentity": _NOBODY, "leaseDurationSeconds": _FOR_GOOD})
            )
        else:
            await report(env, name, self.reports)


async def start(env: Env, name: str) -> None:
    """Let the kubelet of a node that was stopped run again.

    Raises:
        OperationError: there is no such node, or its kubelet was not stopped.
    """
    state = (known(env, name)["metadata"].get("annotations") or {}).get(KUBELET)
    if state is None:
        raise OperationError(f"the kubelet of {name} runs", hint="stop it first")
    await mark(env, name, None)
    if state == "silent":
        renewed = timing.now().strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        await env.writer.patch(_lease(name, {"holderIdentity": None, "renewTime": renewed}), MERGE)


async def mark(env: Env, name: str, state: str | None) -> None:
    """Tell kwok's stages about a kubelet: an annotation that they read."""
    metadata = {"name": name, "annotations": {KUBELET: state}}
    await env.writer.patch({"apiVersion": "v1", "kind": "Node", "metadata": metadata}, MERGE)


async def report(env: Env, name: str, reports: Reports) -> None:
    """Write the Ready condition of a node in trouble."""
    status, reason, message, _ = _REPORTED[reports]
    now = timing.now().strftime("%Y-%m-%dT%H:%M:%SZ")
    ready = {
        "type": "Ready",
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": now,
    }
    node: Object = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}
    await env.writer.patch({**node, "status": {"conditions": [ready]}}, STRATEGIC, "status")


def _lease(name: str, spec: Object) -> Object:
    metadata = {"name": name, "namespace": LEASES}
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": spec}


def known(env: Env, name: str) -> Object:
    """A node of the cluster.

    Raises:
        OperationError: there is none of that name.
    """
    node = env.history.current.get("Node", name)
    if node is None:
        names = ", ".join(item["metadata"]["name"] for item in env.history.current.list("Node")[:10])
        raise OperationError(f"there is no node {name!r}", hint=f"nodes are {names or 'none'}")
    return node


def keys_of(node: Object) -> set[str]:
    """The keys of a node's taints."""
    return {taint["key"] for taint in (node.get("spec") or {}).get("taints") or []}


def serving(history: History, names: list[str]) -> Outcome:
    """Met once all nodes are Ready and the controller has taken back what it had tainted them with."""
    expected = f"{', '.join(names)} Ready, without the taints {NOT_READY} and {UNREACHABLE}"
    for name in names:
        node = history.current.get("Node", name)
        if node is None:
            return NotYet(expected, f"{name} does not exist")
        ready, keys = (condition(node, "Ready") or {}).get("status"), keys_of(node)
        if ready != "True" or keys & {NOT_READY, UNREACHABLE}:
            seen = f"{name} has Ready={ready} and the taints {', '.join(sorted(keys)) or 'none'}"
            return NotYet(expected, seen, history.since(node), refs([node]))
    return Met(f"{len(names)} nodes Ready")


def tainted(history: History, names: list[str], taint: str) -> Outcome:
    """Met once all nodes carry a taint."""
    expected = f"{', '.join(names)} with the taint {taint}"
    for name in names:
        node = history.current.get("Node", name)
        if node is None:
            return NotYet(expected, f"{name} does not exist")
        if taint not in keys_of(node):
            keys = ", ".join(sorted(keys_of(node))) or "none"
            return NotYet(expected, f"{name} has the taints {keys}", history.since(node), refs([node]))
    return Met(f"{len(names)} nodes with the taint {taint}")
