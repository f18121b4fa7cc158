"""Giving the lease back: the work first, then the lease, and only one's own."""

from __future__ import annotations

import asyncio

import pytest
from election_world import Replica, Store, elapse, settle, spec

from kubesched.clock import VirtualClock


async def a_leader() -> tuple[VirtualClock, Store, Replica]:
    clock = VirtualClock()
    store = Store(clock)
    replica = Replica(store, "me").start()
    await elapse(clock, 5)
    assert replica.working
    return clock, store, replica


async def test_finished_work_releases_the_lease() -> None:
    """Empty holder, one second, same number of transitions: the next replica need not wait."""
    clock, store, replica = await a_leader()
    replica.finished.set()
    await settle(clock)
    assert replica.task.result() is True
    assert (store.holder, store.spec.lease_duration_seconds, store.spec.lease_transitions) == ("", 1, 0)
    assert not replica.may_write
    assert replica.heard[-2:] == ["event me stopped leading", "stopped"]


async def test_nothing_is_written_while_the_lease_is_given_back() -> None:
    """The next leader may be there before the reply to the release."""
    clock, store, replica = await a_leader()
    replica.client.latency = 4.0
    replica.finished.set()
    await elapse(clock, 7)
    assert store.holder == ""
    assert not replica.task.done()
    assert not replica.may_write
    await elapse(clock, 1)
    assert replica.task.result() is True


async def test_released_lease_is_taken_within_one_poll() -> None:
    """4.4 s at most instead of a whole lease."""
    clock, store, replica = await a_leader()
    standby = Replica(store, "standby").start()
    await elapse(clock, 5)
    replica.finished.set()
    await elapse(clock, 4.4)
    assert standby.working
    assert store.spec.lease_transitions == 1


async def test_cancelled_leader_finishes_its_work_before_it_releases() -> None:
    """In-flight writes end first, under a lease that is renewed all the while."""
    clock, store, replica = await a_leader()
    seen: list[tuple[str, bool]] = []

    async def last_words() -> None:
        await replica.clock.sleep(30)
        seen.append((store.holder, replica.may_write))

    replica.last_words = last_words
    replica.task.cancel()
    await elapse(clock, 29.9)
    assert (store.holder, replica.working, replica.may_write) == ("me", True, True)
    assert {holder for _, _, holder, _ in store.writes} == {"me"}
    await elapse(clock, 0.1)
    assert seen == [("me", True)]
    assert replica.task.cancelled()
    assert store.holder == ""
    assert not replica.may_write


async def test_cancelling_twice_does_not_wait_for_the_work() -> None:
    """Then the lease is not released either: it has to run out, since the work may still write."""
    clock, store, replica = await a_leader()
    replica.last_words = replica.finished.wait
    replica.task.cancel()
    await settle(clock)
    replica.task.cancel()
    await settle(clock)
    assert replica.task.cancelled()
    assert store.holder == "me"
    assert not replica.may_write
    assert replica.heard[-1] == "stopped"
    replica.finished.set()
    await settle(clock)


async def test_lease_lost_while_finishing_is_not_released() -> None:
    """The work is told by `may_write`, and the other's lease stays the other's."""
    clock, store, replica = await a_leader()
    replica.last_words = lambda: replica.clock.sleep(30)
    replica.task.cancel()
    await elapse(clock, 5)
    store.edit(spec("stranger", transitions=1))
    await elapse(clock, 5)
    assert replica.working
    assert not replica.may_write
    await elapse(clock, 20)
    assert replica.task.cancelled()
    assert store.holder == "stranger"


async def test_failure_of_the_work_releases_and_is_passed_on() -> None:
    """A crash must not keep the others waiting."""
    clock = VirtualClock()
    store = Store(clock)
    replica = Replica(store, "me")

    async def fails() -> None:
        await replica.clock.sleep(3)
        raise RuntimeError("broken")

    task = asyncio.ensure_future(replica.elector.run(fails))
    await elapse(clock, 3)
    with pytest.raises(RuntimeError, match="broken"):
        await task
    assert store.holder == ""


async def test_failure_while_stopping_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """The cancellation goes on; the failure is not lost."""
    clock, store, replica = await a_leader()

    async def last_words() -> None:
        raise RuntimeError("broken")

    replica.last_words = last_words
    replica.task.cancel()
    await settle(clock)
    assert replica.task.cancelled()
    assert store.holder == ""
    assert any(record.kv.get("err") == "broken" for record in caplog.records if hasattr(record, "kv"))


async def test_release_reads_before_it_writes() -> None:
    """Another took the lease in the moment between: upstream would empty the new leader's lease."""
    clock, store, replica = await a_leader()
    store.edit(spec("stranger", transitions=1))
    replica.finished.set()
    await settle(clock)
    assert store.spec == spec("stranger", transitions=1)


@pytest.mark.parametrize("fault", ["get", "update", "hang"])
async def test_failing_release_does_not_hold_up_the_end(fault: str, caplog: pytest.LogCaptureFixture) -> None:
    """Ten seconds at most; the lease runs out by itself."""
    clock, store, replica = await a_leader()
    if fault == "hang":
        replica.client.hangs = True
    else:
        replica.client.refuses = {fault}
    replica.finished.set()
    await elapse(clock, 10)
    assert replica.task.result() is True
    assert store.holder == "me"
    assert "Failed to release lease" in caplog.text


async def test_leader_that_cannot_renew_still_tries_to_release() -> None:
    """Writes failed for 12 s and work again: the others need not wait for the rest of the lease."""
    clock, _, replica = await a_leader()
    replica.client.refuses = {"update"}
    await elapse(clock, 10.9)
    assert replica.working

    def repaired() -> None:
        if not replica.working:
            replica.client.refuses = set()

    await elapse(clock, 5, repaired)
    assert replica.task.result() is False


async def test_k8s_23731_stopped_is_called_once_however_it_ends() -> None:
    """After leading and without having led."""
    clock, _, replica = await a_leader()
    replica.finished.set()
    await settle(clock)
    waiting = Replica(Store(clock, spec("other")), "waiting").start()
    await elapse(clock, 1)
    waiting.task.cancel()
    await settle(clock)
    assert (replica.heard.count("stopped"), waiting.heard.count("stopped")) == (1, 1)
