"""Victims leave, each in the gentlest way that works."""

from __future__ import annotations

import pytest
from tests.unit.kubesched.live import FakeApi, Live

from kubesched.client.errors import ApiError, UnreachableError
from kubesched.eviction import Evicted, Evictions
from kubesched.testing.builders import pod

PREEMPTOR = pod("high").with_priority(10)


async def evict(*victims, api: FakeApi | None = None, framework=None):
    api, put = api or FakeApi(), []
    framework = framework or Live().core.profiles["default-scheduler"]
    await Evictions(api, api).run(PREEMPTOR, victims, framework, put.append, node="n")
    return api, put


async def test_a_victim_is_marked_then_deleted_and_told_why():
    api, put = await evict(pod("low").on("n"))
    message = "default-scheduler: preempting to accommodate a higher priority pod"
    assert api.patched == [("low", "PreemptionByScheduler", message, None)]
    assert api.evicted == ["low"]
    assert api.events == [("low", "Preempted", f"Preempted by pod {PREEMPTOR.uid} on node n")]
    assert put == [Evicted(PREEMPTOR)]


async def test_a_victim_that_is_leaving_anyway_is_left_alone():
    api, put = await evict(pod("low").on("n").terminating())
    assert (api.patched, api.evicted, api.events) == ([], [], [])
    assert put == [Evicted(PREEMPTOR)]


@pytest.mark.parametrize("refusal", ["patch low", "delete low"])
async def test_a_victim_that_is_gone_is_what_was_wanted(refusal):
    api, put = await evict(
        pod("low").on("n"), api=FakeApi(refuse={refusal: ApiError(404, "NotFound", "gone")})
    )
    assert api.events == []
    assert put == [Evicted(PREEMPTOR)]


@pytest.mark.parametrize("failure", [ApiError(500, "InternalError", "x"), UnreachableError("y", sent=True)])
async def test_a_victim_that_cannot_be_asked_lets_the_preemptor_try_again(failure):
    api = FakeApi(refuse={"delete low": failure})
    api, put = await evict(pod("low").on("n"), pod("low2").on("n"), api=api)
    assert api.evicted == ["low2"], "the others are asked all the same"
    assert put == [Evicted(PREEMPTOR, failed=True)]


async def test_a_victim_on_its_way_is_called_back_without_a_request():
    framework = Live().core.profiles["default-scheduler"]
    framework.prebinding_pods.add(pod("low").uid, lambda _: None)
    api, _ = await evict(pod("low"), framework=framework)
    assert (api.patched, api.evicted) == ([], [])
    note = f"Preempted by pod {PREEMPTOR.uid} on node n (in kube-scheduler memory)."
    assert api.events == [("low", "Preempted", note)]


async def test_a_victim_whose_binding_was_too_far_is_deleted():
    framework = Live().core.profiles["default-scheduler"]
    framework.prebinding_pods.add(pod("low").uid, lambda _: None).finish()
    api, _ = await evict(pod("low"), framework=framework)
    assert api.evicted == ["low"]
