"""The lease as an object and as a lock."""

from __future__ import annotations

import asyncio

import msgspec
import pytest
from election_world import Client, ReplicaClock, Store, elapse, spec

from kubesched.clock import VirtualClock
from kubesched.leaderelection import LeaseError, LeaseLock, LeaseSpec
from kubesched.leaderelection.lease import decode, encode

STORED = {
    "apiVersion": "coordination.k8s.io/v1",
    "kind": "Lease",
    "metadata": {
        "name": "kube-scheduler",
        "namespace": "kube-system",
        "uid": "u",
        "resourceVersion": "7",
        "labels": {"team": "x"},
        "annotations": {"note": "y"},
        "managedFields": [{"manager": "z"}],
    },
    "spec": {
        "holderIdentity": "a_1",
        "leaseDurationSeconds": 15,
        "acquireTime": "2026-01-01T00:00:00.000000Z",
        "renewTime": "2026-01-01T00:00:02.000001Z",
        "leaseTransitions": 3,
    },
}


def test_lease_survives_reading_and_writing_whole() -> None:
    """Labels, annotations and whatever else metadata holds belong to others."""
    assert msgspec.json.decode(encode(decode(msgspec.json.encode(STORED)))) == STORED


def test_lease_without_spec_is_free() -> None:
    """A lease that somebody created empty can be taken."""
    lease = decode(b'{"metadata":{"name":"x"}}')
    assert lease.spec == LeaseSpec()
    assert lease.spec.holder == ""


def a_lock(store: Store) -> tuple[LeaseLock, Client]:
    clock = ReplicaClock(store.clock)
    client = Client(store, clock)
    return LeaseLock(client, clock, "kube-system", "kube-scheduler", timeout=5.0), client


async def test_update_replaces_what_was_seen() -> None:
    """The resource version of the last read or write goes along, and the metadata stays."""
    store = Store(VirtualClock())
    store.edit(spec("a"), labels={"team": "x"})
    lock, _ = a_lock(store)
    await lock.get()
    await lock.update(spec("b"))
    await lock.update(spec("c"))
    assert store.holder == "c"
    assert store.lease.metadata["labels"] == {"team": "x"}
    assert lock.lease is store.lease


async def test_update_of_what_others_changed_is_a_conflict() -> None:
    """And leaves the lease as the others made it."""
    store = Store(VirtualClock(), spec("a"))
    lock, _ = a_lock(store)
    await lock.get()
    store.edit(spec("stranger"))
    with pytest.raises(LeaseError):
        await lock.update(spec("b"))
    assert store.holder == "stranger"


async def test_update_before_anything_was_seen_is_refused() -> None:
    """There is no version to guard it."""
    lock, client = a_lock(Store(VirtualClock(), spec("a")))
    with pytest.raises(LeaseError, match="lease not initialized"):
        await lock.update(spec("b"))
    assert client.requests == []


async def test_created_lease_has_its_name() -> None:
    """In the configured namespace."""
    store = Store(VirtualClock())
    lock, _ = a_lock(store)
    await lock.create(spec("a"))
    assert (store.lease.metadata["namespace"], store.lease.metadata["name"]) == (
        "kube-system",
        "kube-scheduler",
    )


async def test_k8s_65090_hung_server_is_noticed() -> None:
    """A request without an answer fails after the timeout, and is given up."""
    clock = VirtualClock()
    lock, client = a_lock(Store(clock, spec("a")))
    client.hangs = True
    request = asyncio.ensure_future(lock.get())
    await elapse(clock, 4.9)
    assert not request.done()
    await elapse(clock, 0.1)
    assert request.done()
    with pytest.raises(LeaseError, match="no answer within 5s"):
        await request
