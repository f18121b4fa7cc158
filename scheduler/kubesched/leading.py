"""Leader election of this process: the lease on the API server, who we are, and what is said about it.

The election itself is in `leaderelection`; here it meets the client. Follows `makeLeaderElectionConfig` in
`cmd/kube-scheduler/app/options/options.go`.
"""

from __future__ import annotations

import asyncio
import socket
import uuid
from random import Random

import msgspec

from kubesched import logs
from kubesched.client import timestamps
from kubesched.client.errors import ApiError, UnreachableError
from kubesched.client.lanes import Lanes
from kubesched.client.rest import RestClient
from kubesched.clock import Clock
from kubesched.config.types import LeaderElection
from kubesched.leaderelection import (
    Callbacks,
    ConflictError,
    ElectionSettings,
    LeaderElector,
    Lease,
    LeaseError,
    LeaseLock,
    NotFoundError,
)
from kubesched.leaderelection.lease import decode, encode

_log = logs.get(__name__)

# Seconds after which a leader that does not renew counts as unhealthy (upstream's LeaderHealthzAdaptor).
_OVERDUE = 20.0


class LeaseRequests:
    """The three requests of leader election, in the lane that nothing else uses."""

    def __init__(self, client: RestClient, lanes: Lanes, namespace: str, name: str) -> None:
        self._client = client
        self._lane = lanes.lease
        self._collection = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"
        self._item = f"{self._collection}/{name}"

    async def get(self) -> Lease:
        """Read the lease. Raises NotFoundError, LeaseError."""
        return await self._ask("GET", self._item)

    async def create(self, lease: Lease) -> Lease:
        """Create the lease. Raises ConflictError, LeaseError."""
        return await self._ask("POST", self._collection, lease)

    async def update(self, lease: Lease) -> Lease:
        """Replace the lease that was read. Raises ConflictError, NotFoundError, LeaseError."""
        return await self._ask("PUT", self._item, lease)

    async def _ask(self, method: str, path: str, lease: Lease | None = None) -> Lease:
        body = None if lease is None else encode(lease)
        try:
            return decode(await self._client.request(method, path, self._lane, body=body))
        except ApiError as error:
            if error.not_found:
                raise NotFoundError(str(error)) from error
            raise (ConflictError if error.conflict else LeaseError)(str(error)) from error
        except (UnreachableError, msgspec.DecodeError) as error:
            raise LeaseError(str(error)) from error


class Leading:
    """This process's part in the election."""

    def __init__(
        self,
        settings: LeaderElection,
        client: RestClient,
        lanes: Lanes,
        *,
        clock: Clock,
        rng: Random,
        component: str,
    ) -> None:
        """`component` is the name under which events are recorded: the first profile's."""
        self._client = client
        self._lanes = lanes
        self._clock = clock
        self._component = component
        self._events: set[asyncio.Task[None]] = set()
        # Two processes on one machine must not both believe to be the holder.
        self.identity = f"{socket.gethostname()}_{uuid.uuid4()}"
        election = ElectionSettings(
            self.identity, settings.lease_duration, settings.renew_deadline, settings.retry_period
        )
        namespace, name = settings.resource_namespace, settings.resource_name
        self._lock = LeaseLock(
            LeaseRequests(client, lanes, namespace, name),
            clock,
            namespace,
            name,
            timeout=election.request_timeout,
        )
        callbacks = Callbacks(new_leader=self._say_leader, event=self._record)
        self.elector = LeaderElector(self._lock, election, clock, rng, callbacks)

    def health(self) -> str | None:
        """What is wrong with the leadership: the lease has run out and this process has not noticed."""
        return "failed election to renew leadership on lease" if self.elector.is_overdue(_OVERDUE) else None

    def _say_leader(self, identity: str) -> None:
        _log.info("New leader elected", identity=identity)

    def _record(self, text: str) -> None:
        """Write the event about the lease, in the old API as upstream does, in the background."""
        task = asyncio.create_task(self._write_event(text))
        self._events.add(task)
        task.add_done_callback(self._events.discard)

    async def _write_event(self, text: str) -> None:
        lease, now = self._lock.lease, self._clock.wall()
        stamp = timestamps.seconds(now)
        meta = lease.metadata
        body = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": f"{meta['name']}.{int(now * 1e9):x}", "namespace": meta["namespace"]},
            "involvedObject": {
                "kind": "Lease",
                "apiVersion": "coordination.k8s.io/v1",
                "namespace": meta["namespace"],
                "name": meta["name"],
                "uid": meta.get("uid", ""),
                "resourceVersion": meta.get("resourceVersion", ""),
            },
            "reason": "LeaderElection",
            "message": text,
            "type": "Normal",
            "source": {"component": self._component},
            "reportingComponent": self._component,
            "firstTimestamp": stamp,
            "lastTimestamp": stamp,
            "count": 1,
        }
        path = f"/api/v1/namespaces/{meta['namespace']}/events"
        try:
            await self._client.post(path, self._lanes.event, msgspec.json.encode(body))
        except (ApiError, UnreachableError) as error:
            _log.info("Unable to write event", v=2, err=error)
