"""Histories of machines and pods, written down a second at a time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from schedlab.api.objects import Object
from schedlab.history.entries import ProcessEvent, Revision
from schedlab.history.history import History

START = datetime(2026, 1, 1, tzinfo=UTC)
VERSIONS = {"Event": "events.k8s.io/v1", "Lease": "coordination.k8s.io/v1"}


def at(second: float) -> datetime:
    return START + timedelta(seconds=second)


def clock(moment: datetime) -> float:
    return (moment - START).total_seconds()


class Record:
    """A history; every entry says when it was received."""

    def __init__(self) -> None:
        self.history = History()
        self._version = 0

    def put(
        self,
        second: float,
        kind: str,
        name: str,
        change: Any = "MODIFIED",
        *,
        initial: bool = False,
        **body: Any,
    ) -> Object:
        self._version += 1
        metadata = {
            "name": name,
            "uid": f"{kind}-{name}",
            "resourceVersion": str(self._version),
            **body.pop("metadata", {}),
        }
        item = {"apiVersion": VERSIONS.get(kind, "v1"), "kind": kind, "metadata": metadata, **body}
        self.history.append(Revision(at=at(second), type=change, object=item, initial=initial))
        return item

    def node(
        self, second: float, name: str, slots: dict[str, str], change: str = "MODIFIED", **more: Any
    ) -> None:
        status = {
            "capacity": more.pop("capacity", slots),
            "allocatable": slots,
            "conditions": [{"type": "Ready", "status": more.pop("ready", "True")}],
        }
        metadata = {"labels": more.pop("labels", {})}
        self.put(second, "Node", name, change, metadata=metadata, status=status, spec=more)

    def pod(self, second: float, name: str, node: str = "", change: str = "MODIFIED", **more: Any) -> None:
        resources = {"requests": more.pop("requests", {})}
        spec = {"containers": [{"name": "c", "resources": resources}], **more.pop("spec", {})}
        if node:
            spec["nodeName"] = node
        metadata = {"namespace": more.pop("namespace", "ns"), "labels": more.pop("labels", {})}
        self.put(second, "Pod", name, change, metadata=metadata, spec=spec, status=more)

    def process(self, second: float, process: str, event: Any, **more: Any) -> None:
        self.history.append(ProcessEvent(at=at(second), process=process, event=event, **more))


def disrupted(reason: str) -> list[dict[str, str]]:
    return [{"type": "DisruptionTarget", "status": "True", "reason": reason}]
