"""The objects of a running cluster, read once, as a scheduler that starts now would see them."""

from __future__ import annotations

import asyncio

from kubesched.api.objects import Object
from kubesched.client.errors import ApiError, UnreachableError
from kubesched.client.kubeconfig import Endpoint, load
from kubesched.client.lanes import Lanes
from kubesched.client.listing import snapshot
from kubesched.client.rest import RestClient
from kubesched.clock import SystemClock
from kubesched.explain.jsonl import InputError

_NO_LIMIT = -1.0


def read(kubeconfig: str, context: str) -> list[Object]:
    """Everything a scheduler watches, kind by kind, each in the order of the API server's list.

    Raises InputError (the cluster did not answer, or refused), KubeconfigError.
    """
    clock = SystemClock()
    endpoint = load(kubeconfig, clock, context=context)
    try:
        return asyncio.run(_snapshot(endpoint, clock))
    except (ApiError, UnreachableError) as error:
        raise InputError(f"{endpoint.server}: {error}") from error


async def _snapshot(endpoint: Endpoint, clock: SystemClock) -> list[Object]:
    client = RestClient(endpoint, clock, user_agent="kubesched-explain")
    try:
        lanes = Lanes(clock, qps=_NO_LIMIT, burst=1, lease_timeout=10.0)
        return await snapshot(client, lanes.read)
    finally:
        await client.close()
