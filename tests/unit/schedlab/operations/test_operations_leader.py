"""`leader` reads the lease's terms; `scheduler` moves the processes behind them."""

from __future__ import annotations

import asyncio

import msgspec
import pytest
from operations_world import SCOPE, RecordingEnv, World

from schedlab.history.leases import late_bindings, terms
from schedlab.operations.base import Met, Never, NotYet, OperationError, Outcome, Unmet
from schedlab.operations.leader import Leader
from schedlab.operations.scheduler import Scheduler

LEASE = ("kube-system", "kube-scheduler")


def two_replicas() -> World:
    """`a` has led and `b` leads."""
    world = World()
    world.process("a")
    world.process("b")
    world.lease("host_a", by="a")
    world.lease("host_a", by="a")
    world.lease("host_b", 1, by="b")
    return world


def check(world: World, **fields: object) -> Outcome:
    return msgspec.convert(fields, Leader).check(world.history, SCOPE)


def test_renewals_are_one_term() -> None:
    """A term ends where the next one begins; the last one has no end."""
    first, second = terms(two_replicas().history, *LEASE)
    assert (first.holder, first.transitions, first.until) == ("host_a", 0, second.version)
    assert first.renewed > first.began
    assert (second.holder, second.transitions, second.until) == ("host_b", 1, None)


def test_a_deleted_lease_has_no_holder() -> None:
    """Until it is made anew."""
    world = two_replicas()
    world.remove("Lease", "kube-scheduler", "kube-system")
    assert [term.holder for term in terms(world.history, *LEASE)] == ["host_a", "host_b", ""]
    assert isinstance(check(world), NotYet)
    assert isinstance(check(world, holder=""), Met)


def test_the_holder_is_bound_with_its_process() -> None:
    """The audit log knows whose credential wrote the identity."""
    outcome = check(two_replicas(), holder={"not": "host_a"}, transitions=1)
    assert isinstance(outcome, Met)
    assert outcome.value == {"holder": "host_b", "process": "b", "transitions": 1}


@pytest.mark.parametrize(
    "fields",
    [{"holder": "host_a"}, {"holder": {"not": "host_b"}}, {"transitions": 2}, {"holder": ""}],
    ids=["another holder", "the one it must not be", "another count", "a lease that is held"],
)
def test_anything_else_is_waited_for(fields: dict[str, object]) -> None:
    """And said as it is."""
    outcome = check(two_replicas(), **fields)
    assert isinstance(outcome, NotYet)
    assert outcome.seen == "held by host_b with 1 transitions, term 2"


def test_a_stranger_is_not_a_replica() -> None:
    """It leads nothing here; named, it is found."""
    world = two_replicas()
    world.lease("stranger", 2)
    assert isinstance(check(world), NotYet)
    assert isinstance(check(world, holder="stranger"), Met)


def test_without_a_lease_it_waits() -> None:
    """There may be one soon."""
    assert check(World()) == NotYet(
        "a replica holding the lease kube-system/kube-scheduler", "there is no such lease"
    )


def test_a_binding_out_of_turn_is_final() -> None:
    """The old leader's request is later than the new one's term, by the server's order."""
    world = two_replicas()
    world.pod("w", node="n-1")
    world.asked_to_bind("w", credential="by-a")
    outcome = check(world)
    assert isinstance(outcome, Never)
    assert outcome.seen == "a bound Pod ns/w while host_b held the lease"


@pytest.mark.parametrize(
    ("by", "code"), [("by-b", 201), ("by-a", 409), ("", 201)], ids=["the leader", "refused", "not a replica"]
)
def test_other_bindings_are_in_order(by: str, code: int) -> None:
    """The leader's own; a refused one; one by somebody else, such as a test."""
    world = two_replicas()
    world.pod("w", node="n-1")
    world.asked_to_bind("w", code, credential=by)
    assert late_bindings(world.history, *LEASE) == []


def test_a_binding_of_the_first_term_was_in_turn() -> None:
    """What counts is who led when the pod got its node, not who leads now."""
    world = World()
    world.process("a")
    world.lease("host_a", by="a")
    world.pod("w", node="n-1")
    world.asked_to_bind("w", credential="by-a")
    world.lease("host_b", 1)
    assert late_bindings(world.history, *LEASE) == []


def test_a_lease_is_named_with_its_namespace() -> None:
    """Anything else is said to be wrong."""
    with pytest.raises(OperationError, match="not namespace/name"):
        check(World(), lease="kube-scheduler")


async def run(env: RecordingEnv, seconds: float = 5.0, **fields: object) -> object:
    return await msgspec.convert(fields, Scheduler).run(env, seconds)


async def test_replicas_are_scaled() -> None:
    """Of the scheduler under test, or of another one."""
    env = RecordingEnv(World())
    assert await run(env, replicas=3) == ["r-0"]
    await run(env, replicas=2, program="kube-scheduler")
    assert env.done == [("scale", "3", ""), ("scale", "2", "kube-scheduler")]


async def test_an_identity_means_the_process_that_wrote_it() -> None:
    """Only identities that were seen are known."""
    env = RecordingEnv(two_replicas())
    assert await run(env, signal="KILL", identity="host_a") == "a"
    assert env.done == [("signal", "a", "SIGKILL")]
    with pytest.raises(OperationError, match="no process of this test has written the identity 'x'") as error:
        await run(env, signal="KILL", identity="x")
    assert error.value.hint == "known are host_a, host_b"


async def test_it_waits_for_the_exit_and_starts_anew() -> None:
    """In this order."""
    env = RecordingEnv(two_replicas())
    task = asyncio.create_task(run(env, signal="TERM", process="a", exits=0, restart=True))
    await asyncio.wait({task}, timeout=0.02)
    assert env.done == [("signal", "a", "SIGTERM")]
    env.world.process("a", "exited", 0)
    assert await task == "a-again"
    assert env.done[-1] == ("restart", "a")


async def test_another_exit_code_is_final() -> None:
    """A leader that was asked to end exits 0, one that lost its lease 1."""
    env = RecordingEnv(two_replicas())
    env.world.process("a", "exited", 1)
    with pytest.raises(Unmet, match="it ended with exit code 1"):
        await run(env, process="a", exits=0)


async def test_one_process_must_be_meant() -> None:
    """Neither none nor two."""
    for fields in ({}, {"process": "a", "identity": "host_a"}):
        with pytest.raises(OperationError, match="one of `process` and `identity`"):
            await run(RecordingEnv(two_replicas()), signal="KILL", **fields)
