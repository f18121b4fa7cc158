"""`delete`: objects are gone."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from msgspec import Meta, Struct

from schedlab.api.objects import Json, Object, Ref, ref_of
from schedlab.history.history import History
from schedlab.operations.base import Action, Env, Met, NotYet, OperationError, Outcome, TimeoutKind
from schedlab.operations.finding import candidates, title
from schedlab.operations.resources import documents
from schedlab.operations.selecting import refs
from schedlab.suite.types import Natural


class Target(Struct, forbid_unknown_fields=True, rename="camel", frozen=True, kw_only=True):
    """Objects by name or labels."""

    api_version: str
    kind: str
    name: Annotated[str | None, Meta(description="The object's name. This or `labels`.")] = None
    labels: Annotated[
        dict[str, str] | None, Meta(description="All objects that carry them. This or `name`.")
    ] = None
    namespace: Annotated[str | None, Meta(description="Where they are, instead of the test's namespace.")] = (
        None
    )


class Delete(Action):
    """Delete objects and wait until they are gone.

    Objects that do not exist are gone already. Pods end as gracefully as they ask to (30s, if they say
    nothing), unless `gracePeriodSeconds` says otherwise.

    ```yaml
    - delete: {ref: {apiVersion: v1, kind: Pod, name: filler}, gracePeriodSeconds: 0}
    - delete: {file: filler.yaml}
    ```
    """

    tag: ClassVar[str] = "delete"
    timeout_kind: ClassVar[TimeoutKind] = "delete"

    ref: Annotated[Target | None, Meta(description="Which objects. This or `file`.")] = None
    file: Annotated[str | None, Meta(description="Delete the objects of this file. This or `ref`.")] = None
    grace_period_seconds: Annotated[
        Natural | None, Meta(description="For pods: how long they may take to end.")
    ] = None
    deletion_propagation_policy: Annotated[
        Literal["Background", "Foreground", "Orphan"] | None,
        Meta(description="What becomes of the objects that these own."),
    ] = None
    wait: Annotated[
        bool, Meta(description="Wait until they are gone, not only until deletion was accepted.")
    ] = True

    async def run(self, env: Env, seconds: float) -> Json:
        """Ask for the deletion of each, then wait for all."""
        targets = self._targets(env)
        for wanted in targets:
            await env.writer.include(wanted["apiVersion"], wanted["kind"])
        doomed = [(w, item) for w in targets for item in candidates(env.history, env.scope, w)]
        for wanted, item in doomed:
            await env.writer.delete(
                ref_of(item),
                wanted["apiVersion"],
                self.grace_period_seconds,
                self.deletion_propagation_policy,
            )
        if self.wait:
            await env.until(
                lambda history: _gone(history, [ref_of(item) for _, item in doomed], targets, env), seconds
            )

    def _targets(self, env: Env) -> list[Object]:
        if (self.ref is None) == (self.file is None):
            raise OperationError("give either `ref` or `file`", hint="one of the two, not both")
        if self.ref is None:
            return [_named(item) for item in documents(self.file, None, env.scope)]
        if (self.ref.name is None) == (self.ref.labels is None):
            raise OperationError("give either `name` or `labels` in `ref`", hint="one of the two, not both")
        metadata: Object = {"name": self.ref.name, "labels": self.ref.labels, "namespace": self.ref.namespace}
        present = {key: value for key, value in metadata.items() if value is not None}
        return [{"apiVersion": self.ref.api_version, "kind": self.ref.kind, "metadata": present}]


def _named(item: Object) -> Object:
    metadata = item["metadata"]
    present = {key: metadata[key] for key in ("name", "namespace") if key in metadata}
    return {"apiVersion": item["apiVersion"], "kind": item["kind"], "metadata": present}


def _gone(history: History, doomed: list[Ref], targets: list[Object], env: Env) -> Outcome:
    uids = {ref.uid for ref in doomed}
    left = [item for w in targets for item in candidates(history, env.scope, w) if ref_of(item).uid in uids]
    what = ", ".join(title(wanted, env.scope) for wanted in targets)
    if not left:
        return Met(f"{what} gone")
    named = ", ".join(_held(item) for item in left[:5])
    return NotYet(f"{what} gone", f"{len(left)} left: {named}", objects=refs(left))


def _held(item: Object) -> str:
    """An object that is still there, and why."""
    metadata = item["metadata"]
    reasons = [f"finalizer {name}" for name in metadata.get("finalizers") or []]
    if grace := metadata.get("deletionGracePeriodSeconds"):
        reasons.append(f"grace period of {grace}s")
    return f"{ref_of(item)}" + (f" ({', '.join(reasons)})" if reasons else "")
