"""A story is what a history shows: marks by lane, events, decisions, and what was too much to draw."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from report_world import Record, at, disrupted

from schedlab.history.directory import RunDirectory
from schedlab.report import telling
from schedlab.report.story import Mark, Note, Row, Story
from schedlab.report.verdicts import Noted, note
from schedlab.runner.result import OperationRecord, Result

RESULT = Result(test="a/t", path="p", scheduler="mine", verdict="pass")
HEAD = "I1120 23:28:33.269246 1 schedule_one.go:1] "
LINES = (
    '"Attempting to schedule pod" pod="ns/p"',
    '"Plugin scored node for pod" pod="ns/p" plugin="Fit" node="n1" score=5',
    '"Plugin scored node for pod" pod="ns/p" plugin="Fit" node="n2" score=9',
    '"Calculated node\'s final score for pod" pod="ns/p" node="n1" score=5',
    '"Calculated node\'s final score for pod" pod="ns/p" node="n2" score=9',
    '"Successfully bound pod to node" pod="ns/p" node="n2"',
)
LOG = "".join(f"{HEAD}{line}\n" for line in LINES)
ANSWER = {
    "pod": "ns/q",
    "result": "Unschedulable",
    "message": "0/2 nodes are available",
    "nodes": {"n1": {"feasible": False, "plugin": "NodeName", "reasons": ["no"], "unresolvable": True}},
    "selected": [],
    "preemption": None,
}


def told(record: Record, directory: Path, result: Result = RESULT) -> Story:
    return telling.tell(record.history, result, directory)


def lane(story: Story, name: str) -> list[Mark]:
    return [mark for mark in story.marks if mark.lane == name]


def test_what_happened_to_pods_is_marked(tmp_path: Path) -> None:
    """Bindings, preemptions and evictions, each at its moment."""
    record = Record()
    record.pod(0, "a")
    record.pod(1, "a", "n1")
    record.pod(2, "b", "n1")
    record.pod(3, "a", "n1", "DELETED", conditions=disrupted("PreemptionByScheduler"))
    record.pod(4, "b", "n1", phase="Failed", reason="Evicted")
    story = told(record, tmp_path)
    assert lane(story, "bound") == [Mark("bound", 1.0, "a bound to n1"), Mark("bound", 2.0, "b bound to n1")]
    assert lane(story, "preempted") == [Mark("preempted", 3.0, "a preempted from n1")]
    assert lane(story, "evicted") == [Mark("evicted", 4.0, "b evicted from n1")]


def test_events_are_listed_and_refusals_marked(tmp_path: Path) -> None:
    """Each event once, as it was last seen, at the moment it was first seen; those from before are not."""
    record = Record()
    about = {"kind": "Pod", "name": "a"}
    record.put(0, "Event", "old", initial=True, reason="FailedScheduling", regarding=about, note="x")
    record.put(1, "Event", "e", reason="FailedScheduling", type="Warning", regarding=about, note="0/1 nodes")
    record.put(
        2,
        "Event",
        "e",
        reason="FailedScheduling",
        type="Warning",
        regarding=about,
        note="0/1 nodes",
        series={"count": 3},
    )
    record.put(3, "Event", "probe", reason="Scheduled", regarding={**about, "namespace": "schedlab-probe"})
    story = told(record, tmp_path)
    assert story.notes == (Note(1.0, "Warning", "FailedScheduling", "Pod a", "0/1 nodes", 3),)
    assert lane(story, "refused") == [Mark("refused", 1.0, "Pod a: 0/1 nodes")]


def test_leases_show_their_holders(tmp_path: Path) -> None:
    """A lease that never changed hands and that no process of the test held is not the test's business."""
    record = Record()
    for second, name, holder in (
        (0, "api", "x"),
        (0, "kube-scheduler", "a"),
        (4, "kube-scheduler", "b"),
        (6, "kube-scheduler", "b"),
    ):
        record.put(
            second, "Lease", name, metadata={"namespace": "kube-system"}, spec={"holderIdentity": holder}
        )
    story = told(record, tmp_path)
    assert [mark for mark in story.marks if mark.lane.startswith("lease")] == [
        Mark("lease kube-scheduler", 0.0, "a", until=4.0),
        Mark("lease kube-scheduler", 4.0, "b", until=6.0),
    ]


def test_processes_and_gaps_are_marked(tmp_path: Path) -> None:
    """With the signal or the exit code."""
    record = Record()
    record.pod(0, "a")
    record.process(1, "mine-1", "signalled", detail="SIGKILL")
    record.process(2, "mine-1", "exited", code=-9)
    assert [mark.text for mark in lane(told(record, tmp_path), "processes")] == [
        "mine-1 signalled SIGKILL",
        "mine-1 exited code -9",
    ]


def test_steps_are_stretches_and_placements_are_shown_before_the_clean_up(tmp_path: Path) -> None:
    """The end of the last operation that is not part of it."""
    record = Record()
    record.pod(0, "a")
    record.pod(9, "a", "n1")
    one = OperationRecord("place", "try", "pods", "p:1:1", 1.0, "ok", began=at(1))
    operations = (
        one,
        msgspec.structs.replace(one, began=at(3), seconds=0.5, block="finally"),
        msgspec.structs.replace(one, began=at(6), seconds=2.0, block="cleanup"),
    )
    story = told(record, tmp_path, msgspec.structs.replace(RESULT, operations=operations))
    assert lane(story, "steps") == [Mark("steps", 1.0, "place", until=3.5)]
    assert (story.end, story.length) == (3.5, 9.0)


def test_scores_are_read_from_the_schedulers_log(tmp_path: Path) -> None:
    """The best node first, and marked as such."""
    record = Record()
    record.pod(0, "p")
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "kube-scheduler.log").write_text(LOG)
    (verdict,) = told(record, tmp_path).verdicts
    assert (verdict.pod, verdict.source, verdict.result) == ("ns/p", "kube-scheduler, its log", "Scheduled")
    assert verdict.rows == (Row("n2", {"Fit": 9}, 9, chosen=True), Row("n1", {"Fit": 5}, 5))


def test_answers_of_explain_are_shown_with_their_source(tmp_path: Path) -> None:
    """Whoever asks adds to the file; each node says who refused it."""
    record = Record()
    record.pod(0, "q")
    note(tmp_path, Noted("mine, its explain", ANSWER))
    note(tmp_path, Noted("the reference", {**ANSWER, "pod": "ns/r"}))
    first, second = told(record, tmp_path).verdicts
    assert (first.source, first.message) == ("mine, its explain", "0/2 nodes are available")
    assert first.rows == (Row("n1", plugin="NodeName", reasons=("no",), refused=True),)
    assert (second.pod, second.source) == ("ns/r", "the reference")


def test_what_is_too_much_to_draw_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A report stays readable, and does not hide that it leaves things out."""
    monkeypatch.setitem(telling.MOST, "pods", 2)
    record = Record()
    for number in range(5):
        record.pod(number, f"p-{number}")
    story = told(record, tmp_path)
    assert [guest.name for guest in story.guests] == ["p-0", "p-1"]
    assert story.omitted == {"pods": 3}


def test_a_recorded_test_is_told_from_its_directory(tmp_path: Path) -> None:
    """With its claim; a test that never began has an empty story."""
    assert telling.told(RESULT, tmp_path / "nothing") == Story()
    directory = RunDirectory(tmp_path / "t", {"description": "It holds."})
    record = Record()
    record.pod(1, "a", "n1")
    for revision in record.history:
        directory.write(revision)
    directory.close()
    story = telling.told(RESULT, tmp_path / "t")
    assert story.description == "It holds."
    assert [guest.name for guest in story.guests] == ["a"]


def test_a_story_that_takes_long_gives_a_sign_of_life(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every two seconds."""
    moments = iter([0.0, 1.0, 3.0, 3.0, 4.0])
    monkeypatch.setattr(telling.timing, "monotonic", lambda: next(moments))
    said: list[str] = []
    tell = telling.teller(3, said.append)
    for _ in range(3):
        assert tell(RESULT) == Story()
    assert said == ["drawing test 2 of 3"]
