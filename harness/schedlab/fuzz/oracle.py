"""A control plane whose only purpose is to ask kube-scheduler questions.

The objects of a case must stay as they were written: the controller manager has nothing to do,
kwok has no node of its own, and admission plugins that would add or refuse what a kubelet, a controller or a
runtime class stands for are off. The scheduler is the unmodified binary, configured so that equal states get
equal answers: it looks at all nodes, one at a time, without batching, and never tries a pod twice.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final

from schedlab.api.client import Client
from schedlab.cluster.backend import Backend, ClusterSpec, ControlPlane
from schedlab.cluster.local import LocalBackend
from schedlab.decisions.logbook import VERBOSITY, Tail
from schedlab.decisions.tap import Tap
from schedlab.errors import EnvironmentStartError
from schedlab.fuzz.recorder import Recorder
from schedlab.fuzz.world import World
from schedlab.schedulers.declaration import SchedulerSpec, declared
from schedlab.schedulers.running import help_of, start, version

#: Admission that rewrites or refuses what cases write on purpose.
_ADMISSION_OFF = (
    "ServiceAccount",
    "TaintNodesByCondition",  # would taint every node not-ready
    "Priority",  # cases give numbers, not classes
    "RuntimeClass",  # cases give overhead without a class
    "DefaultTolerationSeconds",
    "StorageObjectInUseProtection",  # its finalizers need a controller
)
#: Controllers that would react to what cases hold: nodes, pods, owners, services, volumes, budgets.
_CONTROLLERS_OFF = (
    "clusterrole-aggregation",
    "cronjob",
    "daemonset",
    "deployment",
    "device-taint-eviction",
    "disruption",
    "endpoints",
    "endpointslice",
    "endpointslice-mirroring",
    "ephemeral-volume",
    "garbage-collector",
    "job",
    "legacy-serviceaccount-token-cleaner",
    "namespace",
    "node-lifecycle",
    "persistentvolume-attach-detach",
    "persistentvolume-binder",
    "persistentvolume-expander",
    "persistentvolume-protection",
    "persistentvolumeclaim-protection",
    "pod-garbage-collector",
    "replicaset",
    "replicationcontroller",
    "resourceclaim",
    "resourcequota",
    "serviceaccount",
    "serviceaccount-token",
    "statefulset",
    "taint-eviction",
    "ttl",
    "ttl-after-finished",
)
_VOLUME_ROLE = "system:volume-scheduler"
#: Equal states, equal answers; a pod that failed is not tried again within any run.
PARITY_CONFIG: Final[dict[str, Any]] = {
    "percentageOfNodesToScore": 100,
    "parallelism": 1,
    "podInitialBackoffSeconds": 86400,
    "podMaxBackoffSeconds": 86400,
    "clientConnection": {"qps": 10000, "burst": 10000},
}
_PARITY_GATES: Final = ("OpportunisticBatching", "SchedulerPopFromBackoffQ")


def parity_flags(known: str = " ".join(_PARITY_GATES)) -> tuple[str, ...]:
    """Switches off, of the gates that are `known`, those that make equal states get unequal answers.

    What is known is what the scheduler's `--help` says: a gate of a later version would end it.
    """
    gates = ",".join(f"{gate}=false" for gate in _PARITY_GATES if gate in known)
    return (f"--feature-gates={gates}",) if gates else ()


def cluster_spec(name: str) -> ClusterSpec:
    """The control plane that a recorder wants."""
    return ClusterSpec(
        name=name,
        controller_flags={"controllers": ",".join(f"-{name}-controller" for name in _CONTROLLERS_OFF)},
        apiserver_flags={
            "disable-admission-plugins": ",".join(_ADMISSION_OFF),
            "audit-policy-file": "",  # nobody reads it, and every write would wait for it
            "audit-log-path": "",
            "delete-collection-workers": "8",
        },
    )


async def hold_volumes(client: Client) -> None:
    """Take from schedulers the right to change claims and volumes.

    A pod whose claims wait for their first consumer is then decided like any other, and its binding fails at
    once, at the first write: nobody has to play the volume controller, no attempt waits for it, and the state
    stays as it was laid.
    """
    resource = await client.resource("rbac.authorization.k8s.io/v1", "ClusterRole")
    role = await client.get(resource, "", _VOLUME_ROLE)
    reading = [{**rule, "verbs": ["get", "list", "watch"]} for rule in role["rules"]]
    await client.request("PUT", resource.path("", _VOLUME_ROLE), body={**role, "rules": reading})


@asynccontextmanager
async def oracle(
    name: str = "fuzz",
    *,
    scheduler: SchedulerSpec | None = None,
    config: Mapping[str, Any] | None = None,
    tapped: bool = True,
    sampled: bool = False,
    backend: Backend | None = None,
) -> AsyncIterator[Recorder]:
    """A recorder on a control plane of its own; everything ends with the context.

    It records kube-scheduler, or another `scheduler` that logs as that does. `config` is a
    KubeSchedulerConfiguration that is merged into what parity needs; `sampled` leaves it to the scheduler how
    many nodes it looks at.

    Raises:
        EnvironmentStartError: the control plane or the scheduler does not come up.
    """
    async with AsyncExitStack() as stack:
        plane = await (backend or LocalBackend()).up(cluster_spec(name))
        stack.push_async_callback(plane.down)
        yield await attach(stack, plane, config or {}, scheduler, tapped=tapped, sampled=sampled)


async def attach(
    stack: AsyncExitStack,
    plane: ControlPlane,
    config: Mapping[str, Any],
    scheduler: SchedulerSpec | None = None,
    *,
    tapped: bool = True,
    sampled: bool = False,
) -> Recorder:
    """Start kube-scheduler, or one like it, on the control plane and watch it from all sides.

    Raises:
        EnvironmentStartError: the cluster has pods, which a recorder would not own; or the scheduler does not
        start.
    """
    spec = scheduler or declared("kube-scheduler")
    tap = Tap() if tapped else None
    patch = {**config, **PARITY_CONFIG}
    if sampled:
        del patch["percentageOfNodesToScore"]
    if tap is not None:
        await tap.start(0)
        stack.push_async_callback(tap.stop)
        patch["extenders"] = [tap.extender()]
    client = await Client.connect(plane.kubeconfig())
    stack.push_async_callback(client.close)
    world = await stack.enter_async_context(World(client))
    if not world.is_empty:
        raise EnvironmentStartError(
            f"control plane {plane.name} has pods already",
            hint="give the recorder a control plane of its own",
        )
    await hold_volumes(client)
    flags = (*parity_flags(help_of(spec, plane)), *VERBOSITY)
    running = await start(spec, plane, config_patch=patch, extra_flags=flags)
    stack.push_async_callback(running.stop)
    tail = Tail(running.log)
    stack.callback(tail.close)
    return Recorder(world, tail, tap, f"{spec.name.partition('@')[0]}, {version(spec, plane)}", dict(config))
