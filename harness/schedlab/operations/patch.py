"""`patch`: an object changes in the given fields."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from msgspec import Meta
from msgspec import field as struct_field

from schedlab.api.objects import Json
from schedlab.api.patches import MERGE, STRATEGIC
from schedlab.operations.base import Action, Env, OperationError
from schedlab.operations.expect import Expect, expected
from schedlab.operations.resources import File, Resource, documents


class Patch(Action):
    """Change the fields that are given, of an object that exists.

    A `merge` patch (the default) replaces lists as a whole and removes a field that is given as null. A
    `strategic` one merges lists by their key. A change stays until the object is deleted; undo one to an
    object the test has not created in `finally` or `cleanup`. `as` binds the object as it became.

    ```yaml
    - patch:
        resource:
          apiVersion: v1
          kind: Node
          metadata: {name: "($gpu[0])"}
          spec: {taints: [{key: maintenance, effect: NoExecute}]}
    - patch:
        subresource: status
        resource:
          apiVersion: v1
          kind: Node
          metadata: {name: "($gpu[0])"}
          status: {allocatable: {cpu: "4"}}
    ```
    """

    tag: ClassVar[str] = "patch"

    file: File = None
    resource: Resource = None
    subresource: Annotated[str, Meta(description="`status`, `scale`, …: patch this part of the object.")] = ""
    type_: Annotated[Literal["merge", "strategic"], Meta(description="How lists are merged.")] = struct_field(
        default="merge", name="type"
    )

    seen: Annotated[
        bool,
        Meta(
            description="After a patch of a node: wait until the scheduler under test has seen it. A probe "
            "pod comes and goes for that, which may wake pending pods."
        ),
    ] = False

    expect: Expect = struct_field(default_factory=list)

    async def run(self, env: Env, seconds: float) -> Json:
        """Patch one object after the other."""
        content_type = MERGE if self.type_ == "merge" else STRATEGIC
        stored = [
            await expected(
                lambda item: env.writer.patch(item, content_type, self.subresource),
                item,
                self.expect,
                env.scope,
            )
            for item in documents(self.file, self.resource, env.scope)
        ]
        if self.seen:
            if stored[-1].get("kind") != "Node":
                raise OperationError("`seen` is for patches of nodes", hint="leave it out")
            await env.scheduler_has_seen(stored[-1]["metadata"]["name"], seconds)
        return stored[0] if len(stored) == 1 else stored
