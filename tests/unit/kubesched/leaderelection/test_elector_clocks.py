"""Wrong clocks, stopped processes and bad networks: never two that may write, and always one in the end."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import pytest
from election_world import Replica, ReplicaClock, Store, elapse, spec, stop_all
from hypothesis import given, settings
from hypothesis import strategies as st

from kubesched.clock import VirtualClock


class Watchman:
    """Looks at every wake-up how many may write, and how long nobody could."""

    def __init__(self, *replicas: Replica) -> None:
        self.replicas = replicas
        self.most = 0
        self.leaders: list[str] = []

    def __call__(self) -> None:
        writers = [replica.name for replica in self.replicas if replica.may_write]
        self.most = max(self.most, len(writers))
        if len(writers) == 1 and self.leaders[-1:] != writers:
            self.leaders += writers


async def started(clock: VirtualClock, *replicas: Replica) -> Watchman:
    """The first replica leads, the others wait."""
    replicas[0].start()
    await elapse(clock, 1)
    for replica in replicas[1:]:
        replica.start()
    return Watchman(*replicas)


async def killed(replica: Replica) -> None:
    """SIGKILL: nothing is released."""
    replica.client.refuses = {"get", "update", "create"}
    replica.last_words = None
    await stop_all(replica)


@pytest.mark.parametrize("offset", [-86_400.0, 3_600.0], ids=["a day behind", "an hour ahead"])
async def test_k8s_125761_wall_clocks_may_be_wrong_by_any_amount(offset: float) -> None:
    """The wall clock of one replica is off: the living leader is left alone, the dead one is succeeded."""
    clock = VirtualClock()
    store = Store(clock)
    leader = Replica(store, "leader", ReplicaClock(clock, wall_offset=offset))
    standby = Replica(store, "standby", ReplicaClock(clock, offset=1e6))
    watchman = await started(clock, leader, standby)
    await elapse(clock, 120, watchman)
    assert watchman.leaders == ["leader"]
    await killed(leader)
    await elapse(clock, 15 + 2 * 4.4, watchman)
    assert watchman.leaders == ["leader", "standby"]
    assert watchman.most == 1


async def test_wall_clock_that_jumps_while_leading_changes_nothing() -> None:
    """Deadlines are monotonic."""
    clock = VirtualClock()
    store = Store(clock)
    leader, standby = Replica(store, "leader"), Replica(store, "standby")
    watchman = await started(clock, leader, standby)
    for jump in (3_600.0, -7_200.0, 0.0):
        leader.clock._wall_offset = jump
        await elapse(clock, 30, watchman)
    assert watchman.leaders == ["leader"]
    assert watchman.most == 1


@pytest.mark.parametrize("rate", [1.45, 1 / 1.45], ids=["standby fast", "standby slow"])
async def test_rates_may_differ_by_lease_over_renew_deadline(rate: float) -> None:
    """15 / 10: up to one and a half; a leader cut off stops before a fast standby takes over."""
    clock = VirtualClock()
    store = Store(clock)
    leader, standby = Replica(store, "leader"), Replica(store, "standby", ReplicaClock(clock, rate=rate))
    watchman = await started(clock, leader, standby)
    await elapse(clock, 60, watchman)
    leader.client.hangs = True
    leader.last_words = leader.finished.wait
    await elapse(clock, 60, watchman)
    assert watchman.leaders == ["leader", "standby"]
    assert watchman.most == 1


async def test_the_watchman_can_bark() -> None:
    """At thrice the leader's rate a standby takes over too early: beyond what the settings tolerate."""
    clock = VirtualClock()
    store = Store(clock)
    leader = Replica(store, "leader", ReplicaClock(clock, rate=1 / 3))
    standby = Replica(store, "standby", ReplicaClock(clock, rate=1.0))
    watchman = await started(clock, leader, standby)
    await elapse(clock, 60, watchman)
    leader.client.hangs = True
    await elapse(clock, 60, watchman)
    assert watchman.most == 2


async def test_stopped_process_may_not_write_when_it_is_continued() -> None:
    """SIGSTOP for a minute: another leads meanwhile; the old leader knows by its clock alone."""
    clock = VirtualClock()
    store = Store(clock)
    leader, standby = Replica(store, "leader"), Replica(store, "standby")
    watchman = await started(clock, leader, standby)
    await elapse(clock, 10, watchman)
    leader.clock.running.clear()
    await elapse(clock, 60, watchman)
    assert standby.working
    assert leader.working
    assert not leader.may_write
    leader.clock.running.set()
    await elapse(clock, 0.1, watchman)
    assert leader.task.result() is False
    assert store.holder == "standby"
    assert watchman.most == 1


async def test_process_that_was_stopped_alone_goes_on() -> None:
    """Nobody took over: the next renewal makes it a leader that may write again."""
    clock = VirtualClock()
    leader = Replica(Store(clock), "leader").start()
    await elapse(clock, 10)
    leader.clock.running.clear()
    await elapse(clock, 60)
    assert not leader.may_write
    leader.client.requests.clear()
    leader.clock.running.set()
    await elapse(clock, 1)
    assert leader.client.requests == ["get", "update"]
    assert leader.may_write
    assert leader.working


@pytest.mark.parametrize("seed", range(8))
async def test_takeover_times(seed: int) -> None:
    """At most 4.4 s after a release, at most 15 + 4.4 + 4.4 s after a kill."""
    clock = VirtualClock()
    store = Store(clock)
    first, second, third = (Replica(store, name, seed=seed + n) for n, name in enumerate(["a", "b", "c"]))
    watchman = await started(clock, first, second, third)
    await elapse(clock, 7, watchman)
    first.finished.set()
    await elapse(clock, 4.4, watchman)
    assert len(watchman.leaders) == 2
    leader = next(replica for replica in (second, third) if replica.working)
    await killed(leader)
    await elapse(clock, 23.8, watchman)
    assert len(watchman.leaders) == 3
    assert watchman.most == 1


@dataclass(frozen=True)
class Fault:
    """Something that happens to one replica for a while."""

    who: int
    what: str
    seconds: float


FAULTS = st.lists(
    st.builds(
        Fault,
        who=st.integers(0, 2),
        what=st.sampled_from(["away", "read only", "hang", "lose replies", "slow", "stop", "none"]),
        seconds=st.sampled_from([1.0, 4.0, 9.0, 13.0, 25.0]),
    ),
    min_size=1,
    max_size=8,
)


def begin(fault: Fault, replica: Replica) -> None:
    client = replica.client
    match fault.what:
        case "away":
            client.refuses = {"get", "create", "update"}
        case "read only":
            client.refuses = {"create", "update"}
        case "hang":
            client.hangs = True
        case "lose replies":
            client.loses_replies = True
        case "slow":
            client.latency = 6.0
        case "stop":
            replica.clock.running.clear()


def repair(replica: Replica) -> None:
    client = replica.client
    client.refuses, client.hangs, client.loses_replies, client.latency = set(), False, False, 0.0
    replica.clock.running.set()


@given(faults=FAULTS, seed=st.integers(0, 1000))
@settings(max_examples=20, deadline=None)
async def test_never_two_writers_and_always_a_leader_in_the_end(faults: list[Fault], seed: int) -> None:
    """Any faults in any order, with clocks of different offset and rate; a replica that lost is restarted."""
    clock, rng = VirtualClock(), Random(seed)
    store = Store(clock)
    replicas = [
        Replica(store, name, ReplicaClock(clock, offset=rng.random() * 1e4, rate=rate), seed=seed + number)
        for number, (name, rate) in enumerate([("a", 1.0), ("b", 1.2), ("c", 0.85)])
    ]
    watchman = Watchman(*replicas)
    for replica in replicas:
        replica.start()
    for fault in faults:
        replica = replicas[fault.who]
        begin(fault, replica)
        await elapse(clock, fault.seconds, watchman)
        repair(replica)
        for other in replicas:
            if other.task.done():
                other.start()
    await elapse(clock, (15 + 2 * 4.4 + 10) / 0.85, watchman)
    assert watchman.most <= 1
    assert sum(replica.may_write for replica in replicas) == 1
    await stop_all(*replicas)


async def test_held_by_a_stranger_for_ever() -> None:
    """Somebody who is no replica renews the lease: nobody leads, nobody writes, nobody gives up."""
    clock = VirtualClock()
    store = Store(clock, spec("stranger"))
    replicas = [Replica(store, name).start() for name in "ab"]
    watchman = Watchman(*replicas)
    for transitions in range(30):
        store.edit(spec("stranger", transitions=transitions))
        await elapse(clock, 10, watchman)
    assert watchman.most == 0
    assert store.writes == []
    assert not any(replica.task.done() for replica in replicas)
