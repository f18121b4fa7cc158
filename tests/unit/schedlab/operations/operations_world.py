"""A synthetic history: a cluster that changes by one line of test code at a time, without a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from signal import Signals
from typing import Any

from schedlab.api.objects import Object, Ref
from schedlab.faults.rules import Fault
from schedlab.history import History, Revision, Write
from schedlab.history.entries import ProcessChange, ProcessEvent
from schedlab.operations.base import Check, Finished, Scope
from schedlab.operations.evaluate import evaluate

START = datetime(2026, 1, 1, tzinfo=UTC)
SCOPE = Scope(namespace="ns")


class Audit:
    """Writes that are known from nowhere."""

    def __init__(self) -> None:
        self.known: list[Write] = []

    def writes(self) -> Iterator[Write]:
        yield from self.known


class World:
    """Every change is one revision, one second after the one before."""

    def __init__(self) -> None:
        self.audit = Audit()
        self.history = History(audit=self.audit)
        self._version = 0
        self._kept: dict[tuple[str, str, str], Object] = {}

    @property
    def now(self) -> datetime:
        return START + timedelta(seconds=self._version)

    def put(self, item: Object) -> Object:
        """Add or replace an object; uid and version are filled in."""
        self._version += 1
        metadata = item.setdefault("metadata", {})
        key = (item["kind"], metadata.get("namespace", ""), metadata["name"])
        metadata["uid"] = f"uid-{'-'.join(key)}"
        metadata["resourceVersion"] = str(self._version)
        change = "MODIFIED" if key in self._kept else "ADDED"
        self._kept[key] = item
        self.history.append(Revision(at=self.now, type=change, object=item))
        return item

    def remove(self, kind: str, name: str, namespace: str = "ns") -> None:
        self._version += 1
        item = self._kept.pop((kind, namespace, name))
        gone = {**item, "metadata": {**item["metadata"], "resourceVersion": str(self._version)}}
        self.history.append(Revision(at=self.now, type="DELETED", object=gone))

    def pod(
        self,
        name: str,
        node: str = "",
        *,
        labels: dict[str, str] | None = None,
        namespace: str = "ns",
        phase: str = "Pending",
        reason: str = "",
        message: str = "",
        nominated: str = "",
        terminating: bool = False,
    ) -> Object:
        """A pod, bound if it has a node, unschedulable if it has a reason."""
        metadata: dict[str, Any] = {"name": name, "namespace": namespace, "labels": labels or {}}
        if terminating:
            metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        conditions = []
        if reason:
            conditions = [{"type": "PodScheduled", "status": "False", "reason": reason, "message": message}]
        elif node:
            conditions = [{"type": "PodScheduled", "status": "True"}]
        return self.put(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": metadata,
                "spec": {"nodeName": node} if node else {},
                "status": {"phase": phase, "conditions": conditions, "nominatedNodeName": nominated},
            }
        )

    def node(self, name: str, *, ready: str = "True", taints: tuple[str, ...] = (), **labels: str) -> Object:
        """A node; `zone="a"` is a label, taints are keys with the effect NoSchedule."""
        return self.put(
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": name, "labels": labels},
                "spec": {"taints": [{"key": key, "effect": "NoSchedule"} for key in taints]},
                "status": {"conditions": [{"type": "Ready", "status": ready}]},
            }
        )

    def event(self, pod: str, reason: str, note: str = "") -> Object:
        return self.put(
            {
                "apiVersion": "events.k8s.io/v1",
                "kind": "Event",
                "metadata": {"name": f"{pod}.{reason}", "namespace": "ns"},
                "type": "Normal",
                "reason": reason,
                "note": note,
                "regarding": {"kind": "Pod", "name": pod, "namespace": "ns"},
            }
        )

    def asked_to_bind(self, pod: str, code: int = 201, credential: str = "") -> None:
        self.audit.known.append(
            Write(
                at=self.now,
                user="system:kube-scheduler",
                verb="create",
                resource="pods",
                subresource="binding",
                namespace="ns",
                name=pod,
                code=code,
                credential=credential,
            )
        )

    def process(self, name: str, event: ProcessChange = "ready", code: int | None = None) -> None:
        """Something befalls a process; its credential is `by-` and its name."""
        self.history.append(
            ProcessEvent(at=self.now, process=name, event=event, code=code, credential=f"by-{name}")
        )

    def lease(self, holder: str, transitions: int = 0, *, by: str = "") -> Object:
        """The scheduler's lease is written, by a process of the test or by a stranger."""
        spec = {"holderIdentity": holder, "leaseTransitions": transitions}
        self.audit.known.append(
            Write(
                at=self.now,
                user="system:kube-scheduler",
                verb="update",
                resource="leases",
                group="coordination.k8s.io",
                namespace="kube-system",
                name="kube-scheduler",
                code=200,
                body={"spec": spec},
                credential=f"by-{by}" if by else "",
            )
        )
        return self.put(
            {
                "apiVersion": "coordination.k8s.io/v1",
                "kind": "Lease",
                "metadata": {"name": "kube-scheduler", "namespace": "kube-system"},
                "spec": spec,
            }
        )


class RecordingEnv:
    """What an action does, as a list; writes go straight into the world."""

    def __init__(self, world: World, scope: Scope = SCOPE) -> None:
        self.world = world
        self.scope = scope
        self.history = world.history
        self.done: list[tuple[str, ...]] = []
        self.notes: list[str] = []
        self.begun: list[Fault] = []
        self.answer = ""
        self.log: list[str] = []
        self.ended = Finished("", "", 0)

    @property
    def writer(self) -> RecordingEnv:
        return self

    @property
    def replicas(self) -> RecordingEnv:
        return self

    @property
    def kubectl(self) -> RecordingEnv:
        return self

    @property
    def faults(self) -> RecordingEnv:
        return self

    def begin(self, fault: Fault) -> str:
        self.begun.append(fault)
        return f"fault-{len(self.begun)}"

    def end(self, name: str | None) -> None:
        self.done.append(("end", name or "all"))

    async def scale(self, count: int, program: str | None) -> list[str]:
        self.done.append(("scale", str(count), program or ""))
        return ["r-0"]

    async def restart(self, name: str) -> str:
        self.done.append(("restart", name))
        return f"{name}-again"

    def signal(self, name: str, number: Signals) -> None:
        self.done.append(("signal", name, number.name))

    def scheduler_log(self) -> list[str]:
        return self.log

    @property
    def programs(self) -> RecordingEnv:
        return self

    async def run(self, argv: Sequence[str], env: Mapping[str, str], seconds: float) -> Finished:
        self.done.append(("run", *argv, *(f"{key}={value}" for key, value in env.items())))
        return self.ended

    async def create(self, item: Object) -> Object:
        self.done.append(("create", item["kind"], item["metadata"]["name"]))
        if item["kind"] == "Pod":
            item = {**item, "metadata": {"namespace": self.scope.namespace, **item["metadata"]}}
        return self.world.put(item)

    async def apply(self, item: Object) -> Object:
        self.done.append(("apply", item["kind"], item["metadata"]["name"]))
        return self.world.put(item)

    async def patch(self, item: Object, content_type: str, subresource: str = "") -> Object:
        self.done.append(("patch", item["metadata"]["name"], content_type, subresource))
        return item

    async def delete(
        self, ref: Ref, api_version: str, grace: int | None = None, policy: str | None = None
    ) -> None:
        self.done.append(("delete", str(ref), api_version, str(grace), *([policy] if policy else [])))

    async def include(self, api_version: str, kind: str) -> str:
        self.done.append(("include", kind))
        return kind

    async def until(self, check: Check, seconds: float) -> None:
        await evaluate(self.history, check, seconds)

    async def scheduler_has_seen(self, node: str, seconds: float) -> None:
        self.done.append(("seen", node))

    async def explain(self, pod: Ref) -> str:
        return self.answer

    def note(self, text: str) -> None:
        self.notes.append(text)
