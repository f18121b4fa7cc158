"""Backoff: how long a pod waits, in which order pods come out, and when."""

from __future__ import annotations

import math

import pytest
from queue_world import a_pod, by_priority

from kubesched.queue.backoff import BackoffQueue, backoff_duration
from kubesched.queue.entry import Entry


def an_entry(name: str, stamp: float, *, priority: int = 0, rejected: int = 1, errors: int = 0) -> Entry:
    plugins = frozenset() if errors else frozenset({"Fit"})
    return Entry(
        f"uid-{name}",
        a_pod(name, priority),
        timestamp=stamp,
        order=int(name[1:]) if name[1:].isdigit() else 0,
        unschedulable_count=rejected,
        consecutive_errors=errors,
        unschedulable_plugins=plugins,
    )


def a_queue(*, aligned: bool = True, initial: float = 1.0, maximum: float = 10.0) -> BackoffQueue:
    return BackoffQueue(by_priority, initial=initial, maximum=maximum, aligned=aligned)


@pytest.mark.parametrize(
    ("count", "initial", "maximum", "seconds"),
    [
        pytest.param(0, 1, 32, 0, id="a pod that never failed does not wait"),
        pytest.param(1, 1, 10, 1, id="the first failure costs the initial backoff"),
        pytest.param(2, 1, 10, 2, id="the second twice that"),
        pytest.param(3, 1, 10, 4, id="the third four times"),
        pytest.param(4, 1, 10, 8, id="the fourth eight times"),
        pytest.param(5, 1, 10, 10, id="the fifth would be 16 s and is cut at the maximum"),
        pytest.param(5, 3, 1000, 48, id="any initial backoff is doubled"),
        pytest.param(1, 5, 3, 3, id="an initial backoff above the maximum is cut"),
        pytest.param(100_000, 1, 10, 10, id="no number of failures overflows"),
    ],
)
def test_backoff_doubles_up_to_the_maximum(
    count: int, initial: float, maximum: float, seconds: float
) -> None:
    """1, 2, 4, 8, 10, 10 … seconds with the defaults."""
    assert backoff_duration(count, initial, maximum) == seconds


@pytest.mark.parametrize(
    ("entry", "expiration"),
    [
        pytest.param(an_entry("p", 5.9, rejected=0), -math.inf, id="without a failure there is no backoff"),
        pytest.param(an_entry("p", 5.9, rejected=1), 6, id="rejections count, aligned down to the window"),
        pytest.param(an_entry("p", 5.2, rejected=5, errors=2), 7, id="errors in a row go before rejections"),
        pytest.param(an_entry("p", 5.2, rejected=4, errors=0), 13, id="no error in a row: rejections again"),
    ],
)
def test_expiration(entry: Entry, expiration: float) -> None:
    """The backoff starts when the pod was put back, and ends in a whole second."""
    assert a_queue().expiration(entry) == expiration


def test_expiration_is_exact_without_windows() -> None:
    """With pop-from-backoff off nothing is aligned."""
    assert a_queue(aligned=False).expiration(an_entry("p", 5.9)) == pytest.approx(6.9)


def test_expiration_is_remembered_until_it_is_reset() -> None:
    """A heap's order must not move under it."""
    queue, entry = a_queue(), an_entry("p", 5.0)
    assert queue.expiration(entry) == 6
    entry.unschedulable_count = 4
    assert queue.expiration(entry) == 6
    entry.backoff_expiration = None
    assert queue.expiration(entry) == 13


def test_maximum_of_zero_switches_backoff_off() -> None:
    """podMaxBackoffSeconds 0: every pod may be tried at once."""
    queue, entry = a_queue(initial=0, maximum=0), an_entry("p", 5.0, rejected=16)
    assert queue.expiration(entry) == -math.inf
    assert not queue.is_backing_off(entry, 5.0)


@pytest.mark.parametrize(
    ("aligned", "now", "waits"),
    [
        pytest.param(True, 105.99, True, id="before its window"),
        pytest.param(True, 106.0, True, id="in its window a pod still waits"),
        pytest.param(True, 106.99, True, id="to the end of its window"),
        pytest.param(True, 107.0, False, id="not in the next window"),
        pytest.param(False, 106.5, True, id="unaligned: at the very moment it still waits"),
        pytest.param(False, 106.51, False, id="unaligned: not afterwards"),
    ],
)
def test_backing_off_until_the_window_is_over(aligned: bool, now: float, waits: bool) -> None:
    """A window is released as a whole, once the next one has begun."""
    assert a_queue(aligned=aligned).is_backing_off(an_entry("p", 105.5), now) is waits


def test_windows_in_order_and_priorities_within() -> None:
    """Upstream's ordering test: within a second QueueSort decides, else the earlier window goes first."""
    queue, now = a_queue(), 100.0
    for entry in (
        an_entry("p0", now, priority=1),
        an_entry("p1", now - 1, priority=1),
        an_entry("p2", now - 2 + 0.001, priority=2),
        an_entry("p3", now - 2, priority=1),
        an_entry("p4", now - 2, priority=2),
        an_entry("p5", now - 3, priority=1),
    ):
        queue.push(entry)
    assert [entry.pod.name for entry in queue.pop_completed(now)] == ["p5", "p4", "p2", "p3"]
    assert len(queue) == 2


def test_without_windows_only_time_orders() -> None:
    """With pop-from-backoff off a high priority does not overtake an earlier expiration."""
    queue, now = a_queue(aligned=False), 100.0
    for entry in (
        an_entry("p2", now - 2 + 0.001, priority=2),
        an_entry("p3", now - 2, priority=1),
        an_entry("p5", now - 3, priority=1),
    ):
        queue.push(entry)
    assert [entry.pod.name for entry in queue.pop_completed(now)] == ["p5", "p3", "p2"]


@pytest.mark.parametrize("aligned", [True, False], ids=["windows", "no windows"])
@pytest.mark.parametrize(
    ("waiting", "completed"),
    [
        pytest.param([], [], id="nothing waits"),
        pytest.param(["r1", "r2"], ["r1"], id="only rejected pods"),
        pytest.param(["e1", "e2"], ["e1"], id="only failed pods"),
        pytest.param(["r1", "r2", "e1", "e2"], ["r1", "e1"], id="both kinds, one of each is due"),
        pytest.param(["r2", "e2"], [], id="both kinds, none is due"),
    ],
)
def test_both_kinds_are_released(waiting: list[str], completed: list[str], aligned: bool) -> None:
    """Rejected and failed pods wait apart and come out alike."""
    queue, now = a_queue(aligned=aligned), 100.0
    entries = {
        "r1": an_entry("r1", now - 2),
        "r2": an_entry("r2", now + 1),
        "e1": an_entry("e1", now - 2, errors=1),
        "e2": an_entry("e2", now + 1, errors=1),
    }
    for name in waiting:
        queue.push(entries[name])
    assert [entry.pod.name for entry in queue.pop_completed(now)] == completed
    assert len(queue) == len(waiting) - len(completed)


@pytest.mark.parametrize(
    ("aligned", "release"), [(True, 107.0), (False, 107.0)], ids=["windows", "no windows"]
)
def test_next_release_is_exactly_when_pods_come_out(aligned: bool, release: float) -> None:
    """The flush runs in whole seconds: sleeping until `next_release` neither misses nor wastes a wake-up."""
    queue = a_queue(aligned=aligned)
    queue.push(an_entry("p", 105.5))
    queue.push(an_entry("q", 105.9, errors=3))
    assert queue.next_release() == release
    assert queue.pop_completed(release - 0.001) == []
    assert [entry.pod.name for entry in queue.pop_completed(release)] == ["p"]
    assert queue.next_release() == 110.0


def test_failed_pods_are_never_taken_early() -> None:
    """Error backoff protects the API server: only rejected pods may be taken before their time."""
    queue = a_queue()
    queue.push(an_entry("e1", 90.0, errors=1))
    queue.push(an_entry("r1", 95.0, rejected=4))
    assert queue.pop_early().pod.name == "r1"
    assert queue.pop_early() is None
    assert len(queue) == 1
