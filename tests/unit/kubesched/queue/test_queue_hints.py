"""Which event wakes which pod, by the hints of the plugins that rejected it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from queue_world import NODE_ADD, NODE_LABEL, POD_UPDATE, a_pod, failing_hint, queue_hint, skip_hint

from kubesched.queue.entry import Entry
from kubesched.queue.hints import HintMap, Strategy
from kubesched.state.events import (
    ASSIGNED_POD_ADD,
    FORCE_ACTIVATE,
    UNSCHEDULABLE_TIMEOUT,
    ActionType,
    ClusterEvent,
    Resource,
)

POD = a_pod("pod")
NODE_UPDATE = ClusterEvent(Resource.Node, ActionType.Update)
ANY_ADD = ClusterEvent(Resource.WildCard, ActionType.Add)
EVERYTHING = ClusterEvent(Resource.WildCard, ActionType.All)


class Counted:
    """A hint function that counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, hint):
        def counting(pod, event):
            self.calls += 1
            return hint(pod, event)

        return counting


def an_entry(*plugins: str, pending: tuple[str, ...] = ()) -> Entry:
    return Entry(
        POD.uid, POD, 0.0, 0, unschedulable_plugins=frozenset(plugins), pending_plugins=frozenset(pending)
    )


@pytest.mark.parametrize(
    ("entry", "event", "registered", "answer", "asked"),
    [
        pytest.param(
            an_entry(), NODE_ADD, {}, Strategy.AFTER_BACKOFF, 0, id="a pod nobody rejected is always worth it"
        ),
        pytest.param(
            an_entry("A"),
            NODE_ADD,
            {ASSIGNED_POD_ADD: [("A", queue_hint)]},
            Strategy.SKIP,
            0,
            id="an event the rejector did not register is skipped",
        ),
        pytest.param(
            an_entry("A"),
            NODE_ADD,
            {NODE_ADD: [("A", failing_hint)]},
            Strategy.AFTER_BACKOFF,
            1,
            id="a hint function that raises counts as a yes",
        ),
        pytest.param(
            an_entry("A"),
            UNSCHEDULABLE_TIMEOUT,
            {},
            Strategy.AFTER_BACKOFF,
            0,
            id="a wildcard wakes everybody",
        ),
        pytest.param(
            an_entry("A"),
            replace(FORCE_ACTIVATE, new=a_pod("pod")),
            {},
            Strategy.AFTER_BACKOFF,
            0,
            id="a wildcard meant for this pod wakes it",
        ),
        pytest.param(
            an_entry("A"),
            replace(FORCE_ACTIVATE, new=a_pod("other")),
            {},
            Strategy.SKIP,
            0,
            id="a wildcard meant for another pod does not",
        ),
        pytest.param(
            an_entry("A", "C", pending=("B",)),
            NODE_ADD,
            {NODE_ADD: [("A", queue_hint), ("B", queue_hint), ("C", queue_hint), ("D", failing_hint)]},
            Strategy.IMMEDIATELY,
            2,
            id="a pending plugin's yes is immediate and ends the asking",
        ),
        pytest.param(
            an_entry("A", pending=("B",)),
            NODE_ADD,
            {NODE_ADD: [("A", queue_hint), ("B", skip_hint)]},
            Strategy.AFTER_BACKOFF,
            2,
            id="a pending plugin's no leaves the other rejector's yes",
        ),
        pytest.param(
            an_entry("A", "B"),
            NODE_ADD,
            {NODE_ADD: [("A", skip_hint), ("B", queue_hint)]},
            Strategy.AFTER_BACKOFF,
            2,
            id="one yes among the rejectors is enough",
        ),
        pytest.param(
            an_entry("A", "B"),
            NODE_ADD,
            {NODE_ADD: [("A", skip_hint), ("B", skip_hint), ("C", queue_hint)]},
            Strategy.SKIP,
            2,
            id="a plugin that did not reject the pod is not asked",
        ),
        pytest.param(
            an_entry("A", "B"),
            NODE_LABEL,
            {NODE_UPDATE: [("A", queue_hint)], NODE_ADD: [("B", failing_hint)]},
            Strategy.AFTER_BACKOFF,
            1,
            id="a general registration covers the specific event",
        ),
        pytest.param(
            an_entry("A"),
            NODE_UPDATE,
            {NODE_LABEL: [("A", queue_hint)]},
            Strategy.SKIP,
            0,
            id="a specific registration does not cover the general event",
        ),
        pytest.param(
            an_entry("A"),
            NODE_ADD,
            {ANY_ADD: [("A", queue_hint)]},
            Strategy.AFTER_BACKOFF,
            1,
            id="a registration for any resource covers a node",
        ),
        pytest.param(
            an_entry("A"),
            ClusterEvent(Resource.Node, ActionType.UpdateNodeLabel | ActionType.UpdateNodeTaint),
            {EVERYTHING: [("A", queue_hint)]},
            Strategy.AFTER_BACKOFF,
            1,
            id="a registered wildcard covers any composition",
        ),
        pytest.param(
            an_entry("A"),
            ClusterEvent(Resource.UnschedulablePod, ActionType.UpdatePodTolerations),
            {POD_UPDATE: [("A", queue_hint)]},
            Strategy.AFTER_BACKOFF,
            1,
            id="a registration for pods covers pods on both sides of binding",
        ),
    ],
)
def test_strategy(entry: Entry, event: ClusterEvent, registered, answer: Strategy, asked: int) -> None:
    """The facts of upstream's isPodWorthRequeuing test, and how many hint functions were called for it."""
    counted = Counted()
    hints = HintMap(
        {key: [(plugin, counted(hint)) for plugin, hint in value] for key, value in registered.items()}
    )
    assert hints.strategy(entry, event) is answer
    assert counted.calls == asked


def test_a_failing_hint_is_logged_with_plugin_and_pod(caplog: pytest.LogCaptureFixture) -> None:
    """Nobody wakes a pod for a broken plugin in silence."""
    HintMap({NODE_ADD: [("A", failing_hint)]}).strategy(an_entry("A"), NODE_ADD)
    (record,) = caplog.records
    values = {"pod": "ns/pod", "plugin": "A", "event": "NodeAdd"}
    assert record.kv == {"err": "the hint function is broken", **values}


def test_interested_names_every_plugin_that_registered_the_kind_of_event() -> None:
    """What the queue reads to visit only pods that an event can concern."""
    hints = HintMap(
        {NODE_ADD: [("A", queue_hint)], NODE_UPDATE: [("B", queue_hint)], ANY_ADD: [("C", queue_hint)]}
    )
    assert hints.interested(NODE_ADD) == {"A", "C"}
    assert hints.interested(NODE_LABEL) == {"B"}
    assert hints.interested(ClusterEvent(Resource.CSINode, ActionType.Delete)) == set()
