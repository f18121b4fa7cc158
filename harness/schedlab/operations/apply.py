"""`apply`: objects exist as given."""

from __future__ import annotations

from typing import ClassVar

from msgspec import field as struct_field

from schedlab.api.objects import Json
from schedlab.operations.base import Action, Env
from schedlab.operations.expect import Expect, expected
from schedlab.operations.resources import File, Resource, documents


class Apply(Action):
    """Create the objects or change them to what is given (server-side apply).

    They go to the test's namespace unless they name one, and are deleted at the end of the test. `as` binds
    the object as the API server returned it; a list of objects if there are several.

    ```yaml
    - apply: {file: trainer.yaml, as: trainer}     # $trainer.metadata.uid
    ```
    """

    tag: ClassVar[str] = "apply"

    file: File = None
    resource: Resource = None
    expect: Expect = struct_field(default_factory=list)

    async def run(self, env: Env, seconds: float) -> Json:  # noqa: ARG002 - each request has a timeout of its own
        """Apply one object after the other."""
        stored = [
            await expected(env.writer.apply, item, self.expect, env.scope)
            for item in documents(self.file, self.resource, env.scope)
        ]
        return stored[0] if len(stored) == 1 else stored
