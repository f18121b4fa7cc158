"""The log of a real kube-scheduler folds into attempts, and its informer lines into counts."""

from __future__ import annotations

import pytest

from schedlab.decisions import logbook
from schedlab.decisions.logbook import Logbook, Tail
from schedlab.errors import SchedlabError

LOG = """\
I1120 23:28:33.241082   23982 eventhandlers.go:63] "Add event for node" node="n1"
I1120 23:28:33.258312   23982 eventhandlers.go:374] "Add event for scheduled pod" pod="default/p1"
I1120 23:28:33.268881   23982 schedule_one.go:123] "Attempting to schedule pod" pod="default/p2"
I1120 23:28:33.269246   23982 schedule_one.go:982] "Plugin scored node for pod" pod="default/p2" plugin="TaintToleration" node="n1" score=300
I1120 23:28:33.269274   23982 schedule_one.go:982] "Plugin scored node for pod" pod="default/p2" plugin="NodeResourcesFit" node="n1" score=72
I1120 23:28:33.269313   23982 schedule_one.go:982] "Plugin scored node for pod" pod="default/p2" plugin="NodeResourcesFit" node="n2" score=86
I1120 23:28:33.269358   23982 schedule_one.go:1050] "Calculated node's final score for pod" pod="default/p2" node="n1" score=372
I1120 23:28:33.269366   23982 schedule_one.go:1050] "Calculated node's final score for pod" pod="default/p2" node="n2" score=86
I1120 23:28:33.275914   23982 schedule_one.go:481] "Successfully bound pod to node" pod="default/p2" node="n1" evaluatedNodes=2 feasibleNodes=2
I1120 23:28:33.278737   23982 schedule_one.go:123] "Attempting to schedule pod" pod="default/p3"
I1120 23:28:33.279142   23982 schedule_one.go:1239] "Unable to schedule pod; no fit; waiting" pod="default/p3" err="0/2 nodes are available: 2 Insufficient cpu."
I1120 23:28:33.300784   23982 scheduling_queue.go:694] "Pod moved to an internal scheduling queue, because the pod is gated" pod="default/p4" event="UnschedulablePodAdd" queue="Unschedulable"
I1120 23:28:33.316553   23982 executor.go:303] "Async Preemption finished completely" preemptor="default/p3" node="n1" result="success"
"""  # noqa: E501 - log lines as they are


@pytest.fixture
def book():
    filled = Logbook()
    filled.feed(LOG)
    return filled


def test_scores_and_totals_belong_to_their_attempt(book):
    (attempt,) = book.attempts("default/p2")
    assert attempt.end == "Scheduled"
    assert attempt.scores == {
        "n1": {"TaintToleration": 300, "NodeResourcesFit": 72},
        "n2": {"NodeResourcesFit": 86},
    }
    assert attempt.totals == {"n1": 372, "n2": 86}


def test_a_pod_that_did_not_fit_has_its_message(book):
    (attempt,) = book.attempts("default/p3")
    assert (attempt.end, attempt.message) == (
        "Unschedulable",
        "0/2 nodes are available: 2 Insufficient cpu.",
    )
    assert not attempt.scores


def test_no_nodes_and_errors_end_an_attempt():
    book = Logbook()
    start = 'I1120 23:28:33.2   1 schedule_one.go:123] "Attempting to schedule pod" pod="a/b"\n'
    book.feed(
        start
        + 'I1120 23:28:33.2   1 x.go:1] "Unable to schedule pod; no nodes are registered to the cluster; '
        'waiting" pod="a/b"\n'
    )
    book.feed(start + 'E1120 23:28:33.2   1 x.go:1] "Error scheduling pod; retrying" err="boom" pod="a/b"\n')
    assert [(one.end, one.message) for one in book.attempts("a/b")] == [
        ("Unschedulable", None),
        ("Error", "boom"),
    ]


def test_deliveries_gates_and_preemptions_are_counted(book):
    assert book.deliveries[logbook.NODE_ADDED, "n1"] == 1
    assert book.deliveries[logbook.POD_ADDED, "default/p1"] == 1
    assert book.gated["default/p4"] == 1
    assert book.preempted["default/p3"] == 1


def test_the_log_may_come_in_pieces_of_any_size():
    book = Logbook()
    for character in LOG:
        book.feed(character)
    assert book.attempts("default/p2")[0].totals == {"n1": 372, "n2": 86}


def test_lines_about_an_attempt_that_began_before_are_ignored():
    book = Logbook()
    book.feed(LOG[LOG.index("I1120 23:28:33.269246") :])
    assert book.attempts("default/p2") == []


def test_forgetting_pods_keeps_informer_counts(book):
    book.forget_pods()
    assert book.attempts("default/p2") == []
    assert not book.gated
    assert book.deliveries[logbook.NODE_ADDED, "n1"] == 1


async def test_a_tail_waits_for_what_the_log_will_say(tmp_path):
    path = tmp_path / "log"
    path.write_text("")
    tail = Tail(path, interval=0)
    with path.open("a") as file:

        def met():
            file.write(LOG)
            file.flush()
            return tail.book.preempted["default/p3"] > 0

        await tail.until(met, "the preemption")
    tail.close()


async def test_a_tail_says_what_it_waited_for_in_vain(tmp_path):
    path = tmp_path / "log"
    path.write_text("")
    tail = Tail(path, interval=0)
    with pytest.raises(SchedlabError, match=r"did not show within 0 s: a miracle"):
        await tail.until(lambda: False, "a miracle", within=0)
    tail.close()
