"""`fault` begins one thing that goes wrong, or ends it."""

from __future__ import annotations

import msgspec
import pytest
from operations_world import RecordingEnv, World

from schedlab.faults.rules import Effect, Stream
from schedlab.operations.base import OperationError
from schedlab.operations.fault import FaultOperation


async def run(env: RecordingEnv, **fields: object) -> object:
    return await msgspec.convert(fields, FaultOperation).run(env, 1.0)


async def test_a_fault_begins_as_it_is_described() -> None:
    """Its name is bound, for ending it."""
    env = RecordingEnv(World())
    fields = {"verbs": ["update"], "resources": ["leases"], "processes": ["p"], "skip": 2, "times": 3}
    fields |= {"chance": 0.5, "seed": 7}
    assert await run(env, answer=429, retryAfter=1, delay="1500ms", **fields) == "fault-1"
    (fault,) = env.begun
    assert fault.effect == Effect(delay=1.5, answer=429, retry_after=1)
    assert (fault.verbs, fault.resources, fault.processes) == (["update"], ["leases"], ["p"])
    assert (fault.skip, fault.times, fault.chance, fault.seed) == (2, 3, 0.5, 7)


async def test_events_of_watches_are_befallen_on_request() -> None:
    """One thing happens to them, as to requests; holding them back is `stall`."""
    env = RecordingEnv(World())
    await run(env, stream={"error": 410})
    assert env.begun[0].effect == Effect(stream=Stream(error=410))
    for wrong in (
        {"stream": {}},
        {"stream": {"tear": True, "slice": 1}},
        {"stream": {"tear": True}, "delay": "1s"},
    ):
        with pytest.raises(OperationError):
            await run(env, **wrong)


async def test_one_is_ended_or_all() -> None:
    """By name, or with `clear`."""
    env = RecordingEnv(World())
    await run(env, end="fault-1")
    await run(env, clear=True)
    assert env.done == [("end", "fault-1"), ("end", "all")]


@pytest.mark.parametrize(
    "fields",
    [{}, {"cut": True, "hang": True}, {"answer": 500, "lose": True}, {"cut": True, "stream": {"tear": True}}],
    ids=["nothing", "two", "two others", "a request and its events"],
)
async def test_one_thing_goes_wrong_at_a_time(fields: dict[str, object]) -> None:
    """Neither none nor two."""
    with pytest.raises(OperationError, match="give one of"):
        await run(RecordingEnv(World()), **fields)


def test_a_status_is_a_refusal() -> None:
    """200 is no fault."""
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"answer": 200}, FaultOperation)
