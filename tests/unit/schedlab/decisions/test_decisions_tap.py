"""The tap hears what kube-scheduler tells an extender, and never has a say."""

from __future__ import annotations

import aiohttp
import pytest

from schedlab.decisions.tap import Tap, TappedCandidate


@pytest.fixture
async def tap():
    calls = []
    made = Tap(heard=lambda: calls.append(1))
    made.calls = calls  # type: ignore[attr-defined]
    await made.start(0)
    yield made
    await made.stop()


async def tell(tap, verb, **said):
    async with aiohttp.ClientSession() as session, session.post(f"{tap.url}/{verb}", json=said) as response:
        return response.status


POD = {"metadata": {"uid": "u1", "name": "p"}}


async def test_the_feasible_set_is_heard_and_the_answer_is_500(tap):
    assert await tell(tap, "filter", Pod=POD, Nodes=None, NodeNames=["n1", "n2"]) == 500
    assert tap.heard("u1").feasible == [frozenset({"n1", "n2"})]
    assert tap.calls == [1]


async def test_candidates_are_heard_with_victims_and_violations(tap):
    meta = {"n1": {"Pods": [{"UID": "a"}, {"UID": "b"}], "NumPDBViolations": 1}}
    said = {"Pod": POD, "NodeNameToVictims": None, "NodeNameToMetaVictims": meta}
    assert await tell(tap, "preempt", **said) == 500
    assert tap.heard("u1").candidates == [{"n1": TappedCandidate(frozenset({"a", "b"}), 1)}]


async def test_a_pod_that_was_not_mentioned_has_nothing(tap):
    assert tap.heard("other").feasible == []
    await tell(tap, "filter", Pod=POD, NodeNames=["n1"])
    tap.forget("u1")
    assert tap.heard("u1").feasible == []


async def test_the_configuration_makes_failures_harmless(tap):
    entry = tap.extender()
    assert entry["urlPrefix"] == tap.url
    assert entry["ignorable"] is True
    assert entry["nodeCacheCapable"] is True
    assert "prioritizeVerb" not in entry
    assert "bindVerb" not in entry
