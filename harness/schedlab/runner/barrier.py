"""Proves that the scheduler under test has seen a write, without asking it.

A scheduler watches each kind in order. So the last-written node gets a mark that only a probe pod asks for:
once the scheduler has bound the probe, it has seen the mark, and with it every earlier write of a node. The
probe is a pod that is created after all other pods, so earlier pods have been seen as well. It lives in a
namespace of its own and is gone before the test goes on.
"""

from __future__ import annotations

from schedlab.api.client import MERGE, Client
from schedlab.api.objects import Object, Ref, ref_of, version_of
from schedlab.history.history import History
from schedlab.history.recorder import Recorder
from schedlab.operations.base import Met, Never, NotYet, OperationError, Outcome, Unmet
from schedlab.operations.evaluate import evaluate
from schedlab.operations.selecting import node_of, state_of

NAMESPACE = "schedlab-probe"
MARK = "schedlab/seen"


class Barrier:
    """Probes of one control plane; numbers them, so that no mark is used twice."""

    def __init__(self, client: Client, recorder: Recorder) -> None:
        self._client = client
        self._recorder = recorder
        self._number = 0

    async def prepare(self) -> None:
        """Make the namespace of the probes."""
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
        await self._client.request("POST", "/api/v1/namespaces", body=namespace)

    async def pass_(self, node: str, scheduler: str, seconds: float, *, by_resource: bool = False) -> None:
        """Return once the scheduler named `scheduler` has seen every write of nodes and assigned pods.

        The mark is a label, for which the scheduler needs its NodeAffinity plugin; where that is disabled,
        `by_resource` makes it an extended resource, for which it needs NodeResourcesFit.

        Raises:
            OperationError: the probe was not bound in time, or not where it asked for.
        """
        self._number += 1
        number = str(self._number)
        await self._mark(node, number, by_resource=by_resource)
        resource = await self._client.resource("v1", "Pod")
        pod = await self._client.request(
            "POST", resource.path(NAMESPACE), body=_probe(number, scheduler, by_resource=by_resource)
        )
        ref = ref_of(pod)
        try:
            await self._recorder.caught_up(resource, version_of(pod))
            await evaluate(self._recorder.history, lambda history: _bound(history, ref, node), seconds)
        except Unmet as error:
            raise OperationError(
                f"the scheduler has not seen node {node}: its probe {error.outcome.seen}",
                hint="is the scheduler alive, and is there room for one more pod on the node?",
            ) from error
        finally:
            body = {"gracePeriodSeconds": 0}
            await self._client.request("DELETE", resource.path(NAMESPACE, ref.name), body=body)
        await evaluate(self._recorder.history, lambda history: _gone(history, ref), seconds)

    async def _mark(self, node: str, number: str, *, by_resource: bool) -> None:
        if by_resource:
            path, patch = (
                f"/api/v1/nodes/{node}/status",
                {"status": {"capacity": {MARK: number}, "allocatable": {MARK: number}}},
            )
        else:
            path, patch = f"/api/v1/nodes/{node}", {"metadata": {"labels": {MARK: number}}}
        await self._client.request("PATCH", path, body=dict(patch), content_type=MERGE)


def _probe(number: str, scheduler: str, *, by_resource: bool) -> Object:
    container: Object = {"name": "probe", "image": "probe"}
    if by_resource:
        container["resources"] = {"requests": {MARK: number}, "limits": {MARK: number}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"probe-{number}", "namespace": NAMESPACE},
        "spec": {
            "schedulerName": scheduler,
            "terminationGracePeriodSeconds": 0,
            "nodeSelector": {} if by_resource else {MARK: number},
            "tolerations": [{"operator": "Exists"}],
            "containers": [container],
        },
    }


def _bound(history: History, ref: Ref, node: str) -> Outcome:
    expected = f"{ref} bound to {node}"
    pod = history.current.find(ref)
    if pod is None:
        return NotYet(expected, "does not exist")
    if node_of(pod) not in ("", node):
        return Never(expected, f"is {state_of(pod)}, where the mark is not")
    return Met() if node_of(pod) else NotYet(expected, f"is {state_of(pod)}")


def _gone(history: History, ref: Ref) -> Outcome:
    return Met() if history.current.find(ref) is None else NotYet(f"{ref} gone", "it exists")
