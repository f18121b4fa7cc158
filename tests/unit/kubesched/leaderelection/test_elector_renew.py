"""Holding the lease, and every way to lose it."""

from __future__ import annotations

import pytest
from election_world import Replica, Store, elapse, settle, spec

from kubesched.clock import VirtualClock


async def a_leader(**durations: float) -> tuple[VirtualClock, Store, Replica]:
    clock = VirtualClock()
    store = Store(clock)
    replica = Replica(store, "me", **durations).start()
    await settle(clock)
    assert replica.working
    replica.client.requests.clear()
    return clock, store, replica


async def test_renewed_every_retry_period_without_reading() -> None:
    """The fast path: one update each 2 s, the term and its start unchanged."""
    clock, store, replica = await a_leader()
    acquired = store.spec.acquire_time
    await elapse(clock, 60)
    assert set(replica.client.requests) == {"update"}
    assert len(replica.client.requests) == 30
    assert (store.spec.acquire_time, store.spec.lease_transitions) == (acquired, 0)
    assert replica.may_write
    assert replica.elector.slow_paths == 0


async def test_a_conflict_is_resolved_by_reading() -> None:
    """Somebody touched a label: the same try reads the lease, finds it its own and renews it."""
    clock, store, replica = await a_leader()
    store.edit(store.spec, labels={"team": "x"})
    await elapse(clock, 2)
    assert replica.client.requests == ["update", "get", "update"]
    assert store.lease.metadata["labels"] == {"team": "x"}
    assert replica.elector.slow_paths == 1
    assert replica.working


async def test_a_leader_makes_a_deleted_lease_anew_with_its_past() -> None:
    """It goes on in its term: the transitions and the beginning are as they were."""
    clock = VirtualClock()
    store = Store(clock, spec("me", transitions=3))
    replica = Replica(store, "me").start()
    await elapse(clock, 5)
    acquired = store.spec.acquire_time
    store.edit(None)
    await elapse(clock, 2)
    assert (store.holder, store.spec.lease_transitions, store.spec.acquire_time) == ("me", 3, acquired)
    assert replica.working


async def test_who_does_not_lead_begins_a_new_past() -> None:
    """A standby that finds no lease counts no transitions, whatever it has seen before."""
    clock = VirtualClock()
    store = Store(clock, spec("other", transitions=3))
    replica = Replica(store, "me").start()
    await elapse(clock, 5)
    store.edit(None)
    await elapse(clock, 5)
    assert (store.holder, store.spec.lease_transitions) == ("me", 0)
    assert replica.working


@pytest.mark.parametrize("before", [0, 3], ids=["first term", "a later term"])
async def test_lease_emptied_by_hand_is_taken_back(before: int) -> None:
    """Nobody has led meanwhile, so the leader goes on, in a new term."""
    clock = VirtualClock()
    store = Store(clock, spec("me", transitions=before))
    replica = Replica(store, "me").start()
    await elapse(clock, 5)
    store.edit(spec("", seconds=1, transitions=before))
    await elapse(clock, 2)
    assert (store.holder, store.spec.lease_transitions) == ("me", before + 1)
    await elapse(clock, 10)
    assert replica.working


@pytest.mark.parametrize(
    "stored",
    [
        pytest.param(spec("stranger", transitions=1), id="held by a stranger"),
        pytest.param(spec("", seconds=1, transitions=2), id="held and released by somebody else meanwhile"),
    ],
)
async def test_k8s_81306_leader_that_reads_of_another_stops_at_once(stored) -> None:
    """Its work is cancelled within a retry period, and it does not touch the other's lease."""
    clock, store, replica = await a_leader()
    store.edit(stored)
    await elapse(clock, 2)
    assert replica.task.done()
    assert replica.task.result() is False
    assert not replica.working
    assert not replica.may_write
    assert store.spec == stored
    assert replica.heard[-2:] == ["event me stopped leading", "stopped"]


@pytest.mark.parametrize(
    "refused",
    [
        pytest.param({"get", "update", "create"}, id="API server away"),
        pytest.param({"update", "create"}, id="writes refused while reads work"),
    ],
)
async def test_leader_that_cannot_renew_gives_up_at_the_deadline(refused: set[str]) -> None:
    """10 s after its renewals began to fail; it must not write from 10 s after the last good one."""
    clock, _, replica = await a_leader()
    await elapse(clock, 20)
    replica.client.refuses = refused  # the renewal at 20 s was the last
    await elapse(clock, 9.75)
    assert replica.may_write
    assert replica.elector.write_until == 30
    await elapse(clock, 0.25)
    assert not replica.may_write
    assert replica.working
    await elapse(clock, 2)
    assert replica.task.done()
    assert replica.task.result() is False
    assert not replica.working


async def test_leader_tries_every_retry_period_until_the_deadline() -> None:
    """Five or six tries, then it ends; one that succeeds is enough."""
    clock, _, replica = await a_leader()
    replica.client.refuses = {"get", "update"}
    await elapse(clock, 11.9)
    assert replica.client.requests == ["update", "get"] * 5
    replica.client.refuses = set()
    await elapse(clock, 20)
    assert replica.task.done()

    clock, _, replica = await a_leader()
    replica.client.refuses = {"get", "update"}
    await elapse(clock, 9.9)
    replica.client.refuses = set()
    await elapse(clock, 2.1)
    assert replica.working
    assert replica.may_write


async def test_tries_begin_a_retry_period_apart_however_long_they_take() -> None:
    """Each try takes 1 s of the 2."""
    clock, _, replica = await a_leader()
    replica.client.refuses = {"get", "update"}
    replica.client.latency = 1.0  # a refusal comes half way
    await elapse(clock, 11.9)
    assert replica.client.requests == ["update", "get"] * 5


async def test_last_try_is_cut_short_by_the_deadline() -> None:
    """Slow failures: a try that began in time must not outlive the deadline."""
    clock, _, replica = await a_leader()
    replica.client.refuses = {"get", "update"}
    replica.client.latency = 9.0  # 4.5 s each, two requests a try
    await elapse(clock, 11.9)
    assert replica.client.requests == ["update", "get", "update"]
    assert replica.working
    await elapse(clock, 0.2)
    assert not replica.working


async def test_k8s_65090_leader_on_a_hung_server_gives_up() -> None:
    """Requests that never end count as failures; the deadline cuts the last one short."""
    clock, _, replica = await a_leader()
    replica.client.hangs = True
    await elapse(clock, 11.9)
    assert replica.working
    assert not replica.may_write
    await elapse(clock, 0.2)
    assert not replica.working


async def test_slow_server_is_no_reason_to_lose() -> None:
    """Renewals of 4 s each: writing is allowed throughout, counted from when each was sent."""
    clock, store, replica = await a_leader()
    replica.client.latency = 4.0
    allowed: list[bool] = []
    await elapse(clock, 60, lambda: allowed.append(replica.may_write))
    assert all(allowed)
    assert replica.working
    assert [time for time, *_ in store.writes][2:] == list(range(4, 60, 6))


async def test_time_to_write_counts_from_before_the_request() -> None:
    """Others may have seen the renewal as soon as it was sent, not when its reply arrived."""
    clock, _, replica = await a_leader()
    replica.client.latency = 4.0
    await elapse(clock, 6)  # sent at 2, answered at 6
    assert replica.elector.write_until == 12


async def test_lost_replies_are_survived() -> None:
    """The write was applied, its answer never came: reading shows that the lease is ours."""
    clock, store, replica = await a_leader()
    replica.client.loses_replies = True
    await elapse(clock, 4)
    writes = len(store.writes)
    assert writes > 1
    replica.client.loses_replies = False
    await elapse(clock, 8)
    assert replica.working
    assert replica.may_write
    assert len(store.writes) > writes


async def test_defect_in_a_request_is_not_taken_for_a_lost_lease() -> None:
    """Only LeaseError is an answer; anything else ends the work and is passed on."""
    clock, _, replica = await a_leader()

    async def defect(_lease) -> None:
        raise RuntimeError("a defect")

    replica.client.update = defect
    await elapse(clock, 2)
    assert not replica.working
    with pytest.raises(RuntimeError, match="a defect"):
        await replica.task


async def test_overdue_leader_is_seen_by_the_watchdog() -> None:
    """client-go's HealthzAdaptor: a leader that should have died 20 s ago; a standby is never overdue."""
    clock, store, replica = await a_leader()
    standby = Replica(store, "standby").start()
    replica.last_words = replica.finished.wait  # work that does not end when told to
    replica.client.refuses = {"get", "update"}
    standby.client.refuses = {"update"}
    await elapse(clock, 34.9)
    assert not replica.elector.is_overdue(20.0)
    await elapse(clock, 0.2)
    assert replica.elector.is_overdue(20.0)
    await elapse(clock, 100)
    assert not standby.elector.is_overdue(20.0)
