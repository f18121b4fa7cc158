"""The writes a scheduler makes to pods: bind, explain, evict, each in its lane.

A binding is never done twice and never lost: when the answer to it is missing or ambiguous, the pod itself is
asked. Follows `plugins/defaultbinder`, `util.PatchPodStatus` and `util.DeletePod`.
"""

from __future__ import annotations

from random import Random

import msgspec

from kubesched import logs
from kubesched.api.objects import Pod
from kubesched.client.backoff import Backoff
from kubesched.client.errors import ApiError, UnreachableError
from kubesched.client.lanes import Lanes
from kubesched.client.podstatus import Condition, patch
from kubesched.client.resources import PODS
from kubesched.client.rest import RestClient
from kubesched.clock import Clock

_log = logs.get(__name__)

_PATCH_ATTEMPTS = 4
# The answers after which a write may still have been applied, or may have been applied by an earlier try.
_AMBIGUOUS = frozenset({409, 500, 502, 503, 504})


class _Bound(msgspec.Struct, frozen=True, rename="camel"):
    node_name: str = ""


class _Meta(msgspec.Struct, frozen=True):
    uid: str = ""


class _BoundPod(msgspec.Struct, frozen=True):
    metadata: _Meta = _Meta()
    spec: _Bound = _Bound()


class PodWriter:
    """Writes to pods. What it raises says what is true of the pod, not how the network felt."""

    def __init__(self, client: RestClient, lanes: Lanes, clock: Clock, rng: Random) -> None:
        self._client = client
        self._lanes = lanes
        self._clock = clock
        self._rng = rng

    async def bind(self, pod: Pod, node_name: str) -> None:
        """Return once the pod is bound to the node.

        Raises ApiError or UnreachableError once it is certain that it is not. While the API server cannot be
        asked, it waits: the pod keeps its place in the meantime.
        """
        body = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": pod.name, "namespace": pod.namespace, "uid": pod.metadata.uid},
            "target": {"kind": "Node", "name": node_name},
        }
        path = f"{PODS.item(pod.name, pod.namespace)}/binding"
        try:
            await self._client.post(path, self._lanes.bind, msgspec.json.encode(body))
        except ApiError as error:
            if error.status not in _AMBIGUOUS or not await self._is_bound(pod, node_name):
                raise
        except UnreachableError as error:
            if not error.sent or not await self._is_bound(pod, node_name):
                raise

    async def patch_status(self, pod: Pod, condition: Condition | None, nominated: str | None = None) -> None:
        """Write a condition and a nomination if they differ. Raises ApiError, UnreachableError in the end.

        Retries what upstream retries (`retry.DefaultBackoff`): four attempts, 10 ms apart, then more.
        """
        body = patch(pod, condition, nominated, self._clock.wall())
        if body is None:
            return
        path = f"{PODS.item(pod.name, pod.namespace)}/status"
        backoff = Backoff(self._rng, first=0.01, most=1.25, jitter=0.1)
        for attempt in range(_PATCH_ATTEMPTS):
            try:
                await self._client.patch(path, self._lanes.status, body)
            except (ApiError, UnreachableError) as error:
                if isinstance(error, ApiError) and error.status == 422 and "metadata.uid" in error.message:
                    raise ApiError(409, "Conflict", f"pod {pod.key} was recreated") from error
                again = error.retriable if isinstance(error, ApiError) else not error.sent
                if not again or attempt + 1 == _PATCH_ATTEMPTS:
                    raise
                await self._clock.sleep(backoff.delay())
            else:
                return

    async def delete(self, pod: Pod) -> None:
        """Ask for the pod's deletion, with its own grace period. A pod that is gone is what was wanted."""
        options = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": pod.metadata.uid}}
        try:
            await self._client.delete(
                PODS.item(pod.name, pod.namespace), self._lanes.status, msgspec.json.encode(options)
            )
        except ApiError as error:
            if not error.not_found and not error.conflict:
                raise

    async def _is_bound(self, pod: Pod, node_name: str) -> bool:
        """What the stored pod says, asked until it answers (kubernetes/kubernetes#96579)."""
        backoff = Backoff(self._rng)
        while True:
            try:
                raw = await self._client.get(PODS.item(pod.name, pod.namespace), self._lanes.bind)
            except ApiError as error:
                if error.not_found:
                    return False
                reason: Exception = error
            except UnreachableError as error:
                reason = error
            else:
                stored = msgspec.json.decode(raw, type=_BoundPod)
                return stored.metadata.uid == pod.metadata.uid and stored.spec.node_name == node_name
            _log.error("Cannot learn whether the binding was applied", reason, pod=pod.key, node=node_name)
            await self._clock.sleep(backoff.delay())
