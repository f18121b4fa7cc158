"""A cluster in memory with a scheduler that decides what it is told, and logs it as kube-scheduler does."""

from __future__ import annotations

import copy
from typing import TextIO

from schedlab.api.client import ApiError
from schedlab.decisions.corpus import Change, trimmed
from schedlab.decisions.tap import Tapped, TappedCandidate


class FakeCluster:
    """Stands in for `World`; `decide` maps a pod's name to what the scheduler does with it.

    A decision is ("bind", node), ("refuse", message), ("preempt", node, victims), ("fail", error), or None
    for none at all.
    """

    def __init__(self, log: TextIO, tap, decide):
        self.log = log
        self.tap = tap
        self.decide = decide
        self.pods: dict[str, dict] = {}
        self.nodes: list[str] = []
        self.changes: list[Change] = []
        self.writes: list[tuple] = []
        self.version = 0
        self.notes: dict[str, str] = {}

    def say(self, text):
        self.log.write(f"I1120 23:28:33.269246   23982 x.go:1] {text}\n")
        self.log.flush()

    async def create(self, obj):
        self.version += 1
        stored = copy.deepcopy(obj)
        name = stored["metadata"]["name"]
        if name == "refused-by-the-api":
            raise ApiError("POST", 422, "Invalid", "no such field")
        stored["metadata"].update(uid=f"uid-{name}", resourceVersion=str(self.version))
        self.writes.append(("create", name))
        if obj["kind"] == "Node":
            self.nodes.append(name)
            self.say(f'"Add event for node" node="{name}"')
        if obj["kind"] == "Pod":
            stored["metadata"].setdefault("namespace", "default")
            stored.setdefault("status", {})
            self._set("ADDED", stored)
            if not stored["spec"].get("nodeName"):
                self._schedule(copy.deepcopy(stored))
        return stored

    async def create_all(self, objects):
        return [await self.create(obj) for obj in objects]

    async def patch(self, obj, change, *, subresource=""):
        self.writes.append(("patch", obj["metadata"]["name"], change))
        pod = copy.deepcopy(self.pods[obj["metadata"]["uid"]])
        pod["status"].update(change["status"])
        self._set("MODIFIED", pod)
        return pod

    async def delete(self, obj):
        self.writes.append(("delete", obj["metadata"]["name"]))
        self._set("DELETED", self.pods[obj["metadata"]["uid"]])

    async def clear(self):
        for pod in list(self.pods.values()):
            self._set("DELETED", pod)
        for name in self.nodes:
            self.say(f'"Delete event for node" node="{name}"')
        self.nodes.clear()

    def pod(self, uid):
        return self.pods.get(uid)

    def seen(self, stored):
        return stored["metadata"]["uid"] in self.pods

    def changes_before(self, uid):
        index = next(
            i for i, c in enumerate(self.changes) if c.type == "ADDED" and c.object["metadata"]["uid"] == uid
        )
        earlier, self.changes = self.changes[:index], self.changes[index:]
        return tuple(
            {c.object["metadata"]["name"]: Change(c.type, trimmed(c.object)) for c in earlier}.values()
        )

    def note(self, uid):
        return self.notes.get(uid)

    def forget_changes(self):
        self.changes.clear()

    @property
    def is_empty(self):
        return not self.pods

    def _set(self, change, pod):
        uid = pod["metadata"]["uid"]
        if change == "DELETED":
            self.pods.pop(uid)
        else:
            self.pods[uid] = pod
        self.changes.append(Change(change, copy.deepcopy(pod)))

    def _schedule(self, pod):
        name, uid = pod["metadata"]["name"], pod["metadata"]["uid"]
        key = f"{pod['metadata']['namespace']}/{name}"
        if pod["spec"].get("schedulingGates"):
            self._condition(pod, "Scheduling is blocked due to non-empty scheduling gates")
            self.say(f'"Pod moved to an internal scheduling queue, because the pod is gated" pod="{key}"')
            return
        decision = self.decide(name)
        if decision is None:
            return
        self.say(f'"Attempting to schedule pod" pod="{key}"')
        if decision[0] == "bind":
            self.tap.heard(uid).feasible.append(frozenset({decision[1]}))
            self.say(f'"Plugin scored node for pod" pod="{key}" plugin="Fit" node="{decision[1]}" score=7')
            self.say(f'"Calculated node\'s final score for pod" pod="{key}" node="{decision[1]}" score=7')
            self.say(f'"Successfully bound pod to node" pod="{key}" node="{decision[1]}"')
            pod["spec"]["nodeName"] = decision[1]
            self.notes[uid] = f"Successfully assigned {key} to {decision[1]}"
            self._set("MODIFIED", pod)
            return
        if decision[0] == "fail":
            escaped = decision[1].replace('"', '\\"')
            self.say(f'"Error scheduling pod; retrying" pod="{key}" err="{escaped}"')
            self.notes[uid] = decision[1]
            self._condition(pod, decision[1])
            return
        if decision[0] == "preempt":
            self._preempt(pod, key, *decision[1:])
        self.say(f'"Unable to schedule pod; no fit; waiting" pod="{key}" err="no fit"')
        self.notes[uid] = "no fit"
        self._condition(pod, "no fit")

    def _preempt(self, pod, key, node, victims):
        doomed = [f"uid-{victim}" for victim in victims]
        self.tap.heard(pod["metadata"]["uid"]).candidates.append(
            {node: TappedCandidate(frozenset(doomed), 0)}
        )
        pod["status"]["nominatedNodeName"] = node
        for uid in doomed:
            self._set("DELETED", self.pods[uid])
        self.say(f'"Async Preemption finished completely" preemptor="{key}" node="{node}" result="success"')

    def _condition(self, pod, message):
        pod["status"]["conditions"] = [{"type": "PodScheduled", "status": "False", "message": message}]
        self._set("MODIFIED", pod)


class FakeTap:
    """Remembers what `FakeCluster` says it heard."""

    def __init__(self):
        self.pods = {}

    def heard(self, uid):
        return self.pods.setdefault(uid, Tapped())

    def forget(self, uid):
        self.pods.pop(uid, None)
