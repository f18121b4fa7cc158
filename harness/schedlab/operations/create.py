"""`create`: objects are new."""

from __future__ import annotations

from typing import ClassVar

from msgspec import field as struct_field

from schedlab.api.objects import Json
from schedlab.operations.base import Action, Env
from schedlab.operations.expect import Expect, expected
from schedlab.operations.resources import File, Resource, documents


class Create(Action):
    """Create the objects; an object that exists already is a failure.

    As `apply` otherwise. `generateName` works here.

    ```yaml
    - create:
        resource:
          apiVersion: scheduling.k8s.io/v1
          kind: PriorityClass
          metadata: {name: urgent}
          value: 1000000
    - create:                                        # the API server refuses it
        file: two-gpus-of-one.yaml
        expect: [{check: {($error.contains('must be equal to')): true}}]
    ```
    """

    tag: ClassVar[str] = "create"

    file: File = None
    resource: Resource = None
    expect: Expect = struct_field(default_factory=list)

    async def run(self, env: Env, seconds: float) -> Json:  # noqa: ARG002 - each request has a timeout of its own
        """Create one object after the other."""
        stored = [
            await expected(env.writer.create, item, self.expect, env.scope)
            for item in documents(self.file, self.resource, env.scope)
        ]
        return stored[0] if len(stored) == 1 else stored
