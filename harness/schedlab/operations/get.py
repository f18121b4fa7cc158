"""`get` and `describe`: show objects in the report."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec
import yaml
from msgspec import field as struct_field

from schedlab.api.objects import Json, Object, ref_of
from schedlab.operations.base import Action, Env
from schedlab.operations.events import line
from schedlab.operations.finding import (
    ObjectLabels,
    ObjectName,
    ObjectsKind,
    ObjectsNamespace,
    ObjectsVersion,
    candidates,
    title,
)


class Get(Action, kw_only=True):
    """Print objects in the report, as YAML; for `catch`.

    ```yaml
    catch:
    - get: {apiVersion: v1, kind: Pod, name: trainer}
    ```
    """

    tag: ClassVar[str] = "get"

    api_version: ObjectsVersion
    kind: ObjectsKind
    name: ObjectName = None
    labels: ObjectLabels = struct_field(default_factory=dict)
    namespace: ObjectsNamespace = None

    async def run(self, env: Env, seconds: float) -> Json:  # noqa: ARG002 - it waits for nothing
        """Note each object."""
        await env.writer.include(self.api_version, self.kind)
        metadata: dict[str, Any] = {"name": self.name, "labels": self.labels, "namespace": self.namespace}
        present = {key: value for key, value in metadata.items() if value}
        wanted: Object = {"apiVersion": self.api_version, "kind": self.kind, "metadata": present}
        found = candidates(env.history, env.scope, wanted)
        if not found:
            env.note(f"{self.tag}: there is no {title(wanted, env.scope)}")
        for item in found:
            env.note("\n".join(self._shown(env, item)))
        return found

    def _shown(self, env: Env, item: Object) -> list[str]:  # noqa: ARG002 - `describe` asks it for events
        return [f"{ref_of(item)}:", *(f"  {text}" for text in _yaml(item))]


class Describe(Get, kw_only=True):
    """Print objects in the report, as YAML with the Events about them; for `catch`.

    ```yaml
    catch:
    - describe: {apiVersion: v1, kind: Node, labels: {pool: gpu}}
    ```
    """

    tag: ClassVar[str] = "describe"

    def _shown(self, env: Env, item: Object) -> list[str]:
        events = [line(event) for event in env.history.events(ref_of(item))]
        return [*super()._shown(env, item), "  events:", *(f"    {text}" for text in events or ["none"])]


def _yaml(item: Object) -> list[str]:
    metadata = {key: value for key, value in item["metadata"].items() if key != "managedFields"}
    plain = msgspec.to_builtins({**item, "metadata": metadata})
    return yaml.safe_dump(plain, sort_keys=False, width=110).splitlines()
