"""Waiting for the lease and taking it (facts from client-go's leaderelection_test.go, 1.36)."""

from __future__ import annotations

from itertools import pairwise

import pytest
from election_world import Replica, ReplicaClock, Store, elapse, settle, spec, stop_all

from kubesched.clock import VirtualClock
from kubesched.leaderelection import LeaseSpec

TAKEOVER = 15 + 2 * (2 + 1.2 * 2)
"""Lease, plus two jittered polls: when it is first seen, and when it is first seen expired."""


async def leads_within(replica: Replica, seconds: float) -> bool:
    """Whether the replica leads after that much time, looking at every wake-up."""
    found: list[bool] = []
    await elapse(replica.client._store.clock, seconds, lambda: found.append(replica.working))
    return any(found) or replica.working


@pytest.mark.parametrize(
    ("stored", "transitions"),
    [
        pytest.param(None, 0, id="no lease yet: it is created"),
        pytest.param(LeaseSpec(), 1, id="an empty lease"),
        pytest.param(spec("", seconds=1, transitions=4), 5, id="a released lease"),
        pytest.param(spec("other", seconds=None), 1, id="a lease that gives no duration"),
        pytest.param(spec("me", transitions=4), 4, id="our own lease from before: the term goes on"),
    ],
)
async def test_free_lease_is_taken_at_once(stored: LeaseSpec | None, transitions: int) -> None:
    """Without waiting, and with the count of transitions that follows."""
    clock = VirtualClock()
    store = Store(clock, stored)
    replica = Replica(store, "me").start()
    await settle(clock)
    assert (store.holder, store.spec.lease_transitions) == ("me", transitions)
    assert store.spec.lease_duration_seconds == 15
    assert replica.working
    assert replica.may_write


async def test_held_lease_is_left_alone_while_it_is_renewed() -> None:
    """However long, and whatever its times say."""
    clock = VirtualClock()
    store = Store(clock, spec("other"))
    replica = Replica(store, "me").start()
    for transitions in range(20):
        store.edit(spec("other", transitions=transitions))
        await elapse(clock, 10)
    assert store.holder == "other"
    assert not replica.working
    assert not replica.may_write
    assert replica.heard == ["leader other"]


@pytest.mark.parametrize("seed", range(10))
async def test_silent_leader_is_succeeded_after_the_lease(seed: int) -> None:
    """Never before the whole duration was seen to pass, and within two polls after it."""
    clock = VirtualClock()
    store = Store(clock, spec("dead", transitions=2))
    replica = Replica(store, "me", seed=seed).start()
    await elapse(clock, 15)
    assert store.holder == "dead"
    assert await leads_within(replica, TAKEOVER - 15)
    assert store.spec.lease_transitions == 3
    assert replica.heard[:2] == ["leader dead", "leader me"]


async def test_duration_is_the_one_in_the_lease() -> None:
    """A leader with longer settings is given its time."""
    clock = VirtualClock()
    store = Store(clock, spec("other", seconds=60))
    replica = Replica(store, "me").start()
    await elapse(clock, 60)
    assert store.holder == "other"
    assert await leads_within(replica, 4.4)


@pytest.mark.parametrize("seed", range(5))
async def test_polls_are_jittered(seed: int) -> None:
    """2 to 4.4 s apart, so that replicas do not ask all at once."""
    clock = VirtualClock()
    replica = Replica(store := Store(clock, spec("other", seconds=1000)), "me", seed=seed)
    times: list[float] = []
    get = store.get
    store.get = lambda: (times.append(clock.now()), get())[1]
    replica.start()
    await elapse(clock, 100)
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert all(2 <= gap <= 4.4 for gap in gaps)
    assert max(gaps) - min(gaps) > 1


async def test_two_replicas_one_leader() -> None:
    """Both find a free lease in the same moment: the resource version decides."""
    clock = VirtualClock()
    for stored in (None, spec("", seconds=1)):
        store = Store(clock, stored)
        replicas = [Replica(store, name, seed=seed).start() for seed, name in enumerate("ab")]
        for replica in replicas:
            replica.client.latency = 0.1
        await elapse(clock, 1)
        assert sorted(replica.working for replica in replicas) == [False, True]
        leader = next(replica for replica in replicas if replica.working)
        assert store.holder == leader.name
        await stop_all(*replicas)


@pytest.mark.parametrize("verb", ["get", "update"])
async def test_failing_requests_are_tried_again(verb: str) -> None:
    """An API server that is away delays the election and does not end it."""
    clock = VirtualClock()
    store = Store(clock, spec("", seconds=1))
    replica = Replica(store, "me").start()
    replica.client.refuses = {verb}
    await elapse(clock, 60)
    assert store.holder == ""
    assert not replica.working
    replica.client.refuses = set()
    assert await leads_within(replica, 4.4)


async def test_failing_creation_is_tried_again() -> None:
    """No lease exists and none can be made, for a while."""
    clock = VirtualClock()
    store = Store(clock)
    replica = Replica(store, "me").start()
    replica.client.refuses = {"create"}
    await elapse(clock, 60)
    assert store.lease is None
    replica.client.refuses = set()
    assert await leads_within(replica, 4.4)


async def test_hung_requests_are_given_up() -> None:
    """A server that never answers is asked again, every 5 s and a poll."""
    clock = VirtualClock()
    replica = Replica(Store(clock), "me").start()
    replica.client.hangs = True
    await elapse(clock, 100)
    assert 100 / (5 + 4.4) - 1 <= len(replica.client.requests) <= 100 / (5 + 2) + 1


async def test_who_hears_of_what() -> None:
    """Observed leaders in order, then the start, with the event for the lease."""
    clock = VirtualClock()
    store = Store(clock, spec("first"))
    replica = Replica(store, "me").start()
    await elapse(clock, 5)
    store.edit(spec("second"))
    await elapse(clock, 5)
    store.edit(spec("", seconds=1))
    await elapse(clock, 5)
    assert replica.heard == [
        "leader first",
        "leader second",
        "leader me",
        "event me became leader",
        "started",
    ]
    assert replica.elector.leader == "me"


async def test_stopped_while_waiting() -> None:
    """A standby that is told to go touches nothing, and is told that it has stopped."""
    clock = VirtualClock()
    store = Store(clock, spec("other"))
    replica = Replica(store, "me").start()
    await elapse(clock, 5)
    replica.task.cancel()
    await settle(clock)
    assert replica.task.cancelled()
    assert replica.heard == ["leader other", "stopped"]
    assert store.writes == []


async def test_times_in_the_lease_are_this_replicas_wall_clock() -> None:
    """In microseconds, for people: kubectl shows them."""
    clock = VirtualClock(epoch=1_700_000_000.25)
    store = Store(clock)
    Replica(store, "me", ReplicaClock(clock, wall_offset=3600)).start()
    await settle(clock)
    assert store.spec.acquire_time == "2023-11-14T23:13:20.250000Z"
    await elapse(clock, 2.5)
    assert store.spec.acquire_time == "2023-11-14T23:13:20.250000Z"
    assert store.spec.renew_time == "2023-11-14T23:13:22.250000Z"
