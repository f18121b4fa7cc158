"""Real bugs of the reference's preemption, by their numbers in kubernetes/kubernetes."""

from __future__ import annotations

import asyncio
import json

from tests.unit.kubesched.live import Live, running
from tests.unit.kubesched.preemption.preemption_world import budget, candidates

from kubesched.client.errors import ApiError
from kubesched.client.podstatus import patch, preempted
from kubesched.queue import Place
from kubesched.testing.builders import node, pod

HIGH = pod("high").cpu(2).with_priority(10)


class Asked:
    """A preemption whose only victim is being asked to leave, until `answer`."""

    def __init__(self, it: Live) -> None:
        self.it = it
        self.deletions = 0
        self._go = asyncio.Event()
        self._error: Exception | None = None
        it.api.delete = self._delete  # type: ignore[method-assign]

    async def _delete(self, _victim) -> None:
        self.deletions += 1
        await self._go.wait()
        if self._error is not None:
            raise self._error

    async def begin(self) -> None:
        """Put the scene, and let the scheduler ask the victim."""
        self.it.put(node("n").cpu(2), pod("victim").cpu(2).on("n"), HIGH)
        await self.it.settle()
        assert self.deletions == 1

    async def answer(self, error: Exception | None = None) -> None:
        """Let the API answer."""
        self._error = error
        self._go.set()
        await self.it.settle()


async def test_k8s_141694_a_preemptor_does_not_wait_for_an_event_that_came_too_early() -> None:
    """The victim was gone already; held back meanwhile, the preemptor slept until the five-minute flush."""
    async with running() as it:
        asked = Asked(it)
        await asked.begin()
        it.core.queue.activate([HIGH])
        assert it.core.queue.where(HIGH.uid) is Place.GATED
        await asked.answer(ApiError(404, "NotFound", "pods victim not found"))
        assert it.core.queue.where(HIGH.uid) is not Place.GATED
        it.gone(pod("victim").cpu(2).on("n"))
        await it.settle()
        await it.pass_time(2)
        assert it.api.bound == [("high", "n")]


async def test_k8s_134249_one_preemption_at_a_time_for_one_pod() -> None:
    """Each event started another preemption: dozens of deletions for one pod."""
    async with running() as it:
        asked = Asked(it)
        await asked.begin()
        for turn in range(5):
            it.put(node(f"small{turn}").cpu(1), pod("other").cpu(1).on(f"small{turn}"))
            it.core.queue.activate([HIGH])
            await it.pass_time(20)
        assert asked.deletions == 1


def test_k8s_126644_a_victim_is_told_of_its_eviction_and_nothing_else() -> None:
    """The patch carried a QoS class worked out anew; where that differed the API refused it, every time."""
    body = json.loads(patch(pod("victim").on("n"), preempted("default-scheduler"), None, 0.0) or b"")
    assert body.keys() == {"metadata", "status"}
    assert body["metadata"].keys() == {"uid"}
    assert body["status"].keys() == {"conditions"}
    assert [condition["type"] for condition in body["status"]["conditions"]] == ["DisruptionTarget"]


def running_on(where: str, name: str, priority: int, cpu: int = 2, **labels: str):
    made = pod(name).cpu(cpu).with_priority(priority).on(where)
    for key, value in labels.items():
        made = made.label(key, value)
    return made


def test_k8s_128307_the_most_important_victim_decides_whoever_has_a_budget() -> None:
    """Victims with a budget stood first, and one of low priority hid a more important one behind it."""
    both = [running_on("n", "budgeted", 1, app="x"), running_on("n", "important", 9)]
    plain = [running_on("m", "c", 5, app="x"), running_on("m", "d", 5)]
    found = candidates(
        pod("p").cpu(4).with_priority(10),
        node("n").cpu(4),
        node("m").cpu(4),
        *both,
        *plain,
        budget(0, app="x"),
    )
    assert found == ({"n": ["important", "budgeted"], "m": ["c", "d"]}, ["m"])


def test_k8s_91492_a_disruption_that_is_under_way_is_not_counted_again() -> None:
    """A pod in the budget's disruptedPods was counted as one more violation, and another one went."""
    pods = [
        running_on("n", "leaving", 1, app="x").started("2026-01-01T00:02:00Z"),
        running_on("n", "staying", 1).started("2026-01-01T00:01:00Z"),
    ]
    incoming = pod("p").cpu(2).with_priority(10)
    found = candidates(incoming, node("n").cpu(4), *pods, budget(0, disrupted=["leaving"], app="x"))
    assert found == ({"n": ["leaving"]}, ["n"])


def test_k8s_70622_nobody_goes_who_could_have_stayed() -> None:
    """All pods of lower priority were evicted where one would have been enough."""
    pods = [running_on("n", f"v{number}", number, cpu=1) for number in range(4)]
    found = candidates(pod("p").cpu(2).with_priority(10), node("n").cpu(4), *pods)
    assert found == ({"n": ["v1", "v0"]}, ["n"])
