"""`usage`: what pods and machines use, for the kubelets that watch it."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta
from msgspec import field as struct_field

from schedlab import timing
from schedlab.api.objects import Json
from schedlab.kubelet.courses import Amount, amount_at
from schedlab.kubelet.usage import NodeUsage, PodUsage
from schedlab.operations.base import Action, Env, OperationError
from schedlab.operations.selecting import PodLabels, PodName

_POD = ("memory", "pids", "rootfs", "logs", "inodes")
_NODE = (
    "memory",
    "pids",
    "nodefs",
    "nodefsInodes",
    "images",
    "imagesInodes",
    "unusedImages",
    "deadContainers",
)

_CAPACITY = ("memory", "nodefs", "nodefsInodes", "imagefs", "imagefsInodes", "pids")


class Usage(Action, kw_only=True):
    """Say what pods use, or what a machine uses besides its pods: nothing runs on a fake node.

    For tests with `spec.kubelet`. What is said holds for pods that come later, too; a later `usage` wins,
    field by field. What nobody mentions is 0. Time counts from here on, for a pod that starts later from its
    start.

    An amount is a quantity, or changes: a ramp `{from: 1Gi, to: 4Gi, over: 5s}`, a leak `{from: 1Gi,
    perSecond: 200Mi}`, a series `{series: {0s: 1Gi, 3s: 4Gi}}`.

    ```yaml
    - usage: {pod: hog, memory: 3Gi}
    - usage: {selector: {app: web}, container: sidecar, memory: {from: 1Gi, perSecond: 200Mi}}
    - usage: {pod: writer, rootfs: 1Gi, logs: 100Mi, inodes: 5000, volumes: {scratch: 2Gi}}
    - usage: {node: "($n[0])", memory: 20Gi, unusedImages: 5Gi, capacity: {nodefs: 50Gi, pids: 1000}}
    ```
    """

    tag: ClassVar[str] = "usage"

    pod: PodName = None
    selector: PodLabels = None
    container: Annotated[
        str | None, Meta(description="Of these pods, which container; by default the first.")
    ] = None
    node: Annotated[str | None, Meta(description="The machine, instead of pods.")] = None
    memory: Annotated[Amount | None, Meta(description="The working set, in bytes.")] = None
    pids: Annotated[Amount | None, Meta(description="Processes.")] = None
    rootfs: Annotated[Amount | None, Meta(description="Bytes in the container's writable layer.")] = None
    logs: Annotated[Amount | None, Meta(description="Bytes of the container's logs.")] = None
    inodes: Annotated[Amount | None, Meta(description="Inodes in the container's writable layer.")] = None
    volumes: Annotated[dict[str, Amount], Meta(description="Bytes by the name of the volume.")] = (
        struct_field(default_factory=dict)
    )
    nodefs: Annotated[Amount | None, Meta(description="Of a machine: bytes on nodefs besides pods.")] = None
    nodefs_inodes: Annotated[Amount | None, Meta(description="Of a machine: inodes there.")] = None
    images: Annotated[Amount | None, Meta(description="Of a machine: bytes of images in use.")] = None
    images_inodes: Annotated[Amount | None, Meta(description="Of a machine: inodes of images.")] = None
    unused_images: Annotated[
        Amount | None,
        Meta(description="Of a machine: bytes that the kubelet frees for good before it evicts."),
    ] = None
    dead_containers: Annotated[
        Amount | None, Meta(description="Of a machine: bytes of ended containers, freed in the same way.")
    ] = None
    capacity: Annotated[
        dict[str, int | str],
        Meta(
            description="Of a machine: how much of `memory`, `nodefs`, `nodefsInodes`, `imagefs`, "
            "`imagefsInodes`, `pids` it has, instead of what its Node says."
        ),
    ] = struct_field(default_factory=dict)

    async def run(self, env: Env, seconds: float) -> Json:  # noqa: ARG002 - takes no time
        """Declare it."""
        if sum(one is not None for one in (self.pod, self.selector, self.node)) != 1:
            raise OperationError("whose usage?", hint="give one of `pod`, `selector` and `node`")
        amounts = self._amounts()
        for amount in (*amounts.values(), *self.volumes.values(), *self.capacity.values()):
            amount_at(amount, 0)
        if self.node is not None:
            env.usage.nodes.append(NodeUsage(self.node, timing.monotonic(), amounts, self.capacity))
        else:
            env.usage.pods.append(
                PodUsage(
                    namespace=env.scope.namespace,
                    began=timing.monotonic(),
                    pod=self.pod,
                    selector=self.selector or {},
                    container=self.container,
                    amounts=amounts,
                    volumes=self.volumes,
                )
            )
        return None

    def _amounts(self) -> dict[str, Amount]:
        """What is given, by its name in the file.

        Raises:
            OperationError: a machine is said to have what only pods have, or the other way round.
        """
        names = dict(zip(self.__struct_fields__, self.__struct_encode_fields__, strict=True))
        known, whose = (_NODE, "a machine") if self.node is not None else (_POD, "pods")
        given = {}
        for field, name in names.items():
            value = getattr(self, field)
            if name in {*_POD, *_NODE} and value is not None:
                if name not in known:
                    raise OperationError(f"{whose}: there is no {name}", hint=f"say {', '.join(known)}")
                given[name] = value
        if self.node is not None and (self.volumes or self.container):
            raise OperationError("`volumes` and `container` are about pods", hint="give `pod` or `selector`")
        if self.node is None and self.capacity:
            raise OperationError("`capacity` is that of a machine", hint="give `node`")
        for name in self.capacity:
            if name not in _CAPACITY:
                raise OperationError(f"no machine has {name}", hint=f"say {', '.join(_CAPACITY)}")
        return given
