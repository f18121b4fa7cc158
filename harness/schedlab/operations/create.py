"""`create`: objects are new."""

from __future__ import annotations

from typing import ClassVar

from schedlab.api.objects import Json
from schedlab.operations.base import Action, Env
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
    ```
    """

    tag: ClassVar[str] = "create"

    file: File = None
    resource: Resource = None

    async def run(self, env: Env, seconds: float) -> Json:  # noqa: ARG002 - each request has a timeout of its own
        """Create one object after the other."""
        stored = [await env.writer.create(item) for item in documents(self.file, self.resource, env.scope)]
        return stored[0] if len(stored) == 1 else stored
