"""The log of events for pods in flight: nothing an attempt needs is lost, nothing else is kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queue_world import a_pod

from kubesched.queue.entry import Entry
from kubesched.queue.in_flight import InFlight
from kubesched.state.events import ActionType, ClusterEvent, Resource

EVENTS = [ClusterEvent(Resource.Node, ActionType.Add, label=str(number)) for number in range(100)]


def an_entry(name: str) -> Entry:
    return Entry(f"uid-{name}", a_pod(name), 0.0, 0)


def test_events_are_kept_only_while_an_attempt_is_open() -> None:
    """Before the first pop and after the last return the log is empty."""
    flights = InFlight()
    flights.record(EVENTS[0])
    assert flights.event_count == 0
    flights.start(an_entry("a"))
    flights.record(EVENTS[1])
    assert flights.events_since_start("uid-a") == [EVENTS[1]]
    flights.land("uid-a")
    assert (flights.event_count, len(flights)) == (0, 0)


def test_an_intermediate_pod_lands_and_the_others_keep_their_events() -> None:
    """Upstream's case: pods 1, 2, 3 are popped between events, and 2 returns."""
    flights = InFlight()
    for name, event in zip("abc", EVENTS, strict=False):
        flights.start(an_entry(name))
        flights.record(event)
    flights.land("uid-b")
    assert flights.events_since_start("uid-a") == EVENTS[:3]
    assert flights.events_since_start("uid-c") == [EVENTS[2]]
    assert flights.event_count == 3


def test_when_the_oldest_lands_its_own_events_go() -> None:
    """Events before the next open attempt are of no use to anybody."""
    flights = InFlight()
    for name, event in zip("ab", EVENTS, strict=False):
        flights.start(an_entry(name))
        flights.record(event)
    flights.land("uid-a")
    assert flights.events_since_start("uid-b") == [EVENTS[1]]
    assert flights.event_count == 1


def test_a_closed_attempt_keeps_no_events_but_the_pod_is_still_known() -> None:
    """During a slow binding the log must not grow."""
    flights = InFlight()
    flights.start(an_entry("a"))
    flights.record(EVENTS[0])
    flights.close("uid-a")
    flights.record(EVENTS[1])
    assert flights.event_count == 0
    assert flights.events_since_start("uid-a") is None
    assert flights.get("uid-a") is not None
    assert not flights.is_open("uid-a")


@pytest.mark.parametrize("unknown", ["land", "close"])
def test_an_unknown_pod_is_nothing(unknown: str) -> None:
    """Landing twice, or never having started, is harmless."""
    assert getattr(InFlight(), unknown)("uid-x") is None


@given(
    st.lists(st.tuples(st.sampled_from(["start", "event", "close", "land"]), st.integers(0, 4)), max_size=80)
)
def test_log_is_exactly_what_open_attempts_need(steps) -> None:
    """Against a naive model in which every attempt has a list of its own."""
    flights, model, number = InFlight(), {}, 0
    for step, which in steps:
        uid = f"uid-{which}"
        if step == "start" and flights.get(uid) is None:
            flights.start(an_entry(str(which)))
            model[uid] = []
        elif step == "event":
            event = ClusterEvent(Resource.Node, ActionType.Add, label=str(number := number + 1))
            flights.record(event)
            for events in model.values():
                events.append(event)
        elif step == "close":
            flights.close(uid)
            model.pop(uid, None)
        elif step == "land":
            flights.land(uid)
            model.pop(uid, None)
        for known in range(5):
            assert flights.events_since_start(f"uid-{known}") == model.get(f"uid-{known}")
        assert flights.event_count == max(map(len, model.values()), default=0)
