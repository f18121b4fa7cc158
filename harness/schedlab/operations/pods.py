"""`pods`: many pods from one template."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from schedlab.api.objects import Json, Object
from schedlab.history.history import History
from schedlab.operations.base import Action, Env, Met, Never, NotYet, OperationError, Outcome
from schedlab.operations.resources import File, Resource, one
from schedlab.operations.selecting import condition, name_of, node_of, refs, state_of
from schedlab.suite.types import Positive


class Pods(Action):
    """Create pods from a template, one after the other.

    Their names are the template's `metadata.name` with `-0`, `-1`, … (the name itself without `count`). In
    the template `($index)` is the pod's number. `as` binds the list of names. With `node` they are created as
    bound to that node, past the scheduler, and the scheduler has seen them when the operation ends: how a
    test fills nodes.

    ```yaml
    - pods: {count: 7, file: worker.yaml}
    - pods: {count: 3, file: filler.yaml, node: "($gpu[0])"}
    - pods: {count: 2, file: worker.yaml, until: pending, as: waiting}
    ```
    """

    tag: ClassVar[str] = "pods"
    judges: ClassVar[bool] = True

    file: File = None
    resource: Resource = None
    count: Annotated[Positive | None, Meta(description="How many; without it one, under its own name.")] = (
        None
    )
    name: Annotated[
        str | None, Meta(description="What the names begin with, instead of the template's name.")
    ] = None
    node: Annotated[str | None, Meta(description="Create them bound to this node.")] = None
    until: Annotated[
        Literal["created", "bound", "pending"],
        Meta(description="Wait until the scheduler has bound them all, or has found no node for each."),
    ] = "created"

    async def run(self, env: Env, seconds: float) -> Json:
        """Create the pods, then wait as asked."""
        names = [name_of(await env.writer.create(self._pod(env, index))) for index in range(self.count or 1)]
        if self.node is not None:
            await env.scheduler_has_seen(self.node, seconds)
        if self.until != "created":
            await env.until(lambda history: self._reached(history, env.scope.namespace, names), seconds)
        return names

    def _pod(self, env: Env, index: int) -> Object:
        template = one(self.file, self.resource, env.scope, index=index)
        if template.get("kind") != "Pod":
            raise OperationError(f"the template is a {template.get('kind')}, not a Pod")
        name = self.name or template["metadata"].get("name")
        if name is None:
            raise OperationError(
                "the pods have no name", hint="give the template a metadata.name, or say `name`"
            )
        own = f"{name}-{index}" if self.count is not None else name
        spec = dict(template.get("spec") or {})
        if self.node is not None:
            spec["nodeName"] = self.node
        return {**template, "metadata": {**template["metadata"], "name": own}, "spec": spec}

    def _reached(self, history: History, namespace: str, names: list[str]) -> Outcome:
        expected = f"{len(names)} pods {self.until}"
        for name in names:
            pod = history.current.get("Pod", name, namespace)
            if pod is None:
                return NotYet(expected, f"{name} does not exist")
            stated = condition(pod, "PodScheduled") or {}
            if self.until == "pending" and node_of(pod):
                return Never(expected, f"{name} is {state_of(pod)}", history.since(pod), refs([pod]))
            if not node_of(pod) and (self.until == "bound" or stated.get("status") != "False"):
                return NotYet(expected, f"{name} is {state_of(pod)}", history.since(pod), refs([pod]))
        return Met(expected)
