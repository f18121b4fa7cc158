"""`evict` asks the server, and fails the test unless the answers are as expected."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from operations_world import RecordingEnv, World

from schedlab.api.errors import ApiError
from schedlab.api.objects import Object, Ref
from schedlab.operations.base import OperationError, Unmet
from schedlab.operations.evict import Evict

NO_ROOM = ApiError(
    "POST eviction",
    429,
    "TooManyRequests",
    "Cannot evict pod as it would violate the pod's disruption budget.",
    {"causes": [{"reason": "DisruptionBudget", "message": "needs 2"}], "retryAfterSeconds": 10},
)


class Server(RecordingEnv):
    """Pods a and b of an app; allows so many evictions."""

    def __init__(self, allowed: int) -> None:
        super().__init__(World())
        for name in ("a", "b"):
            self.world.pod(name, "n1", labels={"app": "web"})
        self.allowed = allowed
        self.asked: list[tuple[Ref, Object, bool]] = []

    async def evict(self, ref: Ref, eviction: Object, *, dry_run: bool = False) -> None:
        self.asked.append((ref, eviction, dry_run))
        if len(self.asked) > self.allowed:
            raise NO_ROOM


async def run(server: Server, **fields: object) -> Any:
    return await msgspec.convert(fields, Evict).run(server, 5.0)


async def test_an_eviction_names_the_pod_and_its_version() -> None:
    """As a client of the API would write it; what is not asked for is left out."""
    server = Server(1)
    assert await run(server, pod="a") == [{"pod": "a", "status": 201}]
    ref, eviction, dry_run = server.asked[0]
    assert (ref.name, ref.namespace, dry_run) == ("a", "ns", False)
    assert eviction == {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": "a", "namespace": "ns"},
    }


async def test_options_go_with_it() -> None:
    """Grace period, preconditions, dry run, an older version."""
    server = Server(1)
    options = {"gracePeriodSeconds": 0, "preconditions": {"uid": "u"}}
    await run(server, pod="a", dryRun=True, apiVersion="policy/v1beta1", **options)
    _, eviction, dry_run = server.asked[0]
    assert dry_run
    assert eviction["apiVersion"] == "policy/v1beta1"
    assert eviction["deleteOptions"] == options


async def test_a_refusal_that_was_not_expected_fails() -> None:
    """With the server's words; it is a verdict, not a mishap."""
    with pytest.raises(Unmet, match="1 of 1 evictions allowed; seen: a: POST eviction: Cannot evict"):
        await run(Server(0), pod="a")


async def test_an_eviction_that_should_be_refused_fails() -> None:
    """Being allowed is as wrong as being refused."""
    with pytest.raises(Unmet, match="0 of 1 evictions allowed; seen: a: 201"):
        await run(Server(1), pod="a", refusal={"status": 429})


async def test_as_many_are_allowed_as_expected() -> None:
    """However many are asked for at once."""
    fields = {"selector": {"app": "web"}, "parallel": 2, "refusal": {"status": 429}}
    assert [answer["status"] for answer in await run(Server(1), **fields, allowed=1)] == [201, 429]
    with pytest.raises(Unmet, match="1 of 2 evictions allowed"):
        await run(Server(2), **fields, allowed=1)


@pytest.mark.parametrize(
    ("refusal", "wrong"),
    [
        ({"status": 429, "reason": "TooManyRequests", "cause": "needs 2", "retryAfterSeconds": 10}, ""),
        ({"message": NO_ROOM.text}, ""),
        ({"status": 500}, "status 429, not 500"),
        ({"reason": "Conflict"}, "reason 'TooManyRequests', not 'Conflict'"),
        ({"message": "no"}, "not 'no'"),
        ({"cause": "needs 3"}, "causes ['needs 2'], not 'needs 3'"),
        ({"retryAfterSeconds": 0}, "retryAfterSeconds 10, not 0"),
    ],
)
async def test_a_refusal_is_compared(refusal: dict[str, object], wrong: str) -> None:
    """Field by field; what is not given may be anything."""
    if not wrong:
        await run(Server(0), pod="a", refusal=refusal)
        return
    with pytest.raises(Unmet) as error:
        await run(Server(0), pod="a", refusal=refusal)
    assert wrong in error.value.outcome.seen


async def test_a_pod_that_is_named_need_not_exist() -> None:
    """The server says what it thinks of that."""
    server = Server(1)
    await run(server, pod="gone")
    assert server.asked[0][0].name == "gone"


async def test_labels_have_to_find_a_pod() -> None:
    """An eviction of nobody would always be as expected."""
    with pytest.raises(Unmet, match="there is none"):
        await run(Server(1), selector={"app": "db"})


async def test_whom_to_evict_is_said_in_one_way() -> None:
    """By name or by labels."""
    with pytest.raises(OperationError, match="either `pod` or `selector`"):
        await run(Server(1))
