"""Objects and questions that several tests share."""

from __future__ import annotations

from tests.integration.kubesched.conftest import eventually


def pod(name: str, *, cpu: str = "100m", **spec) -> dict:
    """A pod of one container."""
    requests = {"cpu": cpu}
    containers = [{"name": "c", "image": "i", "resources": {"requests": requests}}]
    return {"metadata": {"name": name}, "spec": {"containers": containers, **spec}}


def scheduled(core, namespace: str, name: str) -> str:
    """The pod's node, waited for."""
    return eventually(lambda: core.read_namespaced_pod(name, namespace).spec.node_name)


def condition(core, namespace: str, name: str) -> dict[str, object]:
    """What the PodScheduled condition says once it is False."""

    def ask():
        found = core.read_namespaced_pod(name, namespace).status.conditions or []
        return next((c for c in found if c.type == "PodScheduled" and c.status == "False"), None)

    seen = eventually(ask)
    return {"reason": seen.reason, "message": seen.message, "observed": bool(seen.last_transition_time)}


def events(core, namespace: str, name: str) -> list[tuple[str, ...]]:
    """(type, reason, action, controller, note) of a pod's events, waited for."""

    def ask():
        found = core.list_namespaced_event(namespace, field_selector=f"involvedObject.name={name}").items
        return [
            (e.type, e.reason, e.action, e.reporting_component, e.message)
            for e in found
            if e.reason in {"Scheduled", "FailedScheduling"}
        ]

    return eventually(ask)
