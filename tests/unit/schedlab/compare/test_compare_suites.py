"""What became of a pod is compared without what differs from run to run."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from schedlab.compare.levels import Divergence, Silent
from schedlab.compare.suites import Outcome, by_pod, outcomes
from schedlab.history.entries import Revision
from schedlab.history.history import History

NOW = datetime(2026, 1, 1, tzinfo=UTC)
BOUND = Outcome("n1", "", ("Scheduled",))
PENDING = Outcome("", "0/1 nodes are available: 1 Insufficient cpu.", ("FailedScheduling: no",))


def pod(version, *, name="p", uid="1", node="", message="", **meta):
    found = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "a-test-7",
            "uid": uid,
            "resourceVersion": str(version),
            **meta,
        },
        "spec": {"nodeName": node} if node else {},
        "status": {},
    }
    if message:
        condition = {"type": "PodScheduled", "status": "False", "message": message}
        found["status"]["conditions"] = [condition]
    return Revision(NOW, "MODIFIED", found)


def event(version, reason, note):
    return Revision(
        NOW,
        "ADDED",
        {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"name": f"e{version}", "namespace": "a-test-7", "resourceVersion": str(version)},
            "regarding": {"kind": "Pod", "name": "p", "namespace": "a-test-7", "uid": "1"},
            "reason": reason,
            "note": note,
        },
    )


def history(*entries):
    made = History()
    for entry in entries:
        made.append(entry)
    return made


def test_a_pod_keeps_its_node_and_the_last_reason_why_it_had_none():
    made = history(pod(1), pod(2, message="early"), pod(3, message="late"), pod(4, node="n1"))
    assert by_pod(made) == {"p": [Outcome("n1", "late", ())]}


def test_the_number_of_the_namespace_and_the_node_of_an_assignment_do_not_count():
    made = history(
        pod(1, message="waits for a-test-7/q"),
        event(2, "Scheduled", "Successfully assigned a-test-7/p to n3"),
        event(3, "FailedScheduling", "a-test-7/q"),
        event(4, "FailedScheduling", "skip schedule deleting pod: a-test-7/p"),
    )
    (found,) = by_pod(made)["p"]
    assert found == Outcome("", "waits for NAMESPACE/q", ("FailedScheduling: NAMESPACE/q", "Scheduled"))


def test_pods_that_were_made_on_a_node_are_nobodys_decision():
    assert by_pod(history(pod(1, node="n1"))) == {}


def test_pods_with_made_up_names_are_one_sort():
    made = history(pod(1, name="w-x1", generateName="w-"), pod(2, name="w-x2", uid="2", generateName="w-"))
    assert {name: len(found) for name, found in by_pod(made).items()} == {"w-": 2}


def test_equal_outcomes_are_equal_and_another_node_may_be_a_tie():
    assert set(outcomes(PENDING, PENDING).values()) == {Silent.EQUAL}
    assert set(outcomes(BOUND, Outcome("n2", "", ("Scheduled",))).values()) == {Silent.EQUAL}


def test_that_a_pod_was_never_bound_is_a_placement_and_the_rest_follows():
    verdicts = outcomes(BOUND, PENDING)
    found = verdicts.pop("placement")
    assert isinstance(found, Divergence)
    assert found.cause == "bound by a, never bound by b"
    assert set(verdicts.values()) == {Silent.FOLLOWS}


@pytest.mark.parametrize(
    ("other", "level", "cause"),
    [
        (
            Outcome("", "0/1 nodes are available: 1 Too many pods.", PENDING.events),
            "reasons",
            "only a says: ",
        ),
        (Outcome("", PENDING.message, ("FailedScheduling: never",)), "events", "only a says: no"),
    ],
)
def test_texts_are_compared_by_their_phrases(other, level, cause):
    found = outcomes(PENDING, other)[level]
    assert isinstance(found, Divergence)
    assert found.cause.startswith(cause)
